# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile accounts: each server is a host, every text is data, and nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from sandbox import Sandbox
from support.run import Result, Runner

from .conftest import Cases, Source, as_arguments, cached, hosts, rewrite
from .hostile import CANARY, CASES, CONTROL, EXECUTE, STATIC, Case

# A task takes a process for each host, so there are tasks only for the targets.
PLAYBOOK = """
- hosts: "{{ shown }}"
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.meta: end_host
      when:
        - copied is defined
        - inventory_hostname not in targets
    - ansible.builtin.set_fact:
        kept: "{{ copied }}"
- hosts: control
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.add_host:
        name: "added-{{ item }}"
        groups: added
        kept: "{{ hostvars[item].kept }}"
      loop: "{{ targets }}"
    - ansible.builtin.debug:
        var: hostvars[item]
      delegate_to: "{{ item }}"
      loop: "{{ targets }}"
    - ansible.builtin.debug:
        msg: "{{ text }}"
      vars:
        text: "{{ item }}"
      loop: "{{ groups.added | map('extract', hostvars, 'kept') }}"
    - ansible.builtin.template:
        src: dump.j2
        dest: "{{ dump }}"
        mode: "0600"
"""
DUMP = """{
{% for host in shown + groups.added %}
{{ host | to_json }}: {{ hostvars[host] | dict2items | selectattr('key', 'match', wanted)
  | items2dict | to_json }}{{ '' if loop.last else ',' }}
{% endfor %}
}
"""
WANTED = "^(server_(?!management)|(ansible_host|copied|joined|kept)$)"
BY_TITLE = {case.title: case for case in CASES}
# One host for each way to write text that Ansible could render, and each place that it is in.
TARGETS = [
    case
    for case in CASES
    if case.title in ("id-template-alone", "created-template", "plan-header", "plan-comment")
    or case.title in ("name-expression", "region-template", "field-half")
    or any(text in str(case.change.get("x_undocumented")) for text in ("{%", "{{", "#", "!unsafe"))
]
CONSTRUCTED: dict[str, Any] = {
    "compose": {
        "copied": "server_x_undocumented | default(server_region | default(''))",
        "joined": "server_region | default('') ~ server_name | default('')",
    },
    "keyed_groups": [
        {"key": "server_region | default([])", "prefix": "key", "parent_group": "keys"}
    ],
}


def expected_vars(case: Case) -> dict[str, Any]:
    """Return the variables of a host, with those that ``compose`` adds."""
    region = case.fields.get("region", "")
    return {
        **case.host_vars,
        "copied": case.fields.get("x_undocumented", region),
        "joined": region + case.fields.get("name", ""),
    }


def plain(value: Any) -> Any:
    """Remove what ansible-inventory puts around text that is never rendered."""
    if isinstance(value, dict):
        if list(value) == ["__ansible_unsafe"]:
            return value["__ansible_unsafe"]
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def canaries(runner: Runner) -> list[Path]:
    """Return what was made by text that was executed."""
    return [*runner.home.parent.rglob(CANARY)]


def play(
    runner: Runner, sources: Collection[Path], shown: Collection[str], targets: Collection[str]
) -> tuple[Result, dict[str, Any]]:
    """Use the variables of ``targets`` in tasks, and check that nothing was executed.

    Return the result, and the variables of the hosts ``shown`` as the playbook saw them.
    """
    playbook, dump = runner.home / "play.yml", runner.home / "dump.json"
    playbook.write_text(PLAYBOOK)
    playbook.with_name("dump.j2").write_text(DUMP)
    values = {"dump": str(dump), "wanted": WANTED, "shown": [*shown], "targets": [*targets]}
    arguments = (*as_arguments(sources), "-e", json.dumps(values), playbook)
    played = runner.playbook(*arguments).ok()
    assert played.stdout.count("failed=0") == len({*targets, "control"})
    assert canaries(runner) == []
    assert "root:x:0" not in played.output
    return played, json.loads(dump.read_text())


