# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory plugin makes of a file, and what it shows, without a command of Ansible."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
from ansible import constants
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from sandbox import Fault, Sandbox
from sandbox.account import SERVER
from support.run import write_inventory


class Parsed(NamedTuple):
    """The inventory that a file adds to, its warnings, and the lines that -v shows."""

    inventory: InventoryData
    warnings: list[str]
    lines: list[str]

    @property
    def hosts(self) -> list[str]:
        """Return the names of the hosts, in the order of plays."""
        return [host.name for host in self.inventory.groups["all"].get_hosts()]


Parse = Callable[..., Parsed]


@pytest.fixture
def parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Return a function that parses a file over servers with these names."""
    monkeypatch.chdir(tmp_path)

    def read(
        *names: str,
        verbosity: int = 1,
        fault: Fault | None = None,
        inventory: InventoryData | None = None,
        **options: Any,
    ) -> Parsed:
        plugin = inventory_loader.get("server_management.cloud.servers")
        parsed = Parsed(inventory or InventoryData(), [], [])
        plugin.display = SimpleNamespace(
            verbosity=verbosity,
            warning=parsed.warnings.append,
            display=lambda line, stderr: parsed.lines.append(line),
        )
        servers = [
            {**SERVER, "id": f"srv_{number}", "name": name, "ipv4": f"192.0.2.{number}"}
            for number, name in enumerate(names)
        ]
        with Sandbox(servers=servers) as api:
            if fault:
                api.fail(fault)
            options = {"base_url": api.url, "api_token": api.token, **options}
            path = write_inventory(tmp_path, options, "x.server_management.yml")
            plugin.parse(parsed.inventory, DataLoader(), str(path))
        return parsed

    return read


@pytest.mark.promise("silent")
def test_long_waits_and_the_progress_are_shown_without_verbosity(
    parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", Mock())
    monkeypatch.setattr(_client, "_REPORT_INTERVAL", 0)
    lines = parse("web", verbosity=0, fault=Fault(status=429, retry_after=6)).lines
    progress, wait = (line.removeprefix("x.server_management.yml: ") for line in lines)
    assert progress == "page 1, 0 servers so far"
    assert wait.startswith("retry 1 of 3 in 6.")


@pytest.mark.promise("silent")
def test_fields_that_cannot_become_variables_are_named_only_with_v(parse: Parse) -> None:
    parsed = parse("web", hostvars_prefix="")
    assert parsed.warnings == []
    line = "x.server_management.yml: Fields that can't become variables: name."
    assert parsed.lines[0] == line
    assert parse("web", verbosity=0, hostvars_prefix="").lines == []


@pytest.mark.promise("silent")
def test_a_filter_without_effect_is_an_error_before_any_request(parse: Parse) -> None:
    with pytest.raises(AnsibleParserError, match=r"yml: filters: an include that"):
        parse(base_url="http://127.0.0.1:1", filters=[{"include": "true"}])


@pytest.mark.promise("silent")
def test_filters_that_leave_no_host_cause_a_warning_unless_there_are_no_servers(
    parse: Parse,
) -> None:
    text = "x.server_management.yml: filters: no host is left; the account has 1 server."
    assert parse("web", filters=[{"exclude": True}]).warnings == [text]
    assert parse(filters=[{"exclude": True}]).warnings == []


@pytest.mark.promise("silent")
@pytest.mark.parametrize(
    ("hostnames", "host", "starts"),
    [
        (["[name]"], "srv_0", ["hostnames: [name]: failed"]),
        (["[name]", "server_management_plan[9:]"], "srv_0", ["hostnames: [name]: failed"]),
        (["[name]", "'all'"], "all_srv_0", ["hostnames: [name]: failed", "hostnames: 1 server "]),
        (["server_management_plan[9:]"], "srv_0", ["hostnames: 1 server "]),
    ],
)
def test_a_failing_expression_is_the_only_reason_why_a_host_has_no_name(
    parse: Parse, hostnames: list[str], host: str, starts: list[str]
) -> None:
    parsed = parse("web", hostnames=hostnames, compose={"a": "5"})
    assert parsed.hosts == [host]
    warnings = [text.removeprefix("x.server_management.yml: ") for text in parsed.warnings]
    assert len(warnings) == len(starts)
    assert all(map(str.startswith, warnings, starts))


@pytest.mark.parametrize(("extensions", "name"), [([".vars"], "a_vars"), (None, "a.vars")])
def test_a_host_name_does_not_end_like_a_file_with_variables(
    parse: Parse, monkeypatch: pytest.MonkeyPatch, extensions: list[str] | None, name: str
) -> None:
    monkeypatch.setattr(constants, "YAML_FILENAME_EXTENSIONS", extensions)
    assert parse("b", "a.vars").hosts == [name, "b"]


@pytest.mark.promise("misdirected")
def test_a_host_gets_another_name_if_an_expression_makes_a_group_with_its_name(
    parse: Parse,
) -> None:
    entry = {"separator": "", "parent_group": "{{ 'd' ~ 'b' }}"}
    parsed = parse("web", "db", keyed_groups=[{"key": "'we' ~ 'b'", **entry}])
    assert parsed.hosts == ["db_srv_1", "web_srv_0"]
    assert [group.name for group in parsed.inventory.groups["db"].child_groups] == ["web"]
    assert [host.name for host in parsed.inventory.groups["web"].hosts] == parsed.hosts
    message = "keyed_groups: creates groups with the names of hosts: srv_0, srv_1. Set prefix."
    with pytest.raises(AnsibleParserError, match=f": {message}$"):
        parse("web", "db", keyed_groups=[{"key": "inventory_hostname", "separator": ""}])


# The group of the plan has the host's name in the first attempt, which is thrown away.
CLASHING: dict[str, Any] = {
    "keyed_groups": [{"key": "server_management_plan", "separator": ""}],
    "compose": {
        "a": "(1 // 0) if inventory_hostname == server_management_plan else 'ok'",
        "ansible_host": "'' if inventory_hostname == server_management_plan else 'small.test'",
    },
}
RENAMED = "a host can't have such a name: small (srv_0) is small_srv_0."


@pytest.mark.promise("silent")
def test_only_the_attempt_that_is_kept_is_reported(parse: Parse) -> None:
    parsed = parse("small", **CLASHING)
    (warning,) = parsed.warnings
    assert RENAMED in warning
    host = parsed.inventory.hosts["small_srv_0"]
    assert host.vars["a"] == "ok"
    assert host.vars["ansible_host"] == "small.test"


def test_with_strict_only_the_attempt_that_is_kept_fails(parse: Parse) -> None:
    with pytest.raises(AnsibleParserError, match=re.escape(RENAMED)):
        parse("small", strict=True, **CLASHING)


@pytest.mark.promise("atomic")
@pytest.mark.parametrize(
    "options",
    [
        {"hostnames": ["'all'"]},
        {"compose": {"a": "server_management_nope"}},
        {"keyed_groups": [{"key": "'x'", "parent_group": "_x"}]},
    ],
    ids=str,
)
def test_an_error_with_strict_leaves_no_group_behind(parse: Parse, options: dict[str, Any]) -> None:
    inventory = InventoryData()
    with pytest.raises(AnsibleParserError, match=r"x\.server_management\.yml: "):
        parse("web", inventory=inventory, strict=True, **options)
    assert list(inventory.groups) == ["all", "ungrouped"]
    assert list(inventory.hosts) == []
