# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a token is given, and that it is seen nowhere."""

import textwrap
from importlib.metadata import version

from ansible.parsing.vault import VaultLib, VaultSecret

from sandbox import Fault
from support.run import without_white_space
from support.secrets import find_secret

from .conftest import ENDING, Source, cached

# Each is empty, which counts as not set.
EMPTY_VARIABLES = {
    "SERVER_MANAGEMENT_BASE_URL": " ",
    "SERVER_MANAGEMENT_VALIDATE_CERTS": " ",
    "SERVER_MANAGEMENT_CA_PATH": "",
    "SERVER_MANAGEMENT_TIMEOUT": " ",
    "SERVER_MANAGEMENT_RETRIES": " ",
}
OF_ANOTHER_ACCOUNT = {**EMPTY_VARIABLES, "SERVER_MANAGEMENT_API_TOKEN": "of-another-account"}


def test_every_way_to_give_a_token(source, sources, tmp_path):
    token = source.sandbox.token
    # A token that the search for tokens does not know: Ansible lists every extra variable.
    extra = sources.serve("extra-1", token="shown-as-every-extra-var-is")
    sources.add("extra", extra, hosts=["extra-1"], api_token="{{ token }}", base_url="{{ url }}")
    environment = sources.serve("environment-1", token="t0ken-of-the-environment")
    sources.add("environment", environment, api_token=None, base_url=None)
    (tmp_path / "token").write_text(f"\n {token} \n")
    sources.add_with_prefix("file", source.sandbox, api_token=None, api_token_file="token")
    lookup = "{{ lookup('ansible.builtin.env', 'PROD') }}"
    sources.add_with_prefix("template", source.sandbox, api_token=lookup)
    (tmp_path / "password").write_text("secret")
    encrypted = VaultLib().encrypt(token, VaultSecret(b"secret")).decode()
    sources.add_with_prefix("vault", source.sandbox, api_token=None)
    with sources.all["vault"].path.open("a") as file:
        file.write(f"\napi_token: !vault |\n{textwrap.indent(encrypted, '  ')}")

    result = sources.check(
        "-e",
        f"token={extra.token} url={extra.url}",
        "--vault-password-file",
        tmp_path / "password",
        env={**environment.environment, "PROD": token},
    )

    assert result.stderr == ""
    is_masked = version("ansible-core") >= "2.22"  # what the plugin registers
    assert (extra.token not in result.stdout) is is_masked


def test_a_token_of_the_file_is_never_replaced_by_that_of_the_environment(
    source, sources, tmp_path
):
    api = source.sandbox
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "token").write_text("t0ken-of-the-other-account")
    file = f"Check api_token_file ({tmp_path}/other/token): the token may be"
    sources.add("file", api, api_token=None, api_token_file="other/token", fails=file)
    text = "Check api_token: the token may be"
    sources.add("text", api, api_token="t0ken-of-the-wrong", fails=text)
    empty = "api_token: the value is empty. Check the template that it comes from"
    unset = "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"
    sources.add("unset", api, api_token=unset, fails=empty)
    sources.add("null", api, api_token=None, fails=empty)
    with sources.all["null"].path.open("a") as inventory_file:
        inventory_file.write("api_token:\n")
    environment = "Check SERVER_MANAGEMENT_API_TOKEN: the token may be"
    sources.add("environment", api, api_token=None, fails=environment)

    sources.check(env=OF_ANOTHER_ACCOUNT)

    assert [request.headers["Authorization"] for request in api.requests] == [
        "Bearer t0ken-of-the-other-account",
        "Bearer t0ken-of-the-wrong",
        "Bearer of-another-account",
    ]


PLAY = """
- hosts: localhost
  gather_facts: false
  module_defaults:
    group/server_management.cloud.all: {base_url: %s, retries: 0, api_token_file: token}
  tasks:
    - server_management.cloud.server_info:
    - server_management.cloud.server_info:
        api_token_file: "{{ omit }}"
        api_token: " %s\n"
    - server_management.cloud.server_info:
        api_token_file: "{{ omit }}"
        api_token:
      register: emptied
      failed_when: >-
        not emptied.msg.startswith("api_token: the value is empty.")
    - server_management.cloud.server_info:
        api_token_file: "{{ omit }}"
      register: of_environment
      failed_when: >-
        "Check SERVER_MANAGEMENT_API_TOKEN: the token may be" not in of_environment.msg
    - server_management.cloud.server_info:
        base_url: ""
      register: without_url
      failed_when: >-
        not without_url.msg.startswith("base_url: an address is required. Set it in the task or")
"""


def test_a_task_and_its_defaults_take_precedence_over_the_environment(source, tmp_path):
    api = source.sandbox
    (tmp_path / "token").write_text(f"{api.token}\n")
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAY % (api.url, api.token))
    source.runner.playbook(playbook, env=OF_ANOTHER_ACCOUNT).ok()
    sent = [request.headers["Authorization"] for request in api.requests]
    assert sent == [f"Bearer {api.token}", f"Bearer {api.token}", "Bearer of-another-account"]


def test_a_token_file_that_ansible_reads_as_a_list_of_hosts_is_reported(sources, tmp_path):
    # A token that the search for tokens does not know: Ansible lists it as a host.
    api = sources.serve("web-1", token="shown-as-the-name-of-a-host")
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    for number, file in enumerate(("token", ".token", "group_vars/token", "../token")):
        (folder / file).write_text(api.token)
        name = f"inventory/{number}{ENDING}"
        Source(sources.runner, api, tmp_path).file(name, api_token=None, api_token_file=file)
    shown = without_white_space(sources.runner.inventory("-i", folder, "--list").ok().stderr)
    warning = f"0{ENDING}: api_token_file ({folder}/token): Ansible reads each file"
    assert without_white_space(warning) in shown
    assert shown.count("Ansiblereads") == 1


def test_the_token_is_seen_nowhere(source, tmp_path):
    log = tmp_path / "ansible.log"
    cache = tmp_path / "cache"
    loud = {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    path = source.file(**cached(cache))
    # The runner searches each output, and the fixture all files.
    source.runner.inventory("-i", path, "--list", "-vvvvvv", env=loud).ok()
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    source.flush(path, "-vvvvvv", env=loud).shows("********")
    (entry,) = cache.iterdir()
    assert find_secret(entry.name) == ""
    assert log.stat().st_size > 0
