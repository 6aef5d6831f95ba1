# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile accounts: each server is a host, every text is data, and nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from sandbox import Sandbox
from support.run import Result, Runner

from .conftest import Source, as_arguments, cached, hosts, rewrite
from .hostile import CANARY, CASES, CONTROL, EXECUTE, STATIC, Case

# A task takes a process per host, which a condition and a template over many hosts do not: only
# for the targets are there tasks.
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
# One host for each way to write text that Ansible could render, and each place that it is in.
BY_TITLE = {case.title: case for case in CASES}
TARGETS = [
    BY_TITLE[title]
    for title in (
        *("field-template", "field-list", "field-key", "name-expression", "region-template"),
        *("id-template-alone", "created-template", "plan-header", "plan-comment"),
        *("field-statement", "field-header", "field-line-statement", "field-read", "field-half"),
        *("field-raw", "field-unsafe", "field-vault", "field-type"),
    )
]
CONSTRUCTED: dict[str, Any] = {
    "compose": {
        "copied": "server_note | default(server_tags | default(server_region | default('')))",
        "joined": "server_region | default('') ~ server_name | default('')",
    },
    "keyed_groups": [
        {"key": "server_region | default([])", "prefix": "key", "parent_group": "keys"}
    ],
}


def constructed(case: Case) -> dict[str, Any]:
    """Return the variables that the host must get from ``compose``."""
    known = case.host_vars
    region = known.get("server_region", "")
    return {
        "copied": known.get("server_note", known.get("server_tags", region)),
        "joined": region + known.get("server_name", ""),
    }


def plain(value: Any) -> Any:
    """Take off what ansible-inventory puts around a text that is never rendered."""
    if isinstance(value, dict):
        if list(value) == ["__ansible_unsafe"]:
            return value["__ansible_unsafe"]
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@dataclass
class Hostile:
    """A folder with a source over hostile servers, and a runner for it."""

    source: Source
    path: Path
    folder: Path

    def play(self, shown: Collection[str], targets: Collection[str], *sources: Path) -> Result:
        """Run the playbook over these sources, and check that nothing was executed.

        It writes the variables of ``shown``, and uses those of ``targets`` in tasks.
        """
        (self.folder / "play.yml").write_text(PLAYBOOK)
        (self.folder / "dump.j2").write_text(DUMP)
        values = {
            "dump": str(self.dump),
            "wanted": WANTED,
            "shown": [*shown],
            "targets": [*targets],
        }
        play = self.folder / "play.yml"
        played = self.source.runner.playbook(
            *as_arguments(sources), "-e", json.dumps(values), play
        ).ok()
        assert played.stdout.count("failed=0") == len({*targets, "control"})
        assert self.canaries == []
        assert "root:x:0" not in played.output
        return played

    @property
    def dump(self) -> Path:
        """Return where the playbook writes the variables that it saw."""
        return self.folder / "dump.json"

    @property
    def canaries(self) -> list[Path]:
        """Return what was made by text that was executed."""
        return [*self.folder.rglob(CANARY), *self.source.runner.home.glob(CANARY)]


@pytest.fixture(scope="module")
def quiet_runner(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Runner, None, None]:
    runner = Runner(tmp_path_factory.mktemp("hostile") / "home", installed)
    with TemporaryDirectory(prefix="sm") as folder:
        runner.environment["TMPDIR"] = folder
        yield runner


@pytest.fixture(scope="module")
def account(quiet_runner: Runner) -> Generator[Hostile, None, None]:
    folder = quiet_runner.home.parent
    with Sandbox(servers=[case.server for case in CASES]) as api:
        source = Source(quiet_runner, api, folder)
        (folder / "static.ini").write_text(STATIC)
        yield Hostile(source, source.file(**cached(folder / "cache"), **CONSTRUCTED), folder)


@pytest.fixture(scope="module")
def listed(account: Hostile) -> Result:
    """List the account, and another source with it."""
    paths = ("-i", account.folder / "static.ini", "-i", account.path)
    return account.source.runner.inventory(*paths, "--list").ok()


@pytest.fixture(scope="module")
def listing(listed: Result) -> dict[str, Any]:
    found: dict[str, Any] = listed.json()
    return found


