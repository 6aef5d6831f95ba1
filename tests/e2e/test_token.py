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

from .conftest import Source, hosts

THREE = ["db-1", "web-1", "web-2"]


def test_from_the_environment(source: Source) -> None:
    source.runner.environment["SERVER_MANAGEMENT_API_TOKEN"] = source.sandbox.token
    source.runner.environment["SERVER_MANAGEMENT_BASE_URL"] = source.sandbox.url
    assert hosts(source.list(api_token=None, base_url=None)) == THREE


def test_from_a_template(source: Source) -> None:
    source.runner.environment["PROD"] = source.sandbox.token
    assert hosts(source.list(api_token="{{ lookup('ansible.builtin.env', 'PROD') }}")) == THREE


def test_from_an_extra_var(source: Source) -> None:
    source.sandbox.token = "shown-as-every-extra-var-is"
    extra = f"token={source.sandbox.token} url={source.sandbox.url}"
    listing = source.list("-e", extra, api_token="{{ token }}", base_url="{{ url }}")
    assert hosts(listing) == THREE


@pytest.mark.parametrize("option", ["api_token_file", "environment"])
def test_from_a_file(source: Source, tmp_path: Path, option: str) -> None:
    path = tmp_path / "token"
    path.write_text(f"\n {source.sandbox.token} \n")
    if option == "environment":
        source.runner.environment["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(path)
        assert hosts(source.list(api_token=None)) == THREE
    else:
        assert hosts(source.list(api_token=None, api_token_file=str(path))) == THREE


def test_from_a_vault(source: Source, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("secret")
    vault = ("--vault-password-file", password)
    encrypted = source.runner.vault(
        "encrypt_string",
        *vault,
        "--name",
        "api_token",
        "--stdin-name",
        "api_token",
        stdin=source.sandbox.token,
    ).ok()
    path = source.file(api_token=None)
    path.write_text(f"{path.read_text()}\n{encrypted.stdout}")
    listing = source.runner.inventory("-i", path, "--list", *vault).ok().json()
    assert hosts(listing) == THREE
    result = source.runner.inventory("-i", path, "--list")
    assert hosts(result.json()) == []
    assert result.says("api_token: ")


@pytest.mark.promise("home", "secret")
def test_the_inventory_file_takes_precedence_over_the_environment(
    source: Source, tmp_path: Path
) -> None:
    environment = source.runner.environment
    environment["SERVER_MANAGEMENT_API_TOKEN"] = "of-another-account"
    environment["SERVER_MANAGEMENT_API_TOKEN_FILE"] = "/nowhere/token"
    (tmp_path / "token").write_text(f"{source.sandbox.token}\n")
    quote = "Put it in quotes."
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "relative": ({"api_token_file": "token"}, ""),
        "empty": ({"api_token": "", "api_token_file": "./token"}, ""),
        "spaces": ({"api_token": f" {source.sandbox.token}\n", "api_token_file": ""}, ""),
        "both": ({"api_token": "x", "api_token_file": "token"}, "api_token_file: both are set."),
        "missing": ({"api_token_file": "none"}, f"{tmp_path}/none: no such file or directory."),
        "number": ({"api_token": 4815162342}, quote),
        "boolean": ({"api_token": True}, quote),
        "list": ({"api_token": ["k33p-this"]}, "must be text, not a list"),
        "mapping": ({"api_token": {"a": "k33p-this"}}, "must be text, not a list"),
        "file-list": ({"api_token_file": ["k33p-this"]}, "must be text, not a list"),
        "bundle": ({"api_token_file": "token", "ca_path": "token"}, f"ca_path: {tmp_path}/token"),
    }
    sources = []
    for name, (options, _said) in cases.items():
        every = {"api_token": None, "group": name, **options}
        sources += ["-i", source.file(f"{name}.server_management.yml", **every)]
    result = source.runner.inventory("--list", *sources).ok()
    listing = result.json()
    for name, (_options, said) in cases.items():
        assert len(listing.get(name, {}).get("hosts", [])) == (0 if said else 3), name
        assert result.says(said)
    assert "k33p-this" not in result.output
    assert "4815162342" not in result.output
    sent = {request.headers["Authorization"] for request in source.sandbox.requests}
    assert sent == {f"Bearer {source.sandbox.token}"}
    # Nothing in the file: the environment is used, and its first variable before the second one.
    assert source.refused("rejected the token", api_token=None)
    environment["SERVER_MANAGEMENT_API_TOKEN"] = " "
    assert source.refused(
        "SERVER_MANAGEMENT_API_TOKEN_FILE: /nowhere/token: no such file", api_token=None
    )


@pytest.mark.promise("home", "secret")
def test_a_task_and_its_defaults_take_precedence_over_the_environment(
    source: Source, tmp_path: Path
) -> None:
    sandbox = source.sandbox
    path = tmp_path / "token"
    path.write_text(f"{sandbox.token}\n")
    defaults = {"base_url": sandbox.url, "retries": 0}
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "file": ({"api_token_file": str(path)}, ""),
        "token": ({"api_token": f" {sandbox.token}\n"}, ""),
        "neither": ({}, "rejected the token"),
        "both": ({"api_token": "x", "api_token_file": str(path)}, "api_token_file: both are set."),
        "no_url": ({"base_url": ""}, "SERVER_MANAGEMENT_BASE_URL"),
    }
    module = "server_management.cloud.server_info"
    tasks: list[dict[str, Any]] = [
        {"name": name, module: {**defaults, **options}, "ignore_errors": True}
        for name, (options, _said) in cases.items()
    ]
    tasks.append({"name": "no_url_at_all", module: {}, "ignore_errors": True})
    tasks.append(
        {
            "name": "defaults",
            module: {},
            "module_defaults": {
                "group/server_management.cloud.all": {**defaults, "api_token_file": str(path)}
            },
        }
    )
    playbook = tmp_path / "play.yml"
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(yaml.safe_dump([play]))
    environment = {"SERVER_MANAGEMENT_API_TOKEN": "of-another-account"}
    result = source.runner.playbook(playbook, env=environment).ok()
    for _options, said in cases.values():
        assert result.says(said)
    assert result.says("ok=7")
    assert result.says("ignored=4")
    sent = [request.headers["Authorization"] for request in sandbox.requests]
    ours = f"Bearer {sandbox.token}"
    assert sent == [ours, ours, "Bearer of-another-account", ours]


