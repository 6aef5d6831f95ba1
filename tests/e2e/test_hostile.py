# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile and generated accounts: each server is a host, and every text is data."""

import json
import re
from functools import partial
from importlib.metadata import version

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    GROUP_FIELDS,
    Server,
)
from sandbox import Sandbox
from sandbox.account import SERVER
from support import special_texts
from support.expressions import is_trusted
from support.run import Runner, write_inventory

from .conftest import Source, cached, rewrite
from .hostile import CANARY, CASES, EXECUTE, FIELDS

COMPOSE = {
    "copied": "server_management_x_undocumented | default('')",
    "joined": "server_management_region | default('') ~ server_management_name | default('')",
}


def expected_vars(case):
    """Return the variables of a host, with those that ``compose`` adds."""
    variables = case.host_vars
    region = variables.get("server_management_region", "")
    name = variables.get("server_management_name", "")
    copied = variables.get("server_management_x_undocumented", "")
    return {**variables, "copied": copied, "joined": region + name}


def executed(folder):
    """Return the files that text makes if it is executed."""
    return list(folder.rglob(CANARY))


@pytest.fixture(scope="module")
def listed(installed, tmp_path_factory):
    """List the account once, beside another source."""
    folder = tmp_path_factory.mktemp("hostile")
    runner = Runner(folder / "home", installed)
    static = folder / "static.ini"
    static.write_text("[static_group]\nstatic-1 ansible_host=198.51.100.1\n")
    with Sandbox(servers=[case.server for case in CASES]) as api:
        path = Source(runner, api, folder).file(compose=COMPOSE)
        listed = runner.inventory("-i", static, "-i", path, "--list").ok()
    assert executed(folder) == []
    return listed


def text_of(value):
    """Return text without what ansible-inventory puts around it if it is never rendered."""
    if value.keys() == {"__ansible_unsafe"}:
        return value["__ansible_unsafe"]
    return value


def test_each_server_is_a_host_with_its_data(listed):
    listing = json.loads(listed.stdout, object_hook=text_of)
    hostvars = listing["_meta"]["hostvars"]
    assert hostvars.keys() == {case.host_name for case in CASES} | {"static-1"}
    for case in CASES:
        found = hostvars[case.host_name]
        assert found == expected_vars(case), case.title
    plain = listed.json()["_meta"]["hostvars"]["control"]
    assert "__ansible_unsafe" not in str(plain)


USUAL_GROUPS = ["server_management"]
for field, prefix in GROUP_FIELDS.items():
    values = Server("", SERVER).values(field)
    USUAL_GROUPS += [prefix + value.replace("-", "_") for value in values]
# The hosts that have a group of their own.
OTHER_GROUPS = {
    "static-1": "static_group",
    "region-template": "region____lookup__ansible_builtin_pipe____touch__HOME_hostile_canary_____",
    "plan-comment": "plan____open",
    "plan-header": "plan__jinja2__variable_start_string_______variable_end_string_________7___7___",
    "status-ansi": "status___31m_",
}


def test_data_does_not_change_groups_and_hosts_of_other_sources(listed):
    listing = listed.json()
    hostvars = listing.pop("_meta")["hostvars"]
    assert hostvars["static-1"] == {"ansible_host": "198.51.100.1"}
    del listing["all"]
    for host, group in OTHER_GROUPS.items():
        assert listing.pop(group) == {"hosts": [host]}
    assert sorted(listing) == sorted(USUAL_GROUPS)


def test_warnings_have_no_control_characters(listed):
    assert "[WARNING]" in listed.stderr
    assert "Traceback" not in listed.output
    assert "\x1b" not in listed.output


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
TITLES = ("template", "id-alone", "region-template", "created-template", "plan-header")
TARGETS = [*FIELDS, *[case for case in CASES if case.title in TITLES]]


def test_a_playbook_executes_nothing(source, tmp_path, sandbox, runner):
    home = runner.home
    (home / "play.yml").write_text(PLAYBOOK)
    (home / "seen.j2").write_text(SEEN)
    sandbox.servers = [case.server for case in CASES]
    targets = [case.host_name for case in TARGETS]
    values = json.dumps({"wanted": WANTED, "targets": targets})
    path = source.file(compose=COMPOSE)
    command = ("-i", path, "-e", values, "play.yml")
    played = runner.playbook(*command).ok()
    assert played.stdout.count("failed=0") == len(targets) + 1
    assert "root:x:0" not in played.output
    seen = json.loads((home / "seen.json").read_text())
    for case in TARGETS:
        variables = expected_vars(case)
        kept = {"kept": variables["copied"]}
        assert seen[case.host_name] == {**variables, **kept}
        assert seen[f"added-{case.host_name}"] == kept
    assert executed(tmp_path) == []