@pytest.mark.promise("misdirected", "secret")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_hostile_server_is_a_host_with_its_data(listing: dict[str, Any], case: Case) -> None:
    found = listing["_meta"]["hostvars"][case.host_name]
    assert plain(found) == plain({**case.host_vars, **constructed(case)})
    groups = {
        name
        for name, group in listing.items()
        if name != "_meta" and case.host_name in group.get("hosts", [])
    }
    keyed = {group.replace("region", "key", 1) for group in groups if group.startswith("region_")}
    assert {group for group in groups if group.startswith("key_")} == keyed
    assert groups - keyed == case.host_groups


@pytest.mark.promise("lost")
def test_no_host_is_lost_and_no_other_is_made(listing: dict[str, Any]) -> None:
    names = [case.host_name for case in CASES]
    assert len(set(names)) == len(names)
    assert hosts(listing) == sorted([*names, "static-1"])
    assert listing["_meta"]["hostvars"]["static-1"] == {"ansible_host": "198.51.100.1"}
    marked = listing["_meta"]["hostvars"][BY_TITLE["name-expression"].host_name]["server_name"]
    assert marked == {"__ansible_unsafe": EXECUTE}
    assert listing["static_group"] == {"hosts": ["static-1"]}
    assert listing["_meta"]["hostvars"]["control"] == {**CONTROL.host_vars, **constructed(CONTROL)}
    assert not [name for name, group in listing.items() if "vars" in group]


@pytest.mark.promise("silent")
def test_each_kind_of_change_causes_one_warning(listed: Result) -> None:
    for text in (
        "4 servers are not named as preferred, because other servers have the same name: ",
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
    account: Hostile, listed: Result, tmp_path: Path
) -> None:
    with Sandbox(servers=account.source.sandbox.servers[::-1]) as api:
        path = Source(account.source.runner, api, tmp_path).file(**CONSTRUCTED)
        paths = ("-i", account.folder / "static.ini", "-i", path)
        assert account.source.runner.inventory(*paths, "--list").ok().stdout == listed.stdout


@pytest.mark.promise("data")
def test_a_playbook_executes_nothing(account: Hostile, listed: Result) -> None:
    assert account.canaries == []
    name = BY_TITLE["name-expression"]
    # One source is read from the cache, and one from the network.
    fresh = [
        Case("network-name", {"name": f"network {EXECUTE}"}, f"network{name.host}"),
        *(replace(case, title=f"network-{case.title}") for case in TARGETS[:3]),
    ]
    targets = [*TARGETS, *fresh]
    expected = {case.host_name: {**case.host_vars, **constructed(case)} for case in CASES + fresh}
    shown = [*expected]
    for case in targets:
        kept = {"kept": expected[case.host_name]["copied"]}
        expected[case.host_name].update(kept)
        expected[f"added-{case.host_name}"] = kept
    asked = len(account.source.sandbox.requests)
    with Sandbox(servers=[case.server for case in fresh]) as api:
        network = Source(account.source.runner, api, account.folder)
        paths = (account.path, network.file("network.server_management.yml", **CONSTRUCTED))
        used = [case.host_name for case in targets]
        account.play(shown, used, account.folder / "static.ini", *paths)
        assert (len(account.source.sandbox.requests), len(api.requests)) == (asked, 1)
    assert json.loads(account.dump.read_text()) == expected


@pytest.mark.promise("misdirected")
def test_without_a_prefix_no_field_is_a_variable_of_ansibles(source: Source) -> None:
    own = {"ansible_connection": "ssh", "ansible_host": "198.51.100.9", "bad-key": 1}
    taken = ("inventory_dir", "inventory_file", "role_path", "lookup", "omit", "environment")
    own.update(dict.fromkeys(taken, "/attacker"))
    source.sandbox.servers = [{**CONTROL.server, **own, "note": "x"}]
    result = source.run(hostvars_prefix="").ok()
    expected = {**CONTROL.server, "note": "x", "ansible_host": CONTROL.server["ipv4"]}
    del expected["name"]
    assert result.json()["_meta"]["hostvars"]["control"] == expected
    assert result.says(
        "Fields that can't become variables: ansible_connection, ansible_host, bad-key"
    )
    assert result.says(" more; of 1 server: control (srv_control).")


