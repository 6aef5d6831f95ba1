# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    FIELDS,
    Server,
    merge,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    Host,
    check_parents,
    group_hosts,
    hosts_from,
    safe_group_name,
)
from sandbox.account import make_servers

BASE: dict[str, Any] = dict(make_servers(1)[0])


def _hosts(*changes: dict[str, Any], prefix: str = "server_") -> tuple[list[Host], list[str]]:
    """Make hosts of servers that differ from a good one, and return what is warned of."""
    servers: dict[str, Server] = {}
    for number, change in enumerate(changes):
        element = {**BASE, "id": f"srv_{number}", **change}
        merge(servers, [{key: value for key, value in element.items() if value is not ...}])
    warnings: list[str] = []
    return hosts_from(servers.values(), prefix, warnings.append), warnings


def test_a_server_becomes_a_host_with_prefixed_variables() -> None:
    (host,), warnings = _hosts({})
    expected = {f"server_{field}": value for field, value in BASE.items()}
    expected |= {"server_id": "srv_0", "ansible_host": BASE["ipv4"]}
    assert (host.variables, host.groups, host.name, warnings) == (expected, [], "", [])
    assert host.server.id == "srv_0"


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    "address",
    ["1.0.0.0", "10.0.0.1", "127.0.0.2", "169.254.0.1", "192.168.255.255", "223.255.255.255"],
)
def test_a_unicast_address_becomes_ansible_host(address: str) -> None:
    (host,), warnings = _hosts({"ipv4": address})
    assert (host.variables["ansible_host"], warnings) == (address, [])


ADDRESSES = [
    "",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "256.0.0.1",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.4 ",
    " 1.2.3.4",
    "1.2.3.4\n",
    "1.2.3.4/24",
    "1.2.3.4:22",
    "01.2.3.4",
    "1.2.3.04",
    "1.2.3.-4",
    "0x01020304",
    "16909060",
    "\u0661.\u0662.\u0663.\u0664",
    "::1",
    "::ffff:1.2.3.4",
    "localhost",
    "host.example.com",
    "-oProxyCommand=id",
    "{{ 1 }}",
    None,
    5,
    ["1.2.3.4"],
    ...,
]


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("address", ADDRESSES, ids=ascii)
def test_any_other_address_is_left_out_with_a_warning(address: Any) -> None:
    (host,), warnings = _hosts({"ipv4": address})
    assert "ansible_host" not in host.variables
    assert any("ansible_host is not set: srv_0" in warning for warning in warnings)
    assert ("server_ipv4" in host.variables) == isinstance(address, str)


@pytest.mark.promise("misdirected")
@given(st.text(alphabet="0123456789.", max_size=16) | st.ip_addresses(v=4).map(str))
def test_ansible_host_is_a_dotted_quad_that_a_packet_can_be_sent_to(address: str) -> None:
    (host,), _warnings = _hosts({"ipv4": address})
    octets = address.split(".")
    usable = (
        len(octets) == 4
        and all(octet.isdigit() and str(int(octet)) == octet for octet in octets)
        and all(int(octet) < 256 for octet in octets)
        and 0 < int(octets[0]) < 224
    )
    assert ("ansible_host" in host.variables) == usable


@pytest.mark.promise("silent")
def test_warnings_are_one_line_a_kind_with_counts() -> None:
    changes = [{"region": number, "plan": ...} for number in range(5)]
    hosts, warnings = _hosts(*changes, {"ipv4": "x\ny", "name": None}, {"ipv4": ""})
    assert len(hosts) == 7
    assert warnings == [
        "fields that are missing or not text, with the number of servers: "
        "name (1), plan (5), region (5)",
        "no usable IPv4 address, so ansible_host is not set: srv_5, srv_6",
    ]


def test_a_field_of_later_becomes_a_variable_too() -> None:
    (host,), warnings = _hosts({"tags": ["a", {"b": None}], "cpus": 4})
    assert host.variables["server_tags"] == ["a", {"b": None}]
    assert host.variables["server_cpus"] == 4
    assert warnings == []


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("prefix", "field"),
    [
        ("server_", "a-b"),
        ("server_", "a b"),
        ("server_", "{{ x }}"),
        ("server_", "é"),
        ("server_", "a\n"),
        ("", ""),
        ("", "1a"),
        ("", "class"),
        ("", "ansible_host"),
        ("", "ansible_connection"),
        ("ansible", "_host"),
        ("ansib", "le_become_password"),
    ],
)
def test_a_field_never_becomes_a_variable_that_it_must_not_be(prefix: str, field: str) -> None:
    hosts, warnings = _hosts({field: "hostile", "ipv4": "1.2.3.4"}, {field: "x"}, prefix=prefix)
    for host in hosts:
        assert "hostile" not in host.variables.values()
        assert set(host.variables) == {"ansible_host", *(f"{prefix}{name}" for name in FIELDS)}
    assert len(warnings) == 1
    assert warnings[0].startswith("fields that can't become variables: ")