# What the text in an entry of the cache becomes, which has its servers. Each version of Ansible
# knows one of the marks, and removes it.
FORGES = yaml.safe_load("""
plain: TEXT
unknown: {__ansible_unsafe: TEXT}
known: {__ansible_type: _AnsibleTaggedStr, value: TEXT, tags: [{__ansible_type: TrustedAsTemplate}]}
""")
if version("ansible-core") < "2.19":
    FORGES.update(unknown=FORGES["known"], known=FORGES["unknown"])


def forged(entry, form):
    """Return an entry of the cache with a template as region."""
    region = json.dumps(EXECUTE)
    text = entry["servers"].replace('"eu-1"', region)
    marked = json.dumps(form).replace('"TEXT"', json.dumps(text))
    return {**entry, "servers": json.loads(marked)}


def test_text_of_a_forged_cache_entry_is_data(sources, tmp_path):
    for case in FORGES:
        # No server has the field that is copied, before its entry is forged.
        warns = ["server_management_x_undocumented"]
        sources.add(case, compose=COMPOSE, warns=warns, **cached(tmp_path / case))
    sources.check()
    for case, form in FORGES.items():
        (entry,) = (tmp_path / case).iterdir()
        rewrite(entry, partial(forged, form=form))
    result = sources.list()
    assert executed(tmp_path) == []
    result.shows("unknown.server_management.yml: The cache entry is damaged and not used")
    listing = json.loads(result.stdout, object_hook=text_of)
    hostvars = listing["_meta"]["hostvars"]
    assert hostvars["unknown-1"]["joined"] == "eu-1unknown-1"
    for case in ("plain", "known"):
        variables = hostvars[f"{case}-1"]
        assert variables["server_management_region"] == EXECUTE
        assert variables["joined"] == f"{EXECUTE}{case}-1"


TEXTS = st.sampled_from(["web", "web 1", *special_texts.TEXTS])
TEXTS |= st.text(st.characters(), max_size=12)
JSON = special_texts.json_values(TEXTS)
# As documented: with other ids, no name may be left for a server, which is an error.
IDS = st.from_regex(r"[a-z]{1,4}_[A-Za-z0-9]{1,6}", fullmatch=True)
SERVERS = st.fixed_dictionaries(
    {"id": IDS | st.just("srv_1")},
    optional={
        "name": TEXTS | JSON,
        "status": TEXTS | JSON,
        "plan": TEXTS | JSON,
        "region": TEXTS | JSON,
        "ipv4": st.ip_addresses(v=4).map(str) | TEXTS | JSON,
        "note": JSON,
        "ansible_host": TEXTS,
    },
)
ACCOUNTS = st.lists(SERVERS, max_size=8, unique_by=lambda server: str(server["id"]))


def read(path):
    inventory = InventoryManager(loader=DataLoader(), sources=[str(path)])
    variables = {}
    groups = {}
    for name, host in inventory.hosts.items():
        variables[name] = dict(host.vars)
        del variables[name]["inventory_file"]
        del variables[name]["inventory_dir"]
        groups[name] = sorted(group.name for group in host.groups)
    return variables, groups


def test_every_server_of_any_account_is_a_host_and_its_text_is_data_in_any_order(tmp_path):
    with Sandbox(servers=0) as api:
        options = {"base_url": api.url, "api_token": api.token}
        path = write_inventory(tmp_path, options)

        @given(ACCOUNTS)
        def check(servers):
            api.servers = servers
            hostvars, groups = read(path)
            check_hosts(servers, hostvars)
            api.servers = servers[::-1]
            assert read(path) == (hostvars, groups)

        check()


def check_hosts(servers, hostvars):
    """Raise AssertionError if a server is not a host, or if its text could be a template."""
    assert len(hostvars) == len(servers)
    left = {server["id"] for server in servers}
    for name, variables in hostvars.items():
        left.remove(variables["server_management_id"])
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name)
        for variable in variables:
            assert variable == "ansible_host" or variable.startswith("server_management_")
        for text in special_texts.texts_in(list(variables.values())):
            is_plain = re.search(r"[{}#%\n]", text) is None
            assert is_plain or not is_trusted(text)
    json.dumps(hostvars)
