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
from urllib.parse import quote

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
        assert members(listing, case) == prefixed(case)
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


VAULTED = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
EMPTY_VARIABLES = {
    f"SERVER_MANAGEMENT_{name}": text
    for name in ("VALIDATE_CERTS", "CA_PATH", "TIMEOUT", "RETRIES", "BASE_URL")
    for text in ("", " ")
}


@pytest.mark.promise("secret", "silent")
def test_a_token_file_that_ansible_reads_as_a_list_of_hosts_is_reported(
    cases: Cases, tmp_path: Path
) -> None:
    # A token that the search for tokens does not know: Ansible lists it as a host.
    api = cases.serve("web-1", token="shown-as-the-name-of-a-host")
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    files = ("token", ".token", "token.txt", "group_vars/token", "../token")
    for number, file in enumerate(files):
        (folder / file).write_text(api.token)
        name = f"inventory/{number}.server_management.yml"
        source = Source(cases.runner, api, tmp_path)
        path = source.file(name, api_token=None, api_token_file=file)
    result = cases.runner.inventory("-i", folder, "--list").ok()
    words = "".join(result.stderr.split())
    reported = re.findall(
        r"(\d)\.server_management\.yml:api_token_file\((.+?)\):Ansiblereads", words
    )
    assert reported == [("0", str(folder / "token"))]
    (tmp_path / "link").symlink_to(folder)
    (folder / "linked").symlink_to(tmp_path / "token")
    source.file("inventory/0.server_management.yml", api_token=None)
    variables = {"SERVER_MANAGEMENT_API_TOKEN_FILE": str(folder / "linked")}
    result = cases.runner.inventory("-i", tmp_path / "link", "--list", env=variables).ok()
    words = "".join(result.stderr.split())
    assert f"yml:SERVER_MANAGEMENT_API_TOKEN_FILE({folder}/linked):Ansiblereads" in words
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
    (tmp_path / "vaulted").write_text(VAULTED)
    (tmp_path / "other" / "token").write_text("t0ken-of-the-other-account")
    quotes, list_ = "Put it in quotes.", "must be text, not a list"
    encrypted = "encrypted with Ansible Vault: use `api_token: !vault`."
    file = tmp_path / "token"
    rejected = f"Check api_token_file ({tmp_path}/other/token): the token may be"
    hidden = "api_token_file: no such file or directory. The value is not shown"
    empty = "is empty. Check the template that it comes from, or remove the option"
    unset = "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"
    options: dict[str, tuple[dict[str, Any], str]] = {
        "relative": ({"api_token_file": "token"}, ""),
        "spaces": ({"api_token": f" {source.sandbox.token}\n"}, ""),
        "missing": ({"api_token_file": "./none"}, f"{tmp_path}/./none: no such file or directory."),
        "mistaken": ({"api_token_file": source.sandbox.token}, hidden),
        "number": ({"api_token": 4815162342}, quotes),
        "file_list": ({"api_token_file": ["k33p-this"]}, list_),
        "bundle": (
            {"api_token_file": "token", "ca_path": "token"},
            f"ca_path: {file}: the file has no certificate",
        ),
        "rejected": ({"api_token_file": "other/token"}, rejected),
        "wrong": ({"api_token": "t0ken-of-the-wrong"}, "Check api_token: the token may be"),
        "vaulted": (
            {"api_token_file": "vaulted"},
            f"api_token_file: {tmp_path}/vaulted: {encrypted}",
        ),
        "empty": ({"api_token": ""}, f"api_token: {empty}"),
        "unset": ({"api_token": unset}, f"api_token: {empty}"),
        "unset_file": ({"api_token_file": unset}, f"api_token_file: {empty}"),
        "none": ({"api_token": "{{ none }}"}, f"api_token: {empty}"),
    }
    for case, (chosen, _text) in options.items():
        cases.share(case, source.sandbox, **{"api_token": None, **chosen})
    # An option of None is not written by the function above.
    cases.share("null", source.sandbox, api_token=None)
    cases.paths["null"].write_text(f"{cases.paths['null'].read_text()}api_token:\n")
    # Nothing in the file: the environment is used, and its first variable before the second one.
    environment = cases.add("environment", api_token=None)
    result = cases.run(env=variables)
    texts = {case: text for case, (_chosen, text) in options.items() if text}
    named = "Check SERVER_MANAGEMENT_API_TOKEN: the token may be"
    check_refused(result, {**texts, "null": f"api_token: {empty}", "environment": named})
    for case in options.keys() - texts.keys():
        assert members(result.json(), case) == prefixed(case)
    assert "k33p-this" not in result.output
    assert "4815162342" not in result.output
    sent = {request.headers["Authorization"] for request in source.sandbox.requests}
    known = (source.sandbox.token, "t0ken-of-the-other-account", "t0ken-of-the-wrong")
    assert sent == {f"Bearer {token}" for token in known}
    (request,) = environment.requests
    assert request.headers["Authorization"] == "Bearer of-another-account"