@pytest.mark.promise("secret")
def test_the_token_is_seen_nowhere(source: Source, tmp_path: Path) -> None:
    log, cache = tmp_path / "ansible.log", tmp_path / "cache"
    loud = {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    options: dict[str, Any] = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(cache),
    }
    path = source.file(**options)
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
def test_a_server_named_like_the_token_is_not_named_in_messages(source: Source) -> None:
    # Not a token of the tests, because its runner refuses those on standard output, too.
    token = source.sandbox.token = "shown-as-every-name-is"
    for server in source.sandbox.servers[:2]:
        server.update({"name": f"{token} x", f"{token} y": 1})
    result = source.run().ok()
    assert result.stderr.count("[token]") == 3
    assert token not in result.stderr
    source.sandbox.servers[2]["id"] = token
    result = source.run(filters=[{"exclude": "server_id.nope and server_id is search('every')"}])
    assert result.says("filters: exclude")
    assert token not in result.output


# Without ANSIBLE_DEBUG: Ansible's own debugging shows what every module is given and gives.
@pytest.mark.promise("secret")
@pytest.mark.parametrize(
    "options",
    [{}, {"api_token": "{{ lookup('ansible.builtin.env', 'PROD') }}"}],
    ids=["environment", "option"],
)
def test_a_module_that_fails_shows_it_nowhere(
    source: Source, tmp_path: Path, options: dict[str, str]
) -> None:
    log, playbook = tmp_path / "ansible.log", tmp_path / "play.yml"
    variable = "PROD" if options else "SERVER_MANAGEMENT_API_TOKEN"
    environment = {
        "ANSIBLE_LOG_PATH": str(log),
        "SERVER_MANAGEMENT_BASE_URL": source.sandbox.url,
        "SERVER_MANAGEMENT_RETRIES": "0",
        variable: source.sandbox.token,
    }
    if version("ansible-core") >= "2.19":
        environment["ANSIBLE_DISPLAY_TRACEBACK"] = "always"
    tasks = [
        {f"server_management.cloud.{module}": options, "ignore_errors": True}
        for module in ("server_info", "wallet_info")
    ]
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(yaml.safe_dump([play]))
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    result = source.runner.playbook(playbook, "-vvvvvv", env=environment).ok()
    assert result.says("you sent [token]")
    assert result.says("ignored=2")
    assert "you sent [token]" in log.read_text()