@pytest.mark.promise("misdirected")
@given(st.dictionaries(st.text(), st.just("x"), max_size=5), st.sampled_from(["", "a", "ansible"]))
def test_variables_are_identifiers_that_ansible_does_not_act_on(
    fields: dict[str, Any], prefix: str
) -> None:
    (host,), _warnings = _hosts({**fields, "id": "srv_0"}, prefix=prefix)
    for name in set(host.variables) - {"ansible_host"}:
        assert name.isascii()
        assert name.isidentifier()
        assert not name.startswith("ansible_")


def _groups(
    *changes: dict[str, Any], by: Iterable[str] = ("region", "plan", "status")
) -> tuple[list[list[str]], list[str]]:
    hosts, warnings = _hosts(*changes)
    warnings.clear()
    group_hosts(hosts, "my servers", list(by), warnings.append)
    return [host.groups for host in hosts], warnings


def test_groups_are_named_after_the_field_and_its_value() -> None:
    change = {"region": "eu-1", "plan": "small", "status": "running"}
    groups, warnings = _groups(change, {**change, "region": "us 1"})
    assert groups == [
        ["my_servers", "region_eu_1", "plan_small", "status_running"],
        ["my_servers", "region_us_1", "plan_small", "status_running"],
    ]
    assert warnings == []


@pytest.mark.parametrize("by", [[], ["plan"], ["status", "region"]])
def test_only_the_wanted_fields_make_groups(by: list[str]) -> None:
    ((everybody, *groups),), _warnings = _groups({}, by=by)
    assert everybody == "my_servers"
    assert groups == [safe_group_name(f"{field}_{BASE[field]}") for field in by]


@pytest.mark.parametrize("value", ["", None, 5, ["a"], ...])
def test_a_field_without_a_text_makes_no_group(value: Any) -> None:
    (groups,), _warnings = _groups({"region": value, "plan": "s", "status": "running"})
    assert groups == ["my_servers", "plan_s", "status_running"]


@pytest.mark.promise("silent")
def test_values_that_become_one_group_are_told_of() -> None:
    groups, warnings = _groups(*({"region": region} for region in ("eu-1", "eu_1", "eu-1", "us")))
    assert [host[1] for host in groups] == ["region_eu_1"] * 3 + ["region_us"]
    assert warnings == ["several values become the group region_eu_1: region eu-1, region eu_1"]


@given(st.text(min_size=1))
def test_any_value_makes_a_group_that_ansible_takes(value: str) -> None:
    ((_everybody, group),), _warnings = _groups({"region": value}, by=["region"])
    assert group == safe_group_name(group)
    assert group.startswith("region_")


def _group(name: str, *parents: str) -> Any:
    return SimpleNamespace(
        name=name, parent_groups=[SimpleNamespace(name=parent) for parent in parents]
    )


GROUPS = {"all": _group("all"), "a": _group("a", "all"), "b": _group("b", "a")}


@pytest.mark.parametrize(
    "parents",
    [
        [],
        [("a", "b")],
        [("x", "y"), ("y", "z"), ("x", "z"), ("x", "y")],
        [("b", "c"), ("all", "c")],
    ],
)
def test_groups_may_be_in_several_others(parents: list[tuple[str, str]]) -> None:
    check_parents(parents, GROUPS)


@pytest.mark.parametrize(
    ("parents", "child"),
    [
        ([("x", "x")], "x"),
        ([("b", "a")], "a"),
        ([("b", "all")], "all"),
        ([("x", "y"), ("y", "x")], "x"),
        ([("b", "c"), ("c", "d"), ("d", "a")], "a"),
    ],
)
def test_a_group_inside_itself_is_refused(parents: list[tuple[str, str]], child: str) -> None:
    with pytest.raises(OptionError, match=f"keyed_groups: the group {child} would be inside"):
        check_parents(parents, GROUPS)
