# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hostile account: each server is a host, every text is data, and nothing is executed."""

import json
from importlib.metadata import version

import pytest
import yaml

from .conftest import as_arguments, cached, hosts, rewrite, warnings
from .hostile import CANARY, CASES, CONTROL, EXECUTE, STATIC

CONSTRUCTED = yaml.safe_load("""
compose:
  copied: server_management_x_undocumented | default(server_management_region | default(''))
  joined: server_management_region | default('') ~ server_management_name | default('')
keyed_groups:
  - key: server_management_region | default([])
    prefix: key
    parent_group: keys
""")


def expected_vars(case):
    """Return the variables of a host, with those that ``compose`` adds."""
    variables = case.host_vars
    region = case.fields.get("region", "")
    variables["copied"] = case.fields.get("x_undocumented", region)
    variables["joined"] = region + case.fields.get("name", "")
    return variables


def without_marks(value):
    """Remove what ansible-inventory puts around text that is never rendered."""
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["__ansible_unsafe"]:
        return value["__ansible_unsafe"]
    return {key: without_marks(item) for key, item in value.items()}


def executed(runner):
    """Return the files that text makes if it is executed."""
    return [*runner.home.parent.rglob(CANARY)]


@pytest.fixture
def account(source):
    """Return a source over all cases."""
    source.sandbox.servers = [case.server for case in CASES]
    return source


def list_with_static_hosts(account):
    """List the account beside another source."""
    static = account.folder / "static.ini"
    static.write_text(STATIC)
    path = account.file(**CONSTRUCTED)
    return account.runner.inventory("-i", static, "-i", path, "--list").ok()


PROBLEMS = [
    " servers do not have their preferred names, because other servers have the same name: ",
    "because a host can't have such a name: ",
    "so ansible_host is no-usable-ipv4.invalid.",
    " is missing or not text for ",
    " servers do not have an IPv4 address of their own: ",
]


def test_each_server_is_a_host_with_its_data_in_any_order(account):
    result = list_with_static_hosts(account)
    listing = result.json()
    names = [case.host_name for case in CASES]
    assert hosts(listing) == sorted([*names, "static-1"])
    hostvars = listing["_meta"]["hostvars"]
    assert hostvars["control"] == expected_vars(CONTROL)
    for case in CASES:
        found = without_marks(hostvars[case.host_name])
        assert found == without_marks(expected_vars(case)), case.title
    assert executed(account.runner) == []
    # Each kind of problem is a warning without control characters.
    result.shows(*PROBLEMS)
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output
    account.sandbox.servers.reverse()
    assert list_with_static_hosts(account).stdout == result.stdout


def test_data_does_not_change_groups_and_hosts_of_other_sources(account):
    listing = list_with_static_hosts(account).json()
    hostvars = listing.pop("_meta")["hostvars"]
    assert hostvars["static-1"] == {"ansible_host": "198.51.100.1"}
    assert listing["static_group"] == {"hosts": ["static-1"]}
    groups = {}
    for name, group in listing.items():
        assert "vars" not in group, name
        for host in group.get("hosts", []):
            groups.setdefault(host, set()).add(name)
    for case in CASES:
        expected = case.host_groups
        for name in case.host_groups:
            if name.startswith("region_"):
                expected.add(name.replace("region_", "key_", 1))
        assert groups[case.host_name] == expected, case.title


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


def test_a_playbook_executes_nothing(account):
    home = account.runner.home
    (home / "play.yml").write_text(PLAYBOOK)
    (home / "seen.j2").write_text(SEEN)
    names = [case.host_name for case in TARGETS]
    values = json.dumps({"wanted": WANTED, "targets": names})
    path = account.file(**CONSTRUCTED)
    played = account.runner.playbook("-i", path, "-e", values, home / "play.yml").ok()
    assert played.stdout.count("failed=0") == len(names) + 1
    assert "root:x:0" not in played.output
    seen = json.loads((home / "seen.json").read_text())
    for case in TARGETS:
        variables = expected_vars(case)
        variables["kept"] = variables["copied"]
        assert seen[case.host_name] == variables, case.title
        assert seen[f"added-{case.host_name}"] == {"kept": variables["kept"]}, case.title
    assert executed(account.runner) == []


def _trusted(text):
    tags = [{"__ansible_type": "TrustedAsTemplate"}]
    return {"__ansible_type": "_AnsibleTaggedStr", "value": text, "tags": tags}


# What an attacker makes of the servers in an entry of the cache, which is text.
FORGED = {
    "listing": lambda servers: servers,
    "unsafe": lambda servers: {"__ansible_unsafe": servers},
    "trusted": _trusted,
    "vault": lambda _servers: {"__ansible_vault": EXECUTE},
    "template": lambda _servers: EXECUTE,
}
FILES = {"pickle": f"cos\nsystem\n(S'touch $HOME/{CANARY}'\ntR.", "deep": "[" * 100_000}


def forge(path, mark):
    """Change a server in an entry of the cache, and mark the text that has it."""

    def change(entry):
        listing = json.loads(entry["servers"])
        listing["data"][0]["region"] = EXECUTE
        listing["data"][0]["x_undocumented"] = [EXECUTE, {EXECUTE: EXECUTE}]
        entry["servers"] = mark(json.dumps(listing))
        return entry

    rewrite(path, change)


def test_a_forged_cache_entry_is_a_miss_or_data(sources, tmp_path):
    for title in (*FORGED, *FILES):
        sources.add(title, **cached(tmp_path / title), **CONSTRUCTED)
    sources.check()
    for title, mark in FORGED.items():
        (path,) = (tmp_path / title).iterdir()
        forge(path, mark)
    for title, content in FILES.items():
        (path,) = (tmp_path / title).iterdir()
        path.write_text(content)
    paths = as_arguments(case.path for case in sources.all.values())
    result = sources.runner.inventory(*paths, "--list").ok()
    hostvars = result.json()["_meta"]["hostvars"]
    found = {title: hostvars[f"{title}-1"]["server_management_region"] for title in sources.all}
    warned = warnings(result)
    # Ansible's own decoding removes the mark of its version before the plugin sees it.
    unmarked = "trusted" if version("ansible-core") >= "2.19" else "unsafe"
    for title in ("listing", unmarked):
        assert found.pop(title) == {"__ansible_unsafe": EXECUTE}
        assert title not in warned
    for title, region in found.items():
        assert region == "eu-1", title
        assert "isdamaged" in warned[title][0]
    assert without_marks(hostvars["listing-1"]["joined"]) == f"{EXECUTE}listing-1"
    assert executed(sources.runner) == []