@pytest.fixture(scope="module")
def account(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Source, None, None]:
    """Serve all cases; their source has a cache, and another source is beside it."""
    folder = tmp_path_factory.mktemp("hostile")
    runner = Runner(folder / "home", installed)
    (folder / "static.ini").write_text(STATIC)
    servers = [case.server for case in CASES]
    with TemporaryDirectory(prefix="sm") as temporary, Sandbox(servers=servers) as api:
        runner.environment["TMPDIR"] = temporary
        yield Source(runner, api, folder)


def read(source: Source, folder: Path, **options: Any) -> Result:
    """List a source with the static one of a folder."""
    paths = [folder / "static.ini", source.file(**CONSTRUCTED, **options)]
    return source.runner.inventory(*as_arguments(paths), "--list").ok()


@pytest.fixture(scope="module")
def listed(account: Source) -> Result:
    return read(account, account.folder, **cached(account.folder / "cache"))


@pytest.fixture(scope="module")
def listing(listed: Result) -> dict[str, Any]:
    found: dict[str, Any] = listed.json()
    return found


@pytest.mark.promise("misdirected", "secret")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_hostile_server_is_a_host_with_its_data(listing: dict[str, Any], case: Case) -> None:
    found = listing["_meta"]["hostvars"][case.host_name]
    assert plain(found) == plain(expected_vars(case))
    groups = {
        name
        for name, group in listing.items()
        if name != "_meta" and case.host_name in group.get("hosts", [])
    }
    keyed = {name.replace("region", "key", 1) for name in groups if name.startswith("region_")}
    assert groups == case.host_groups | keyed


@pytest.mark.promise("lost")
def test_no_host_is_lost_and_no_other_is_made(listing: dict[str, Any]) -> None:
    names = [case.host_name for case in CASES]
    assert len(set(names)) == len(names)
    assert hosts(listing) == sorted([*names, "static-1"])
    hostvars = listing["_meta"]["hostvars"]
    assert hostvars["static-1"] == {"ansible_host": "198.51.100.1"}
    marked = hostvars[BY_TITLE["name-expression"].host_name]["server_name"]
    assert marked == {"__ansible_unsafe": EXECUTE}
    assert hostvars["control"] == expected_vars(CONTROL)
    assert listing["static_group"] == {"hosts": ["static-1"]}
    assert not [name for name, group in listing.items() if "vars" in group]


@pytest.mark.promise("silent")
def test_each_kind_of_change_causes_one_warning(listed: Result) -> None:
    for text in (
        " servers are not named as preferred, because other servers have the same name: ",
        "because a host can't have such a name: ",
        "so ansible_host is no-usable-ipv4.invalid.",
        "Fields that are missing or not text",
        "Fields that can't become variables",
    ):
        assert listed.says(text), text
    assert "\x1b" not in listed.output
    assert "Traceback" not in listed.output


@pytest.mark.promise("stable")
def test_the_order_of_the_response_changes_nothing(
    account: Source, listed: Result, tmp_path: Path
) -> None:
    with Sandbox(servers=account.sandbox.servers[::-1]) as api:
        reversed_source = Source(account.runner, api, tmp_path)
        assert read(reversed_source, account.folder).stdout == listed.stdout


@pytest.mark.promise("data")
@pytest.mark.usefixtures("listed")  # so that the listing is in the cache
def test_a_playbook_executes_nothing(account: Source) -> None:
    assert canaries(account.runner) == []
    fresh = [
        Case("network-name", {"name": f"network {EXECUTE}"}, f"network{TARGETS[0].host}"),
        *(Case(f"network-{case.title}", case.change) for case in TARGETS[-3:]),
    ]
    targets = [case.host_name for case in [*TARGETS, *fresh]]
    expected = {case.host_name: expected_vars(case) for case in [*CASES, *fresh]}
    shown = [*expected]
    for name in targets:
        kept = {"kept": expected[name]["copied"]}
        expected[name].update(kept)
        expected[f"added-{name}"] = kept
    requests = len(account.sandbox.requests)
    with Sandbox(servers=[case.server for case in fresh]) as api:
        network = Source(account.runner, api, account.folder)
        paths = [
            account.folder / "static.ini",
            account.file(**CONSTRUCTED, **cached(account.folder / "cache")),
            network.file("network.server_management.yml", **CONSTRUCTED),
        ]
        _played, seen = play(account.runner, paths, shown, targets)
        assert (len(account.sandbox.requests), len(api.requests)) == (requests, 1)
    assert seen == expected


