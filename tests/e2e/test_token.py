# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a token is given, and that it is seen nowhere."""

from __future__ import annotations

import re
import textwrap
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret

from sandbox import Fault
from support.run import without_white_space
from support.secrets import find_secret

from .conftest import ENDING, Source, Sources, cached


def test_every_way_to_give_a_token(source: Source, sources: Sources, tmp_path: Path) -> None:
    # A token that the search for tokens does not know: Ansible lists every extra variable.
    extra = sources.serve("extra-1", token="shown-as-every-extra-var-is")
    sources.add("extra", extra, hosts=["extra-1"], api_token="{{ token }}", base_url="{{ url }}")
    environment = sources.serve("environment-1", token="t0ken-of-the-environment")
    expected = ["environment-1"]
    sources.add("environment", environment, hosts=expected, api_token=None, base_url=None)
    (tmp_path / "token").write_text(f"\n {source.sandbox.token} \n")
    sources.add_with_prefix(
        "file", source.sandbox, api_token=None, api_token_file=str(tmp_path / "token")
    )
    lookup = "{{ lookup('ansible.builtin.env', 'PROD') }}"
    sources.add_with_prefix("template", source.sandbox, api_token=lookup)
    (tmp_path / "password").write_text("secret")
    encrypted = VaultLib().encrypt(source.sandbox.token, VaultSecret(b"secret")).decode()
    sources.add_with_prefix("vault", source.sandbox, api_token=None)
    with sources.all["vault"].path.open("a") as file:
        file.write(f"\napi_token: !vault |\n{textwrap.indent(encrypted, '  ')}")
    variables = {**environment.environment, "PROD": source.sandbox.token}
    given = ("-e", f"token={extra.token} url={extra.url}")
    vault = ("--vault-password-file", tmp_path / "password")
    result = sources.check(*given, *vault, env=variables)
    assert result.stderr == ""
    # Since 2.22, Ansible masks what the plugin registers.
    assert (extra.token in result.stdout) == (version("ansible-core") < "2.22")


EMPTY_VARIABLES = {
    f"SERVER_MANAGEMENT_{name}": " "
    for name in ("VALIDATE_CERTS", "CA_PATH", "TIMEOUT", "RETRIES", "BASE_URL")
}
UNSET = "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"


@pytest.mark.promise("secret", "silent")
def test_a_token_file_that_ansible_reads_as_a_list_of_hosts_is_reported(
    sources: Sources, tmp_path: Path
) -> None:
    # A token that the search for tokens does not know: Ansible lists it as a host.
    api = sources.serve("web-1", token="shown-as-the-name-of-a-host")
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    for number, file in enumerate(("token", ".token", "group_vars/token", "../token")):
        (folder / file).write_text(api.token)
        name = f"inventory/{number}{ENDING}"
        Source(sources.runner, api, tmp_path).file(name, api_token=None, api_token_file=file)
    result = sources.runner.inventory("-i", folder, "--list").ok()
    label = r"(\d)\.server_management\.yml:api_token_file\((.+?)\):Ansiblereads"
    assert re.findall(label, without_white_space(result.stderr)) == [
        ("0", without_white_space(str(folder / "token")))
    ]


@pytest.mark.promise("home", "secret")
def test_the_inventory_file_takes_precedence_over_the_environment(
    source: Source, sources: Sources, tmp_path: Path
) -> None:
    variables = {
        **EMPTY_VARIABLES,
        "SERVER_MANAGEMENT_API_TOKEN": "of-another-account",
        "SERVER_MANAGEMENT_API_TOKEN_FILE": "/nowhere/token",
    }
    (tmp_path / "token").write_text(f"{source.sandbox.token}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "token").write_text("t0ken-of-the-other-account")
    sources.add_with_prefix("relative", source.sandbox, api_token=None, api_token_file="token")
    rejected = f"Check api_token_file ({tmp_path}/other/token): the token may be"
    empty = "is empty. Check the template that it comes from, or remove the option"
    refused: dict[str, tuple[str, dict[str, Any]]] = {
        "rejected": (rejected, {"api_token_file": "other/token"}),
        "wrong": ("Check api_token: the token may be", {"api_token": "t0ken-of-the-wrong"}),
        "unset": (f"api_token: {empty}", {"api_token": UNSET}),
        "unset_file": (f"api_token_file: {empty}", {"api_token_file": UNSET}),
        # Nothing in the file: the first variable is used before the second one.
        "environment": ("Check SERVER_MANAGEMENT_API_TOKEN: the token may be", {}),
        "null": (f"api_token: {empty}", {}),
    }
    for case, (text, chosen) in refused.items():
        sources.add(case, source.sandbox, fails=text, **{"api_token": None, **chosen})
    with sources.all["null"].path.open("a") as file:
        file.write("api_token:\n")
    sources.check(env=variables)
    sent = {request.headers["Authorization"] for request in source.sandbox.requests}
    others = ("t0ken-of-the-other-account", "t0ken-of-the-wrong", "of-another-account")
    assert sent == {f"Bearer {token}" for token in (source.sandbox.token, *others)}


@pytest.mark.promise("home", "secret")
def test_a_task_and_its_defaults_take_precedence_over_the_environment(
    source: Source, tmp_path: Path
) -> None:
    sandbox, path = source.sandbox, tmp_path / "token"
    path.write_text(f"{sandbox.token}\n")
    connection = {"base_url": sandbox.url, "retries": 0}
    group, module = "group/server_management.cloud.all", "server_management.cloud.server_info"
    with_file = {"module_defaults": {group: {**connection, "api_token_file": str(path)}}}
    with_unset = {"module_defaults": {group: {**connection, "api_token": UNSET}}}
    tasks: list[dict[str, Any]] = [
        {module: {}, **with_file},
        {module: {"api_token_file": "{{ omit }}", "api_token": f" {sandbox.token}\n"}, **with_file},
    ]
    for task, text in (
        ({module: {}, **with_unset}, "api_token: is empty."),
        ({module: connection}, "Check SERVER_MANAGEMENT_API_TOKEN: the token"),
    ):
        check = {"that": f"{text!r} in refused.msg", "fail_msg": "{{ refused.msg }}"}
        tasks.append({**task, "register": "refused", "ignore_errors": True})
        tasks.append({"ansible.builtin.assert": check})
    playbook = tmp_path / "play.yml"
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(yaml.safe_dump([play]))
    environment = {**EMPTY_VARIABLES, "SERVER_MANAGEMENT_API_TOKEN": "of-another-account"}
    source.runner.playbook(playbook, env=environment).ok().shows("ignored=2")
    sent = [request.headers["Authorization"] for request in sandbox.requests]
    assert sent == [f"Bearer {sandbox.token}"] * 2 + ["Bearer of-another-account"]


@pytest.mark.promise("secret")
def test_the_token_is_seen_nowhere(source: Source, tmp_path: Path) -> None:
    log, cache = tmp_path / "ansible.log", tmp_path / "cache"
    loud = {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    path = source.file(**cached(cache))
    # The runner searches each output, and the fixture all files.
    source.runner.inventory("-i", path, "--list", "-vvvvvv", env=loud).ok()
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    source.flush(path, "-vvvvvv", env=loud).shows("********")
    (entry,) = cache.iterdir()
    assert find_secret(entry.name) == ""
    assert log.stat().st_size