@pytest.mark.promise("home", "secret")
def test_a_task_and_its_defaults_take_precedence_over_the_environment(
    source: Source, tmp_path: Path
) -> None:
    sandbox = source.sandbox
    path = tmp_path / "token"
    path.write_text(f"{sandbox.token}\n")
    defaults = {"base_url": sandbox.url, "retries": 0}
    group = "group/server_management.cloud.all"
    with_file = {group: {**defaults, "api_token_file": str(path)}}
    module = "server_management.cloud.server_info"
    token, none = f" {sandbox.token}\n", "{{ none }}"
    unset = "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"
    refused = {"register": "refused", "ignore_errors": True}
    # What each task has beside the defaults, and what its message must contain.
    failing: list[tuple[dict[str, Any], str]] = [
        ({module: {**defaults, option: value}, **refused}, f"{option}: is empty.")
        for option in ("api_token", "api_token_file")
        for value in ("", " ", None, none, unset)
    ]
    empty, without = "api_token: is empty.", {group: {**defaults, "api_token": unset}}
    failing += [
        ({module: {}, **refused, "module_defaults": without}, empty),
        ({module: {"api_token": ""}, **refused, "module_defaults": with_file}, empty),
        ({module: defaults, **refused}, "Check SERVER_MANAGEMENT_API_TOKEN: the token"),
    ]
    tasks: list[dict[str, Any]] = [
        {module: {**defaults, "api_token": token}},
        {module: {}, "module_defaults": with_file},
        {
            module: {"api_token_file": "{{ omit }}", "api_token": token},
            "module_defaults": with_file,
        },
    ]
    for task, text in failing:
        check = {"that": f"{text!r} in refused.msg", "fail_msg": "{{ refused.msg }}"}
        tasks += [task, {"ansible.builtin.assert": check}]
    playbook = write_playbook(tmp_path, tasks)
    environment = {
        **EMPTY_VARIABLES,
        "SERVER_MANAGEMENT_API_TOKEN": "of-another-account",
        "ANSIBLE_PIPELINING": "true",
    }
    result = source.runner.playbook(playbook, env=environment).ok()
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
    last = cases.serve("last-1", token=token)
    last.servers[0]["id"] = token
    filters = [{"exclude": "server_id.nope and server_id is search('every')"}]
    cases.add("filters", last, filters=filters)
    result = cases.run()
    assert len(members(result.json(), "names")) == 2
    check_refused(result, {"filters": "filters: exclude"})
    assert result.stderr.count("********") >= 2
    assert token not in result.stderr


ECHO = 't0ken-of-the-echoing-API/"+%'
ECHOES: dict[str, str] = {
    "plain": ECHO,
    "url": quote(ECHO, safe=""),
    "url-lower": quote(ECHO, safe="").lower().replace("api", "API"),
    "json": json.dumps(ECHO),
    "escaped": "".join(f"\\u{ord(c):04x}" for c in ECHO),
}
HEADERS = {
    "location": Fault(status=302, location=f"/?{ECHO}"),
    "content-type": Fault(content_type=ECHO, body="no"),
    "link": Fault(has_more=True, link=f'<//other.invalid/{ECHO}>; rel="next"'),
    "encoding": Fault(headers={"Content-Encoding": ECHO}),
    "retry-after": Fault(status=429, retry_after=ECHO),
}


@pytest.mark.promise("secret")
def test_an_echoed_token_is_never_shown(source: Source, cases: Cases, tmp_path: Path) -> None:
    faults = {
        **{f"401-{name}": Fault(status=401, body=body) for name, body in ECHOES.items()},
        **HEADERS,
    }
    tasks: list[dict[str, Any]] = []
    module = "server_management.cloud.server_info"
    for case, fault in faults.items():
        api = cases.serve(f"{case}-1", token=ECHO)
        api.fail(fault, times=None)
        cases.add(case, api, pagination="link")
        options = {"base_url": api.url, "retries": 0, "pagination": "link"}
        tasks.append({module: options, "ignore_errors": True})
    playbook = write_playbook(tmp_path, tasks)
    environment = {"SERVER_MANAGEMENT_API_TOKEN": ECHO, "ANSIBLE_PIPELINING": "true"}
    results = [
        cases.run("-vvvvvv", env={"ANSIBLE_VERBOSE_TO_STDERR": "1"}),
        source.runner.playbook(playbook, "-vvv", env=environment).ok(),
    ]
    check_refused(results[0], dict.fromkeys(faults, ""))
    assert results[1].says(f"ignored={len(faults)}")
    for result in results:
        assert not [name for name, text in ECHOES.items() if text in result.output]
        assert (
            result.output.count("********") >= len(faults) - 1
        )  # a wrong Retry-After is not shown


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
