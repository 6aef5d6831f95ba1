# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a token is given, and that it is seen nowhere."""

from __future__ import annotations

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
    assert members(listing, "environment") == ["environment-1"]
    for case in ways:
        assert members(listing, case) == prefixed(case)
    # Without the password, and with the token of the environment in a file.
    cases.paths = {"environment": cases.paths["environment"], "vault": path}
    (tmp_path / "token").write_text(variables.pop("SERVER_MANAGEMENT_API_TOKEN"))
    variables["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(tmp_path / "token")
    result = cases.run(env=variables)
    assert members(result.json(), "environment") == ["environment-1"]
    check_refused(result, {"vault": "api_token: "})


@pytest.mark.promise("home", "secret")
def test_the_inventory_file_takes_precedence_over_the_environment(
    source: Source, cases: Cases, tmp_path: Path
) -> None:
    variables = {
        "SERVER_MANAGEMENT_API_TOKEN": "of-another-account",
        "SERVER_MANAGEMENT_API_TOKEN_FILE": "/nowhere/token",
    }
    (tmp_path / "token").write_text(f"{source.sandbox.token}\n")
    quote = "Put it in quotes."
    options: dict[str, tuple[dict[str, Any], str]] = {
        "relative": ({"api_token_file": "token"}, ""),
        "empty": ({"api_token": "", "api_token_file": "./token"}, ""),
        "spaces": ({"api_token": f" {source.sandbox.token}\n", "api_token_file": ""}, ""),
        "both": ({"api_token": "x", "api_token_file": "token"}, "api_token_file: both are set."),
        "missing": ({"api_token_file": "none"}, f"{tmp_path}/none: no such file or directory."),
        "number": ({"api_token": 4815162342}, quote),
        "boolean": ({"api_token": True}, quote),
        "list": ({"api_token": ["k33p-this"]}, "must be text, not a list"),
        "mapping": ({"api_token": {"a": "k33p-this"}}, "must be text, not a list"),
        "file_list": ({"api_token_file": ["k33p-this"]}, "must be text, not a list"),
        "bundle": ({"api_token_file": "token", "ca_path": "token"}, f"ca_path: {tmp_path}/token"),
    }
    for case, (chosen, _text) in options.items():
        cases.share(case, source.sandbox, **{"api_token": None, **chosen})
    # Nothing in the file: the environment is used, and its first variable before the second one.
    environment = cases.add("environment", api_token=None)
    result = cases.run(env=variables)
    texts = {case: text for case, (_chosen, text) in options.items() if text}
    check_refused(result, {**texts, "environment": "rejected the token"})
    for case in options.keys() - texts.keys():
        assert members(result.json(), case) == prefixed(case)
    assert "k33p-this" not in result.output
    assert "4815162342" not in result.output
    sent = {request.headers["Authorization"] for request in source.sandbox.requests}
    assert sent == {f"Bearer {source.sandbox.token}"}
    (request,) = environment.requests
    assert request.headers["Authorization"] == "Bearer of-another-account"
    cases.paths = {"environment": cases.paths["environment"]}
    text = "SERVER_MANAGEMENT_API_TOKEN_FILE: /nowhere/token: no such file"
    result = cases.run(env={**variables, "SERVER_MANAGEMENT_API_TOKEN": " "})
    check_refused(result, {"environment": text})


@pytest.mark.promise("home", "secret")
def test_a_task_and_its_defaults_take_precedence_over_the_environment(
    source: Source, tmp_path: Path
) -> None:
    sandbox = source.sandbox
    path = tmp_path / "token"
    path.write_text(f"{sandbox.token}\n")
    defaults = {"base_url": sandbox.url, "retries": 0}
    group = {"group/server_management.cloud.all": {**defaults, "api_token_file": str(path)}}
    module = "server_management.cloud.server_info"
    tasks: list[dict[str, Any]] = [
        {"name": "token", module: {**defaults, "api_token": f" {sandbox.token}\n"}},
        {"name": "neither", module: defaults, "ignore_errors": True},
        {"name": "defaults", module: {}, "module_defaults": group},
    ]
    playbook = tmp_path / "play.yml"
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(yaml.safe_dump([play]))
    environment = {
        "SERVER_MANAGEMENT_API_TOKEN": "of-another-account",
        "ANSIBLE_PIPELINING": "true",
    }
    result = source.runner.playbook(playbook, env=environment).ok()
    assert result.says("rejected the token")
    assert result.says("ok=3")
    assert result.says("ignored=1")
    sent = [request.headers["Authorization"] for request in sandbox.requests]
    ours = f"Bearer {sandbox.token}"
    assert sent == [ours, "Bearer of-another-account", ours]


@pytest.mark.promise("secret")
def test_the_token_is_seen_nowhere(source: Source, tmp_path: Path) -> None:
    log, cache = tmp_path / "ansible.log", tmp_path / "cache"
    loud = {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    path = source.file(**cached(cache))
    outputs = [source.runner.inventory("-i", path, "--list", "-vvvvvv", env=loud).output]
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    outputs.append(source.flush(path, "-vvvvvv", env=loud).output)
    assert "[token]" in outputs[1]
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
    last = cases.serve("last-1", token=token)
    last.servers[0]["id"] = token
    filters = [{"exclude": "server_id.nope and server_id is search('every')"}]
    cases.add("filters", last, filters=filters)
    result = cases.run()
    assert len(members(result.json(), "names")) == 2
    check_refused(result, {"filters": "filters: exclude"})
    assert result.stderr.count("[token]") >= 3
    assert token not in result.stderr


# Without ANSIBLE_DEBUG: Ansible's own debugging shows what every module is given and gives.
@pytest.mark.promise("secret")
def test_a_module_that_fails_shows_it_nowhere(source: Source, tmp_path: Path) -> None:
    log, playbook = tmp_path / "ansible.log", tmp_path / "play.yml"
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
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(yaml.safe_dump([play]))
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    result = source.runner.playbook(playbook, "-vvvvvv", env=environment).ok()
    assert result.says("ignored=2")
    for text in (result.stdout, log.read_text()):
        assert text.count("you sent [token]") >= 2