@pytest.mark.promise("misdirected")
def test_without_a_prefix_no_field_is_a_variable_of_ansibles(source: Source) -> None:
    taken = ("inventory_dir", "role_path", "lookup", "omit", "environment")
    own = {"ansible_host": "198.51.100.9", "bad-key": 1, **dict.fromkeys(taken, "/attacker")}
    source.sandbox.servers = [{**CONTROL.server, **own, "note": "x"}]
    result = source.run(hostvars_prefix="").ok()
    expected = {**CONTROL.server, "note": "x", "ansible_host": CONTROL.server["ipv4"]}
    del expected["name"]
    assert result.json()["_meta"]["hostvars"]["control"] == expected
    assert result.says("Fields that can't become variables: ansible_host, bad-key, environment")
    assert result.says(" more; of 1 server: control (srv_control).")


def _trusted(text: str) -> dict[str, Any]:
    tags = [{"__ansible_type": "TrustedAsTemplate"}]
    return {"__ansible_type": "_AnsibleTaggedStr", "value": text, "tags": tags}


# What an attacker makes of a cache entry: other servers in it, or the whole file.
ENTRIES: dict[str, Callable[[str], Any]] = {
    "listing": lambda servers: servers,
    "unsafe": lambda servers: {"__ansible_unsafe": servers},
    "trusted": _trusted,
    "vault": lambda servers: {"__ansible_vault": EXECUTE},
    "vault-text": lambda servers: "$ANSIBLE_VAULT;1.1;AES256\n61",
    "template": lambda servers: EXECUTE,
}
FILES = {
    "template-as-file": EXECUTE,
    "pickle": f"cos\nsystem\n(S'touch $HOME/{CANARY}'\ntR.",
    "deep-file": "[" * 100_000,
}
# Ansible's own decoding may remove the marks before the plugin sees them.
MAY_BE_READ = {"listing", "unsafe", "trusted"}


def forge(change: Callable[[str], Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry that lists a server with templates, changed once more."""
    listing = json.loads(entry["servers"])
    listing["data"][0].update(region=EXECUTE, x_undocumented=[EXECUTE, {EXECUTE: EXECUTE}])
    return {**entry, "servers": change(json.dumps(listing))}


@pytest.mark.promise("cache")
def test_a_forged_cache_entry_is_a_miss_or_data(cases: Cases, tmp_path: Path) -> None:
    for title in (*ENTRIES, *FILES):
        options = {"group": None, **cached(tmp_path / title), **CONSTRUCTED}
        cases.add(title, cases.serve(title), **options)
    cases.run()
    for title in cases.paths:
        (entry,) = (tmp_path / title).iterdir()
        if title in FILES:
            entry.write_text(FILES[title])
        else:
            rewrite(entry, partial(forge, ENTRIES[title]))
    control = tmp_path / "control.ini"
    control.write_text("control\n")
    sources = [control, *cases.paths.values()]
    played, seen = play(cases.runner, sources, [*cases.paths], MAY_BE_READ)
    assert seen["listing"]["server_region"] == EXECUTE
    for title in cases.paths:
        is_read = seen[title]["server_region"] == EXECUTE
        assert not is_read or title in MAY_BE_READ, title
        assert ("server_x_undocumented" in seen[title]) == is_read, title
        text = f"{title}.server_management.yml: The cache entry is damaged"
        assert played.says(text) != is_read, title
