# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory plugin makes of a file, and what it shows, without a command of Ansible."""

import os
import re
from unittest.mock import Mock

import pytest
import yaml
from ansible import constants
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._events import Snapshot
from sandbox import Fault, Sandbox
from sandbox.account import SERVER
from support.run import write_inventory


class Plugin:
    """The inventory plugin over an account, and its display, with the warnings and the lines."""

    def __init__(self, folder, api):
        self.inventory = InventoryData()
        self.warnings = []
        self.lines = []
        self.verbosity = 1
        self._folder = folder
        self._api = api

    def parse(self, names="", options=""):
        """Parse a file with these options, as YAML, for an account with servers that are so named.

        What the file says precedes each warning and line, and is left out here.
        """
        for number, name in enumerate(names.split()):
            fields = {"id": f"srv_{number}", "name": name, "ipv4": f"192.0.2.{number}"}
            self._api.servers.append({**SERVER, **fields})
        text = f"""
plugin: server_management.cloud.servers
base_url: {self._api.url}
api_token: {self._api.token}
{options}
"""
        path = write_inventory(self._folder, text, "x.server_management.yml")
        plugin = inventory_loader.get("server_management.cloud.servers")
        plugin.display = self
        plugin.parse(self.inventory, DataLoader(), str(path))

    def warning(self, line):
        self.warnings.append(without_path(line))

    def display(self, line, stderr):
        assert stderr
        self.lines.append(without_path(line))

    def refuse(self, names, options):
        """Return the message about a file that is an error."""
        with pytest.raises(AnsibleParserError) as caught:
            self.parse(names, options)
        return without_path(str(caught.value))

    @property
    def hosts(self):
        """Return the names of the hosts, in the order of plays."""
        return [host.name for host in self.inventory.groups["all"].get_hosts()]


def without_path(line):
    path, separator, text = line.partition("x.server_management.yml: ")
    assert separator
    assert path == ""
    return text


@pytest.fixture
def api():
    with Sandbox(servers=[]) as api:
        yield api