def _tagged(text: str, tag: str) -> dict[str, Any]:
    return {"__ansible_type": "_AnsibleTaggedStr", "value": text, "tags": [{"__ansible_type": tag}]}


# What an attacker makes of a cache entry: a change of the entry, or the whole file.
FORGERIES: dict[str, Callable[[dict[str, Any]], Any] | str] = {
    "listing": lambda entry: entry,
    "extra-keys": lambda entry: {**entry, "plugin": EXECUTE, EXECUTE: EXECUTE},
    "unsafe-marker": lambda entry: {**entry, "servers": {"__ansible_unsafe": entry["servers"]}},
    "trust-marker": lambda entry: {
        **entry,
        "servers": _tagged(entry["servers"], "TrustedAsTemplate"),
    },
    "unknown-marker": lambda entry: {**entry, "servers": _tagged("x", "NoSuchTag")},
    "marker-as-entry": lambda entry: {"__ansible_type": "TrustedAsTemplate"},
    "vault-marker": lambda entry: {**entry, "servers": {"__ansible_vault": EXECUTE}},
    "vault-text": lambda entry: {**entry, "servers": "$ANSIBLE_VAULT;1.1;AES256\n61"},
    "yaml-vault": "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  61\n",
    "template": lambda entry: {**entry, "servers": EXECUTE},
    "template-as-entry": lambda entry: EXECUTE,
    "template-as-file": EXECUTE,
    "pickle": "cos\nsystem\n(S'touch $HOME/" + CANARY + "'\ntR.",
    "deep-file": "[" * 100_000,
}
READABLE = {"listing", "extra-keys"}
# Ansible's own decoding may take the marker off before the plugin sees it.
MAY_BE_READ = {*READABLE, "unsafe-marker", "trust-marker"}


def forge(path: Path, forgery: Callable[[dict[str, Any]], Any] | str) -> None:
    """Rewrite an entry so that it lists a server whose every field is a template."""
    if isinstance(forgery, str):
        path.write_text(forgery)
        return

    def attack(entry: dict[str, Any]) -> Any:
        listing = json.loads(entry["servers"])
        (server,) = listing["data"]
        server.update(region=EXECUTE, note=[EXECUTE, {EXECUTE: EXECUTE}])
        return forgery({**entry, "servers": json.dumps(listing)})

    rewrite(path, attack)


@pytest.mark.promise("cache")
def test_a_forged_cache_entry_is_a_miss_or_data(quiet_runner: Runner, tmp_path: Path) -> None:
    account = Hostile(Source(quiet_runner, Sandbox(servers=0), tmp_path), tmp_path, tmp_path)
    control = tmp_path / "control.ini"
    control.write_text("control\n")
    with ExitStack() as stack:
        apis, paths = {}, [control]
        for title in FORGERIES:
            server = {**CONTROL.server, "id": f"srv_{title}", "name": title}
            apis[title] = stack.enter_context(Sandbox(servers=[server]))
            options = {**cached(tmp_path / title), **CONSTRUCTED}
            source = Source(quiet_runner, apis[title], tmp_path)
            paths.append(source.file(f"{title}.server_management.yml", **options))
        quiet_runner.inventory(*as_arguments(paths), "--list").ok()
        for title, forgery in FORGERIES.items():
            (entry,) = (tmp_path / title).iterdir()
            forge(entry, forgery)
        played = account.play(FORGERIES, MAY_BE_READ, *paths)
        words = "".join(played.output.split())
        seen = json.loads(account.dump.read_text())
        assert sorted(seen) == sorted([*FORGERIES, *(f"added-{title}" for title in MAY_BE_READ)])
        for title, api in apis.items():
            is_miss = len(api.requests) == 2
            assert not (is_miss and title in READABLE), title
            assert is_miss or title in MAY_BE_READ, title
            assert seen[title]["server_region"] == ("eu-1" if is_miss else EXECUTE), title
            assert ("server_note" in seen[title]) != is_miss, title
            told = f"{title}.server_management.yml:Thecacheentryisdamaged" in words
            assert told == is_miss, title
