# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a token is given, and that it is seen nowhere."""

import textwrap
from importlib.metadata import version

from ansible.parsing.vault import VaultLib, VaultSecret

from sandbox import Fault
from support.run import find_secret

from .conftest import cached, tokens_sent

# Each is empty, which counts as not set.
EMPTY_VARIABLES = {
    "SERVER_MANAGEMENT_BASE_URL": " ",
    "SERVER_MANAGEMENT_VALIDATE_CERTS": " ",
    "SERVER_MANAGEMENT_CA_PATH": "",
    "SERVER_MANAGEMENT_TIMEOUT": " ",
    "SERVER_MANAGEMENT_RETRIES": " ",
}
OF_ANOTHER_ACCOUNT = {**EMPTY_VARIABLES, "SERVER_MANAGEMENT_API_TOKEN": "of-another-account"}


def encrypt(text, path, option):
    """Add an encrypted option to an inventory file, and return the arguments with the password."""
    encrypted = VaultLib().encrypt(text, VaultSecret(b"secret"))
    value = textwrap.indent(encrypted.decode(), "    ")
    with path.open("a") as file:
        file.write(f"{option}!vault |\n{value}")
    password = path.with_name("password")
    password.write_text("secret")
    return ("--vault-password-file", password)


def test_every_way_to_give_a_token(sandbox, sources, tmp_path):
    token = sandbox.token
    # A token that the search for tokens does not know: Ansible lists every extra variable.
    extra = sources.serve("extra-1", token="shown-as-every-extra-var-is")
    sources.add("extra", extra, api_token="{{ token }}", base_url="{{ url }}")
    environment = sources.serve("environment-1", token="t0ken-of-the-environment")
    sources.add("environment", environment, api_token=None, base_url=None)
    file = tmp_path / "token"
    file.write_text(f"\n {token} \n")
    sources.add("file", sandbox, api_token=None, api_token_file="token")
    sources.add("template", sandbox, api_token="{{ lookup('ansible.builtin.env', 'PROD') }}")
    sources.add("vault", sandbox, api_token=None)
    with_password = encrypt(token, sources.all["vault"].path, "api_token: ")
    values = f"token={extra.token} url={extra.url}"
    variables = {**EMPTY_VARIABLES, **environment.environment, "PROD": token}
    result = sources.check("-e", values, *with_password, env=variables)
    assert result.stderr == ""
    is_masked = version("ansible-core") >= "2.22"  # what the plugin registers
    assert (extra.token not in result.stdout) is is_masked


def test_an_encrypted_value_is_not_shown(sources):
    sources.add("usable")
    sources.add("compose", fails=("compose: password: ", "encrypted value"))
    sources.add("regions", fails=("regions: ", "encrypted value"))
    encrypt("correct horse", sources.all["compose"].path, "compose:\n  password: ")
    with_password = encrypt("correct horse", sources.all["regions"].path, "regions:\n  - ")
    result = sources.check(*with_password)
    assert "correct" not in result.output


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
        not emptied.msg.startswith("api_token: must not be empty.")
    - server_management.cloud.server_info:
        api_token_file: "{{ omit }}"
      register: of_environment
      failed_when: >-
        "Check SERVER_MANAGEMENT_API_TOKEN: the token may be" not in of_environment.msg
    - server_management.cloud.server_info:
        base_url: ""
      register: without_url
      failed_when: >-
        not without_url.msg.startswith("base_url: ")
"""


def test_a_task_and_its_defaults_take_precedence_over_the_environment(sandbox, runner, tmp_path):
    (tmp_path / "token").write_text(f"{sandbox.token}\n")
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAY % (sandbox.url, sandbox.token))
    runner.playbook(playbook, env=OF_ANOTHER_ACCOUNT).ok()
    tokens = [sandbox.token, sandbox.token, "of-another-account"]
    assert tokens_sent(sandbox) == tokens


def test_a_token_file_that_ansible_reads_as_a_list_of_hosts_is_reported(source, runner, sandbox):
    # A token that the search for tokens does not know: Ansible lists it as a host.
    sandbox.token = "shown-as-the-name-of-a-host"
    folder = source.folder = source.folder / "inventory"
    folder.mkdir()
    (folder / "token").write_text(sandbox.token)
    source.file(api_token=None, api_token_file="token")
    result = runner.inventory("-i", folder, "--list").ok()
    result.shows(f"api_token_file ({folder}/token): Ansible reads each")


def test_the_token_is_seen_nowhere(source, sandbox, runner, tmp_path):
    log = tmp_path / "ansible.log"
    runner.environment |= {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    cache = tmp_path / "cache"
    path = source.file(**cached(cache))
    # The runner searches each output, and the fixture all files.
    runner.inventory("-i", path, "--list", "-vvvvvv").ok()
    fault = Fault(status=500, body="you sent {token}")
    sandbox.fail(fault)
    failed = source.flush(path, "-vvvvvv")
    failed.shows("********")
    (entry,) = cache.iterdir()
    assert find_secret(entry.name) == ""
    assert log.stat().st_size > 0
