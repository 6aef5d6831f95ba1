# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a token is given, and that it is seen nowhere."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import Fault
from support.secrets import find_secret

from .conftest import Cases, Source, cached, check_refused, members, prefixed


def test_every_way_to_give_a_token(source: Source, cases: Cases, tmp_path: Path) -> None:
    # A token that the search for tokens does not know: Ansible lists every extra variable.
    extra = cases.serve("extra-1", token="shown-as-every-extra-var-is")
    cases.add("extra", extra, api_token="{{ token }}", base_url="{{ url }}")
    environment = cases.serve("environment-1", token="t0ken-of-the-environment")
    cases.add("environment", environment, api_token=None, base_url=None)
    (tmp_path / "token").write_text(f"\n {source.sandbox.token} \n")
    (tmp_path / "password").write_text("secret")
    vault = ("--vault-password-file", tmp_path / "password")
    encrypt = ("encrypt_string", *vault, "--name", "api_token", "--stdin-name", "api_token")
    encrypted = source.runner.vault(*encrypt, stdin=source.sandbox.token).ok()
    ways: dict[str, dict[str, Any]] = {
        "template": {"api_token": "{{ lookup('ansible.builtin.env', 'PROD') }}"},
        "file": {"api_token": None, "api_token_file": str(tmp_path / "token")},
        "vault": {"api_token": None},
    }
    for case, options in ways.items():
        cases.share(case, source.sandbox, **options)
    path = cases.paths["vault"]
    path.write_text(f"{path.read_text()}\n{encrypted.stdout}")
    variables = {
        "SERVER_MANAGEMENT_API_TOKEN": environment.token,
        "SERVER_MANAGEMENT_BASE_URL": environment.url,
        "PROD": source.sandbox.token,
    }
    given = ("-e", f"token={extra.token} url={extra.url}")
    listing = cases.list(*given, *vault, env=variables)
    assert members(listing, "extra") == ["extra-1"]
    # Since 2.22, Ansible masks what the plugin registers.
    assert (extra.token in json.dumps(listing)) == (version("ansible-core") < "2.22")
    assert members(listing, "environment") == ["environment-1"]
    for case in ways:
        assert members(listing, case) == prefixed(case), case
    # Without the password, and with the token of the environment in a file.
    cases.paths = {"environment": cases.paths["environment"], "vault": path}
    (tmp_path / "token").write_text(variables.pop("SERVER_MANAGEMENT_API_TOKEN"))
    variables["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(tmp_path / "token")
    result = cases.run(env=variables)
    assert members(result.json(), "environment") == ["environment-1"]
    check_refused(result, {"vault": "api_token: "})


def write_playbook(folder: Path, tasks: list[dict[str, Any]]) -> Path:
    playbook = folder / "play.yml"
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(yaml.safe_dump([play]))
    return playbook


EMPTY_VARIABLES = {
    f"SERVER_MANAGEMENT_{name}": " "
    for name in ("VALIDATE_CERTS", "CA_PATH", "TIMEOUT", "RETRIES", "BASE_URL")
}
UNSET = "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"


@pytest.mark.promise("secret", "silent")
def test_a_token_file_that_ansible_reads_as_a_list_of_hosts_is_reported(
    cases: Cases, tmp_path: Path
) -> None:
    # A token that the search for tokens does not know: Ansible lists it as a host.
    api = cases.serve("web-1", token="shown-as-the-name-of-a-host")
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    for number, file in enumerate(("token", ".token", "group_vars/token", "../token")):
        (folder / file).write_text(api.token)
        name = f"inventory/{number}.server_management.yml"
        path = Source(cases.runner, api, tmp_path).file(name, api_token=None, api_token_file=file)
    result = cases.runner.inventory("-i", folder, "--list").ok()
    words = "".join(result.stderr.split())
    label = r"(\d)\.server_management\.yml:api_token_file\((.+?)\):Ansiblereads"
    assert re.findall(label, words) == [("0", str(folder / "token"))]
    assert cases.runner.inventory("-i", path, "--list").ok().stderr == ""


@pytest.mark.promise("home", "secret")
def test_the_inventory_file_takes_precedence_over_the_environment(
    source: Source, cases: Cases, tmp_path: Path
) -> None:
    variables = {
        **EMPTY_VARIABLES,
        "SERVER_MANAGEMENT_API_TOKEN": "of-another-account",
        "SERVER_MANAGEMENT_API_TOKEN_FILE": "/nowhere/token",
    }
    (tmp_path / "token").write_text(f"{source.sandbox.token}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "token").write_text("t0ken-of-the-other-account")
    used = {
        "relative": {"api_token_file": "token"},
        "spaces": {"api_token": f" {source.sandbox.token}\n"},
    }
    empty = "is empty. Check the template that it comes from, or remove the option"
    refused: dict[str, tuple[dict[str, Any], str]] = {
        "mistaken": (
            {"api_token_file": source.sandbox.token},
            "api_token_file: no such file or directory. The value is not shown",
        ),
        "number": ({"api_token": 4815162342}, "Put it in quotes."),
        "rejected": (
            {"api_token_file": "other/token"},
            f"Check api_token_file ({tmp_path}/other/token): the token may be",
        ),
        "wrong": ({"api_token": "t0ken-of-the-wrong"}, "Check api_token: the token may be"),
        "unset": ({"api_token": UNSET}, f"api_token: {empty}"),
        "unset_file": ({"api_token_file": UNSET}, f"api_token_file: {empty}"),
        # Nothing in the file: the first variable is used before the second one.
        "environment": ({}, "Check SERVER_MANAGEMENT_API_TOKEN: the token may be"),
    }
    for case, chosen in {
        **used,
        **{case: chosen for case, (chosen, _text) in refused.items()},
    }.items():
        cases.share(case, source.sandbox, **{"api_token": None, **chosen})
    # An option of None is not written by the function above.
    cases.share("null", source.sandbox, api_token=None)
    cases.paths["null"].write_text(f"{cases.paths['null'].read_text()}api_token:\n")
    result = cases.run(env=variables)
    texts = {case: text for case, (_chosen, text) in refused.items()}
    check_refused(result, {**texts, "null": f"api_token: {empty}"})
    for case in used:
        assert members(result.json(), case) == prefixed(case), case
    assert "4815162342" not in result.output
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
    token = f" {sandbox.token}\n"
    tasks: list[dict[str, Any]] = [
        {module: {**connection, "api_token": token}},
        {module: {}, **with_file},
        {module: {"api_token_file": "{{ omit }}", "api_token": token}, **with_file},
    ]
    failing: list[tuple[dict[str, Any], str]] = [
        ({module: {**connection, "api_token": ""}}, "api_token: is empty."),
        ({module: {**connection, "api_token_file": UNSET}}, "api_token_file: is empty."),
        ({module: {}, **with_unset}, "api_token: is empty."),
        ({module: {"api_token": None}, **with_file}, "api_token: is empty."),
        ({module: connection}, "Check SERVER_MANAGEMENT_API_TOKEN: the token"),
    ]
    for task, text in failing:
        check = {"that": f"{text!r} in refused.msg", "fail_msg": "{{ refused.msg }}"}
        tasks.append({**task, "register": "refused", "ignore_errors": True})
        tasks.append({"ansible.builtin.assert": check})
    environment = {
        **EMPTY_VARIABLES,
        "SERVER_MANAGEMENT_API_TOKEN": "of-another-account",
        "ANSIBLE_PIPELINING": "true",
    }
    result = source.runner.playbook(write_playbook(tmp_path, tasks), env=environment).ok()
    assert result.says(f"ignored={len(failing)}")
    sent = [request.headers["Authorization"] for request in sandbox.requests]
    assert sent == [f"Bearer {sandbox.token}"] * 3 + ["Bearer of-another-account"]


@pytest.mark.promise("secret")
def test_the_token_is_seen_nowhere(source: Source, tmp_path: Path) -> None:
    log, cache = tmp_path / "ansible.log", tmp_path / "cache"
    loud = {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    path = source.file(**cached(cache))
    outputs = [source.runner.inventory("-i", path, "--list", "-vvvvvv", env=loud).output]
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    outputs.append(source.flush(path, "-vvvvvv", env=loud).output)
    assert "********" in outputs[1]
    outputs += [log.read_text(), *(entry.name for entry in cache.iterdir())]
    outputs += [entry.read_text() for entry in cache.iterdir()]
    assert len(outputs) == 5
    for output in outputs:
        assert find_secret(output) == ""


@pytest.mark.promise("secret")
def test_a_server_named_like_the_token_is_not_named_in_messages(cases: Cases) -> None:
    # Not a token of the tests, because its runner refuses those on standard output, too.
    token = "shown-as-every-name-is"
    first = cases.add("names", cases.serve(f"{token} x", f"{token} x", token=token))
    for server in first.servers:
        server[f"{token} y"] = 1
    result = cases.run()
    assert len(members(result.json(), "names")) == 2
    assert result.stderr.count("********") >= 2
    assert token not in result.stderr


# Without ANSIBLE_DEBUG: Ansible's own debugging shows what every module is given and gives.
@pytest.mark.promise("secret")
def test_a_module_that_fails_shows_it_nowhere(source: Source, tmp_path: Path) -> None:
    log = tmp_path / "ansible.log"
    environment = {
        "ANSIBLE_LOG_PATH": str(log),
        "SERVER_MANAGEMENT_BASE_URL": source.sandbox.url,
        "SERVER_MANAGEMENT_RETRIES": "0",
        "SERVER_MANAGEMENT_API_TOKEN": source.sandbox.token,
        "PROD": source.sandbox.token,
    }
    if version("ansible-core") >= "2.19":
        environment["ANSIBLE_DISPLAY_TRACEBACK"] = "always"
    token = "{{ lookup('ansible.builtin.env', 'PROD') }}"
    tasks: list[dict[str, Any]] = [
        {"server_management.cloud.server_info": {"api_token": token}, "ignore_errors": True},
        {"server_management.cloud.wallet_info": {}, "ignore_errors": True},
    ]
    playbook = write_playbook(tmp_path, tasks)
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    result = source.runner.playbook(playbook, "-vvvvvv", env=environment).ok()
    assert result.says("ignored=2")
    for text in (result.stdout, log.read_text()):
        assert text.count("you sent ********") >= 2
