# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible import constants
from ansible.template import Templar
from ansible.vars.reserved import get_reserved_names
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    FIELDS,
    Server,
    merge,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    NO_ADDRESS,
    Host,
    host_key_alias,
    hosts_from,
    report_servers,
    set_host_key_aliases,
)
from sandbox.account import SERVER


def _hosts(
    *changes: dict[str, Any], prefix: str = "server_management_", has_loopback: bool = False
) -> tuple[list[Host], list[str], list[str]]:
    """Return hosts of servers that differ from a valid one, the warnings, and the lines of -v."""
    servers: dict[str, Server] = {}
    for number, change in enumerate(changes):
        element = {**SERVER, "id": f"srv_{number}", "ipv4": f"192.0.2.{number}", **change}
        merge(servers, [{key: value for key, value in element.items() if value is not ...}])
    lines: list[str] = []
    hosts = hosts_from(servers.values(), prefix, has_loopback, lines.append)
    return hosts, _warnings(hosts), lines


def _warnings(hosts: list[Host]) -> list[str]:
    warnings: list[str] = []
    report_servers(hosts, warnings.append)
    return warnings


def test_a_server_becomes_a_host_with_prefixed_variables() -> None:
    undocumented = {"x_undocumented": ["a", {"b": None}]}
    (host,), warnings, lines = _hosts(undocumented)
    fields = {**SERVER, **undocumented, "id": "srv_0", "ipv4": "192.0.2.0"}
    expected = {f"server_management_{field}": value for field, value in fields.items()}
    expected["ansible_host"] = "192.0.2.0"
    assert (host.variables, host.groups, host.name) == (expected, [], "")
    assert (host.preferences, host.server.id) == ([SERVER["name"]], "srv_0")
    assert warnings == lines == []


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    "address",
    ["1.0.0.0", "10.0.0.1", "126.255.255.255", "169.254.0.1", "223.255.255.255", "127.0.0.1"],
)
def test_a_unicast_address_becomes_ansible_host(address: str) -> None:
    is_loopback = address.startswith("127.")  # usable only if the API is on loopback, too
    (host,), warnings, _lines = _hosts({"ipv4": address}, has_loopback=is_loopback)
    assert (host.variables["ansible_host"], warnings) == (address, [])