@pytest.fixture
def plugin(api, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Plugin(tmp_path, api)


def test_the_group_of_all_hosts_exists_without_hosts(plugin):
    plugin.parse(options="group: fleet")
    assert plugin.inventory.groups["fleet"].get_hosts() == []


def test_long_waits_and_the_progress_are_shown_without_verbosity(plugin, api, monkeypatch):
    monkeypatch.setattr("time.sleep", Mock())
    monkeypatch.setattr(_client, "_REPORT_INTERVAL", 0)
    plugin.verbosity = 0
    api.fail(Fault(status=429, retry_after=6))
    plugin.parse("web")
    progress, wait = plugin.lines
    assert progress == "page 1, 0 servers so far"
    assert wait.startswith("retry 1 of 3 in 6.")


@pytest.mark.parametrize("verbosity", [0, 1])
def test_fields_that_cannot_become_variables_are_named_only_with_v(plugin, verbosity):
    plugin.verbosity = verbosity
    plugin.parse("web", "hostvars_prefix: ''")
    assert ("Fields that can't become variables: name" in str(plugin.lines)) == bool(verbosity)
    assert plugin.warnings == []


def test_a_filter_without_effect_is_an_error_before_any_request(plugin, api):
    message = plugin.refuse("web", "filters: [{include: 'true'}]")
    assert message.startswith("filters: ")
    assert api.requests == []


def test_a_name_is_given_to_the_selected_server_only(plugin, api):
    api.servers.append({**SERVER, "name": "web", "status": "stopped"})
    plugin.parse("web", "statuses: [running]")
    assert plugin.hosts == ["web"]
    assert plugin.warnings == []


# With values of the fields that the condition reads.
LEAVING_NO_HOST = yaml.safe_load("""
- [web db db, 'true', 3 servers]
- [web db, server_management_plan != 'x', '2 servers; plan: small (2)']
- [web db db, server_management_name + server_management_status != '',
   '3 servers; name: db (2), web (1); status: running (3)']
- ['', 'true', '']
""")


@pytest.mark.parametrize(("names", "condition", "account"), LEAVING_NO_HOST)
def test_filters_that_leave_no_host_of_an_account_with_servers_cause_a_warning(
    plugin, names, condition, account
):
    options = {"filters": [{"exclude": condition}]}
    plugin.parse(names, yaml.safe_dump(options))
    text = f"filters: no host is left; the account has {account}; -vvv shows why."
    assert plugin.warnings == [text] * bool(names)


# Expressions, the name, and what each warning says.
FAILED = yaml.safe_load("""
- [['[name]', 'server_management_plan[9:]'], srv_0, ['[name]: failed']]
- [['[name]', "'all'"], all_srv_0, ['[name]: failed', web (srv_0) is all_srv_0]]
- [['server_management_plan[9:]'], srv_0, [web (srv_0) is srv_0]]
""")


@pytest.mark.parametrize(("hostnames", "host", "words"), FAILED)
def test_expressions_that_give_no_usable_name_are_reported_once(plugin, hostnames, host, words):
    plugin.parse("web", f"hostnames: {hostnames}")
    assert plugin.hosts == [host]
    for warning, word in zip(plugin.warnings, words, strict=True):
        assert word in warning


def test_hosts_are_in_the_order_of_their_own_names(plugin):
    plugin.parse("a b", "hostnames: [\"{'a': 'y', 'b': 'x'}[server_management_name]\"]")
    assert plugin.hosts == ["x", "y"]


RECORDS = yaml.safe_load("""
- {id: srv 99}
- {id: localhost_, name: x}
- {id: all.yml, name: y}
- {id: all, name: z}
""")
NAMES = yaml.safe_load("""
[web, web, web 1, web/1, all, ungrouped, server_management, region_x, plan_x, status_x, x.yml,
 x.json, '127.1', 192.0.2.9, '', -x]
""")
for number, name in enumerate([*NAMES, "x" * 254]):
    RECORDS.append({"id": f"srv_{number}", "name": name})


@pytest.mark.parametrize(
    ("hosts", "options"), [("name", ""), ("id", "hostnames: [server_management_id]")]
)
def test_events_name_hosts_as_the_inventory_does(plugin, api, hosts, options):
    api.servers = RECORDS
    plugin.parse("", options)
    named_by_inventory = {}
    for host in plugin.inventory.hosts.values():
        named_by_inventory[host.vars["server_management_id"]] = host.name
    servers = {record["id"]: Server(record["id"], record) for record in RECORDS}
    assert named_by_inventory == Snapshot(servers, hosts).names


ACCOUNT = yaml.safe_load("""
- {id: srv_c, name: c, plan: large, region: us-1}
- {id: srv_a, name: a, plan: small, region: us-1}
""")
SELECTION = """
plans: [small]
regions: [eu-1]
filters:
  - include: server_management_name == 'b'
  - exclude: server_management_name == 'x'
"""
# What follows "because" is that of the warning.
OUTCOMES = """
a (srv_a) is left out by regions
b (srv_0) is b_srv_0, because
b (srv_1) is b_srv_1, because
c (srv_c) is left out by plans
ungrouped (srv_2) is ungrouped_srv_2, because
x (srv_3) is left out by filters: 2: exclude: server_management_name == 'x'
y (srv_4) is y
"""


def test_with_vvv_each_server_is_shown_with_its_host_or_what_has_left_it_out(plugin, api):
    api.servers = ACCOUNT
    plugin.verbosity = 3
    plugin.parse("b b ungrouped x y", SELECTION)
    shown = [re.sub("(?<=because).+", "", line) for line in plugin.lines if " is " in line]
    assert shown == OUTCOMES.strip().splitlines()


# The first words of the lines.
SHOWN = {1: ["1"], 2: ["token:", "GET", "1"], 3: ["token:", "GET", "1", "web"]}


@pytest.mark.parametrize("verbosity", SHOWN)
def test_each_level_shows_more(plugin, verbosity):
    plugin.verbosity = verbosity
    plugin.parse("web")
    assert [line.split()[0] for line in plugin.lines] == SHOWN[verbosity]


@pytest.mark.parametrize(
    ("extensions", "name"), [([".vars"], "a_vars"), (["", "VARS"], "a_vars"), (None, "a.vars")]
)
def test_a_host_name_does_not_end_like_a_file_with_variables(plugin, monkeypatch, extensions, name):
    monkeypatch.setattr(constants, "YAML_FILENAME_EXTENSIONS", extensions)
    plugin.parse("b. a.vars")
    assert plugin.hosts == [name, "b."]


def test_a_host_with_the_address_of_a_server_is_merged_whoever_else_has_the_address(plugin, api):
    plugin.inventory.add_host("web")
    plugin.inventory.set_variable("web", "ansible_host", "192.0.2.0")
    api.servers = [{**SERVER, "id": "srv_db", "name": "db", "ipv4": "192.0.2.0"}]
    plugin.parse("web", "compose: {ansible_host: server_management_name}")
    assert plugin.hosts == ["db", "web"]
    assert "merged with 1 host of other sources: web" in plugin.lines


def test_a_host_gets_another_name_if_an_expression_makes_a_group_with_its_name(plugin):
    entry = """{key: "'we' ~ 'b'", separator: '', parent_group: "{{ 'd' ~ 'b' }}"}"""
    plugin.parse("web db", f"keyed_groups: [{entry}]")
    groups = plugin.inventory.groups
    assert plugin.hosts == ["db_srv_1", "web_srv_0"]
    assert groups["db"].child_groups == [groups["web"]]
    assert str(groups["web"].hosts) == "[db_srv_1, web_srv_0]"


def test_a_group_with_the_name_of_a_merged_host_is_left_out(plugin):
    plugin.inventory.add_host("eu_1")
    plugin.parse("eu_1", "keyed_groups: [{key: server_management_region, separator: ''}]")
    assert plugin.hosts == ["eu_1"]
    assert "eu_1" not in plugin.inventory.groups
    assert len(plugin.warnings) == 1


def test_groups_named_after_each_host_are_an_error(plugin):
    message = plugin.refuse("web db", "keyed_groups: [{key: inventory_hostname, separator: ''}]")
    start = "keyed_groups: creates groups with the names of hosts: srv_0, srv_1. Change prefix "
    assert message.startswith(start)


# The group of the plan has the host's name in the first attempt, which is thrown away.
ATTEMPTS = """
keyed_groups: [{key: server_management_plan, separator: ''}]
compose:
  a: 1 // 0 if inventory_hostname == 'small' else 'ok'
  ansible_host: "'' if inventory_hostname == 'small' else 'small.test'"
"""


def test_only_the_attempt_that_is_kept_is_reported(plugin):
    plugin.parse("small", ATTEMPTS)
    (warning,) = plugin.warnings
    assert "small (srv_0) is small_srv_0" in warning
    variables = plugin.inventory.hosts["small_srv_0"].vars
    assert variables["a"] == "ok"
    assert variables["ansible_host"] == "small.test"


ERRORS = """
hostnames: ["'all'"]
compose: {a: server_management_nope}
keyed_groups: [{key: "'x'", parent_group: _x}]  # the group _x in itself
"""


@pytest.mark.parametrize("options", ERRORS.strip().splitlines())
def test_an_error_with_strict_leaves_no_group_behind(plugin, options):
    plugin.refuse("web", f"{options}\nstrict: true")
    assert list(plugin.inventory.groups) == ["all", "ungrouped"]
    assert plugin.hosts == []


def test_a_failing_filter_is_an_error_with_a_hint(plugin):
    message = plugin.refuse("web", "filters: [{exclude: region == 'x'}]")
    start, _colon, end = message.rpartition(": ")
    place = "filters: exclude: region == 'x': failed for web (srv_0)"
    # From ansible-core 2.19 on, the reason has another beginning.
    assert start.removesuffix(": Error while evaluating conditional") == place
    assert end == "'region' is undefined (did you mean server_management_region?)"


def test_only_a_regular_file_is_a_source(tmp_path):
    plugin = inventory_loader.get("server_management.cloud.servers")
    pipe = tmp_path / "x.server_management.yml"
    os.mkfifo(pipe)
    assert not plugin.verify_file(str(pipe))
    assert plugin.verify_file(str(write_inventory(tmp_path, {}, "y.server_management.yml")))
