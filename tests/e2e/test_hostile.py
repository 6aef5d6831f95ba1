# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hostile account: each server is a host, every text is data, and nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from support.run import Runner

from .conftest import Source, Sources, as_arguments, cached, hosts, rewrite, warnings
from .hostile import CANARY, CASES, CONTROL, EXECUTE, STATIC, Case

CONSTRUCTED: dict[str, Any] = {
    "compose": {
        "copied": (
            "server_management_x_undocumented | default(server_management_region | default(''))"
        ),
        "joined": "server_management_region | default('') ~ server_management_name | default('')",
    },
    "keyed_groups": [
        {"key": "server_management_region | default([])", "prefix": "key", "parent_group": "keys"}
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


def executed(runner: Runner) -> list[Path]:
    """Return the files that text makes if it is executed."""
    return [*runner.home.parent.rglob(CANARY)]


@pytest.fixture
def account(source: Source) -> Source:
    """Return a source over all cases."""
    source.sandbox.servers = [case.server for case in CASES]
    return source


@pytest.mark.promise("misdirected", "secret", "lost", "silent", "stable")
def test_each_server_is_a_host_with_its_data_in_any_order(account: Source) -> None:
    static = account.folder / "static.ini"
    static.write_text(STATIC)
    command = (*as_arguments([static, account.file(**CONSTRUCTED)]), "--list")
    result = account.runner.inventory(*command).ok()
    listing = result.json()
    hostvars = listing["_meta"]["hostvars"]
    assert hosts(listing) == sorted([*(case.host_name for case in CASES), "static-1"])
    assert hostvars["static-1"] == {"ansible_host": "198.51.100.1"}
    assert hostvars["control"] == expected_vars(CONTROL)
    assert listing["static_group"] == {"hosts": ["static-1"]}
    assert not [name for name, group in listing.items() if "vars" in group]
    for case in CASES:
        assert plain(hostvars[case.host_name]) == plain(expected_vars(case)), case.title
        groups = {
            name for name, group in listing.items() if case.host_name in group.get("hosts", [])
        }
        keyed = {name.replace("region", "key", 1) for name in groups if name.startswith("region_")}
        assert groups == case.host_groups | keyed, case.title
    result.shows(
        " servers do not have their preferred names, because other servers have the same name: ",
        "because a host can't have such a name: ",
        "so ansible_host is no-usable-ipv4.invalid.",
        " is missing or not text for ",
        " servers do not have an IPv4 address of their own: ",
    )
    assert "\x1b" not in result.output
    assert "Traceback" not in result.output
    assert executed(account.runner) == []
    account.sandbox.servers.reverse()
    assert account.runner.inventory(*command).ok().stdout == result.stdout


# Each way to use a variable that could render its text: in this play and in another one.
PLAYBOOK = """
- hosts: "{{ targets }}"
  connection: local
  gather_facts: false
  tasks:
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
        src: seen.j2
        dest: seen.json
        mode: "0600"
"""
SEEN = """{
{% for host in targets + groups.added %}
{{ host | to_json }}: {{ hostvars[host] | dict2items | selectattr('key', 'match', wanted)
  | items2dict | to_json }}{{ '' if loop.last else ',' }}
{% endfor %}
}
"""
WANTED = "^(server_management_|(ansible_host|copied|joined|kept)$)"
# A task takes a process for each host: one host for each form of text that Ansible could render.
TARGETS = [
    case
    for case in CASES
    if case.title in ("template", "id-alone", "region-template", "created-template", "plan-header")
    or (case.title.startswith("field-") and case.title != "field-numbers")
]


@pytest.mark.promise("data")
def test_a_playbook_executes_nothing(account: Source) -> None:
    names = [case.host_name for case in TARGETS]
    home = account.runner.home
    (home / "play.yml").write_text(PLAYBOOK)
    (home / "seen.j2").write_text(SEEN)
    values = json.dumps({"wanted": WANTED, "targets": names})
    command = ("-i", account.file(**CONSTRUCTED), "-e", values, home / "play.yml")
    played = account.runner.playbook(*command).ok()
    assert played.stdout.count("failed=0") == len(names) + 1
    assert "root:x:0" not in played.output
    seen = json.loads((home / "seen.json").read_text())
    for case in TARGETS:
        kept = {"kept": expected_vars(case)["copied"]}
        assert seen[case.host_name] == {**expected_vars(case), **kept}, case.title
        assert seen[f"added-{case.host_name}"] == kept, case.title
    assert executed(account.runner) == []


def _trusted(text: str) -> dict[str, Any]:
    tags = [{"__ansible_type": "TrustedAsTemplate"}]
    return {"__ansible_type": "_AnsibleTaggedStr", "value": text, "tags": tags}


# What an attacker makes of the servers in an entry of the cache, which is text.
FORGED: dict[str, Callable[[str], Any]] = {
    "listing": lambda servers: servers,
    "unsafe": lambda servers: {"__ansible_unsafe": servers},
    "trusted": _trusted,
    "vault": lambda servers: {"__ansible_vault": EXECUTE},
    "template": lambda servers: EXECUTE,
}
FILES = {"pickle": f"cos\nsystem\n(S'touch $HOME/{CANARY}'\ntR.", "deep": "[" * 100_000}


@pytest.mark.promise("cache", "data")
def test_a_forged_cache_entry_is_a_miss_or_data(sources: Sources, tmp_path: Path) -> None:
    for title in (*FORGED, *FILES):
        sources.add(title, **cached(tmp_path / title), **CONSTRUCTED)
    sources.check()
    change = {"region": EXECUTE, "x_undocumented": [EXECUTE, {EXECUTE: EXECUTE}]}
    for title in sources.all:
        (path,) = (tmp_path / title).iterdir()

        def forge(entry: dict[str, Any], title: str = title) -> dict[str, Any]:
            listing = json.loads(entry["servers"])
            listing["data"][0].update(change)
            return {**entry, "servers": FORGED[title](json.dumps(listing))}

        if title in FORGED:
            rewrite(path, forge)
        else:
            path.write_text(FILES[title])
    paths = as_arguments(case.path for case in sources.all.values())
    result = sources.runner.inventory(*paths, "--list").ok()
    hostvars, warned = result.json()["_meta"]["hostvars"], warnings(result)
    # Ansible's own decoding removes the mark of its version before the plugin sees it.
    data = {"listing", "trusted" if version("ansible-core") >= "2.19" else "unsafe"}
    assert set(warned) == sources.all.keys() - data
    assert plain(hostvars["listing-1"]["joined"]) == f"{EXECUTE}listing-1"
    for title in sources.all:
        region = hostvars[f"{title}-1"]["server_management_region"]
        if title in data:
            assert region == {"__ansible_unsafe": EXECUTE}, title
        else:
            assert (region, "isdamaged" in warned[title][0]) == ("eu-1", True), title
    assert executed(sources.runner) == []