ADDRESSES = [
    *("127.0.0.1", "", "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "255.255.255.255"),
    *("256.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.4.", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4\n"),
    *("1.2.3.4/24", "1.2.3.4:22", "01.2.3.4", "1.2.3.04", "1.2.3.-4", "0x01020304", "16909060"),
    *("\u0661.\u0662.\u0663.\u0664", "1\uff0e2\uff0e3\uff0e4", "0x01.2.3.4"),
    *("::1", "::ffff:1.2.3.4", "localhost", "host.example.com", "-oProxyCommand=id", "{{ 1 }}"),
    *(None, 5, ["1.2.3.4"], ...),
]


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("address", ADDRESSES, ids=ascii)
def test_an_unusable_address_is_replaced_with_a_warning(address: Any) -> None:
    (host,), warnings, _lines = _hosts({"ipv4": address})
    assert host.variables["ansible_host"] == NO_ADDRESS == "no-usable-ipv4.invalid."
    assert any(f"so ansible_host is {NO_ADDRESS}" in warning for warning in warnings)
    assert ("server_management_ipv4" in host.variables) == isinstance(address, str)


@pytest.mark.promise("silent")
def test_each_kind_of_warning_names_the_first_servers_on_one_line() -> None:
    changes = [{"region": number, "plan": ..., "a-b": 1} for number in range(5)]
    hosts, warnings, lines = _hosts(*changes, {"ipv4": "x\ny", "name": None}, {"ipv4": ""})
    assert len(hosts) == 7
    name = SERVER["name"]
    first = f"{name} (srv_0), {name} (srv_1), {name} (srv_2)"
    assert warnings == [
        "The field name is missing or not text for 1 server: srv_5.",
        f"The field plan is missing or not text for 5 servers: {first} and 2 more.",
        f"The field region is missing or not text for 5 servers: {first} and 2 more.",
        f"No usable IPv4 address for 2 servers: srv_5, {name} (srv_6), so ansible_host is "
        f"{NO_ADDRESS}",
    ]
    assert hosts[5].preferences == []  # otherwise, there would be a warning about its host name
    # Nobody can do anything about this.
    assert lines == ["Fields that can't become variables: a-b."]


@pytest.mark.promise("silent")
def test_servers_left_out_and_addresses_of_compose_cause_no_warning() -> None:
    hosts, _warnings_of_all, _lines = _hosts({"ipv4": "", "plan": 5}, {"ipv4": ""})
    hosts[1].variables["ansible_host"] = "web-1.example.com"
    assert _warnings(hosts[1:]) == []


@pytest.mark.promise("misdirected")
def test_an_address_that_compose_made_unusable_causes_another_warning() -> None:
    hosts, _warnings_of_all, _lines = _hosts(
        {"name": "n0"}, {"name": "n1", "ipv4": ""}, {"name": "n2"}
    )
    for host in hosts:
        host.variables["ansible_host"] = NO_ADDRESS
    hosts[0].replaced.add("ansible_host")
    hosts[2].replaced.update(["ansible_host", "ansible_ssh_host"])
    *_others, of_api, composed, of_ssh = _warnings(hosts)
    assert "No usable IPv4 address for 1 server: n1 (srv_1), so ansible_host is " in of_api
    start = "compose: ansible_host: not an address for 2 servers: n0 (srv_0), n2 (srv_2), so it is "
    assert composed == start + NO_ADDRESS
    start = "compose: ansible_ssh_host: not an address for 1 server: n2 (srv_2), so it is "
    assert of_ssh == start + NO_ADDRESS


@pytest.mark.promise("misdirected")
def test_hosts_with_the_same_address_of_the_api_cause_one_warning() -> None:
    addresses = ["192.0.2.9", "192.0.2.8", "192.0.2.9", "192.0.2.8", "192.0.2.7", "", None]
    changes = [{"name": f"n{number}", "ipv4": ipv4} for number, ipv4 in enumerate(addresses)]
    hosts, (*_others, warning), _lines = _hosts(*changes)
    assert warning.startswith("4 servers do not have an IPv4 address of their own: ")
    assert ": n0 (srv_0), n1 (srv_1), n2 (srv_2) and 1 more, with 192.0.2.8, 192.0.2.9. " in warning
    # Another address of compose, and servers that the file leaves out.
    hosts[0].variables["ansible_host"] = "192.0.2.7"
    (warning,) = _warnings(hosts[:5])
    assert (
        "2 servers do not have an IPv4 address of their own: n1 (srv_1), n3 (srv_3), with"
        in warning
    )
    assert _warnings(hosts[:3]) == []


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("prefix", "field"),
    [
        ("server_management_", "a-b"),
        ("server_management_", "é"),
        ("server_management_", "a\n"),
        ("", ""),
        ("", "1a"),
        ("", "class"),
        ("", "ansible_host"),
        ("ansible", "_host"),
        ("", "__ansible_vault"),
        ("_", "_ansible_unsafe"),
    ],
)
def test_a_field_never_becomes_a_reserved_or_invalid_variable(prefix: str, field: str) -> None:
    hosts, warnings, (line,) = _hosts({field: "hostile"}, {field: "x"}, prefix=prefix)
    for host in hosts:
        assert "hostile" not in host.variables.values()
        names = [name for name in FIELDS if prefix or name != "name"]
        assert set(host.variables) == {"ansible_host", *(f"{prefix}{name}" for name in names)}
    assert line.startswith("Fields that can't become variables: ")
    assert warnings == []


# The names that Ansible itself lists; its other variables start with ansible_.
OF_ANSIBLE = {
    *get_reserved_names(),
    *getattr(constants, "INTERNAL_RESULT_KEYS", ()),
    *constants.COMMON_CONNECTION_VARS,
    *(name for names in constants.MAGIC_VARIABLE_MAPPING.values() for name in names),
    *Templar(loader=None).environment.globals,
    *getattr(constants, "INTERNAL_STATIC_VARS", ()),
}


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    "name",
    [
        *sorted(name for name in OF_ANSIBLE if not name.startswith("ansible_")),
        *("inventory_dir", "omit", "lookup", "play_hosts", "item", "delegated_vars"),
    ],
)
def test_a_name_that_ansible_uses_does_not_become_a_variable(name: str) -> None:
    for prefix in ("", name[:3], name[:-1]):
        field = name.removeprefix(prefix)
        (host,), _warnings_of_all, (line,) = _hosts({field: "hostile", "id": "a"}, prefix=prefix)
        assert name not in host.variables
        assert field in line


# Including surrogates, which JSON can contain without a partner.
ids = st.text(st.characters(codec=None), min_size=1, max_size=40)
spellings = st.text(st.sampled_from("aAbB._-+ 0"), min_size=1, max_size=6)


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("server_id", "remainder"),
    [
        *((plain, None) for plain in ("srv_4f2a91c07d", "0", "-x", "..", "a.b-c_d")),
        ("srv_AB", "srv_"),
        ("srv_ab -o ProxyCommand=id", "srv_ab-oroxyommandid"),
        ("%h'\"$(id)`id`\\", "hidid"),
        ("{{ 7 * 7 }}", "77"),
        ("\ud800", ""),
        ("a+b", "ab"),
    ],
)
def test_an_id_is_its_alias_or_its_allowed_characters_and_a_digest(
    server_id: str, remainder: str | None
) -> None:
    alias = host_key_alias(server_id)
    host = Host(Server(server_id, {}), {"ansible_scp_extra_args": "of compose"})
    set_host_key_aliases([host])
    option = f"-o HostKeyAlias={alias}"
    assert host.variables == {
        "ansible_ssh_extra_args": option,
        "ansible_sftp_extra_args": option,
        "ansible_scp_extra_args": "of compose",
    }
    if remainder is None:
        assert alias == server_id
    else:
        assert re.fullmatch(re.escape(remainder) + r"\+[0-9a-f]{32}", alias)


@pytest.mark.promise("misdirected")
@given(st.lists(ids | spellings, min_size=2, max_size=8, unique=True))
@example(["srv_ab", "srv_AB", "SRV_AB", "srv_ab ", " srv_ab"])
def test_different_ids_never_share_an_alias_in_any_case(server_ids: list[str]) -> None:
    taken = [*server_ids, *map(host_key_alias, server_ids)]
    aliases = {server_id: host_key_alias(server_id).lower() for server_id in taken}
    assert len(set(aliases.values())) == len(aliases)
    assert all(re.fullmatch(r"[a-z0-9._+-]+", alias) for alias in aliases.values())
