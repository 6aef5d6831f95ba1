# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from ansible import constants
from ansible.template import Templar
from ansible.vars.reserved import get_reserved_names
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    FIELDS,
    Server,
    merge,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import ReservedNames
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    NO_ADDRESS,
    Host,
    host_key_alias,
    hosts_from,
    name_and_compose,
    name_hosts,
    report_names,
    report_servers,
    set_host_key_aliases,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import Naming
from sandbox.account import SERVER


def _hosts(
    *changes: dict[str, Any], prefix: str = "server_", has_loopback: bool = False
) -> tuple[list[Host], list[str]]:
    """Return hosts of servers that differ from a valid one, and the warnings."""
    servers: dict[str, Server] = {}
    for number, change in enumerate(changes):
        element = {**SERVER, "id": f"srv_{number}", **change}
        merge(servers, [{key: value for key, value in element.items() if value is not ...}])
    warnings: list[str] = []
    hosts = hosts_from(list(servers.values()), prefix, has_loopback)
    report_servers(hosts, prefix, warnings.append)
    return hosts, warnings


def test_a_server_becomes_a_host_with_prefixed_variables() -> None:
    undocumented = {"x_undocumented": ["a", {"b": None}]}
    (host,), warnings = _hosts(undocumented)
    fields = {**SERVER, **undocumented, "id": "srv_0"}
    expected = {f"server_{field}": value for field, value in fields.items()}
    expected["ansible_host"] = SERVER["ipv4"]
    assert (host.variables, host.groups, host.name, warnings) == (expected, [], "", [])
    assert (host.preferences, host.server.id) == ([SERVER["name"]], "srv_0")


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    "address",
    ["1.0.0.0", "10.0.0.1", "126.255.255.255", "169.254.0.1", "223.255.255.255", "127.0.0.1"],
)
def test_a_unicast_address_becomes_ansible_host(address: str) -> None:
    is_loopback = address.startswith("127.")  # usable only if the API is on loopback, too
    (host,), warnings = _hosts({"ipv4": address}, has_loopback=is_loopback)
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
    (host,), warnings = _hosts({"ipv4": address})
    assert host.variables["ansible_host"] == NO_ADDRESS == "no-usable-ipv4.invalid."
    assert any(f"so ansible_host is {NO_ADDRESS}" in warning for warning in warnings)
    assert ("server_ipv4" in host.variables) == isinstance(address, str)


@pytest.mark.promise("silent")
def test_each_kind_of_warning_names_the_first_servers_on_one_line() -> None:
    changes = [{"region": number, "plan": ..., "a-b": 1} for number in range(5)]
    hosts, warnings = _hosts(*changes, {"ipv4": "x\ny", "name": None}, {"ipv4": "", "b c": 2})
    assert len(hosts) == 7
    name = SERVER["name"]
    assert warnings[0].startswith("Fields that are missing or not text")
    first = f"{name} (srv_0), {name} (srv_1), {name} (srv_2)"
    assert warnings[1:] == [
        f"Fields that can't become variables: a-b, b c; of 6 servers: {first} and 3 more.",
        f"No usable IPv4 address for 2 servers: srv_5, {name} (srv_6), so ansible_host is "
        f"{NO_ADDRESS}",
    ]


@pytest.mark.promise("silent")
def test_servers_left_out_and_addresses_of_compose_cause_no_warning() -> None:
    hosts, _warnings = _hosts({"ipv4": "", "a-b": 1, "plan": 5}, {"ipv4": ""})
    hosts[1].variables["ansible_host"] = "web-1.example.com"
    warnings: list[str] = []
    report_servers(hosts[1:], "server_", warnings.append)
    assert warnings == []


@pytest.mark.promise("silent")
@pytest.mark.parametrize("kind", ["not_unique", "taken", "changed"])
def test_a_report_of_names_is_correct_for_one_server_and_for_several(kind: str) -> None:
    hosts, _warnings = _hosts(*({"name": name} for name in "dcba"))
    warnings: list[str] = []
    for ids in (["srv_3"], [host.server.id for host in hosts]):
        naming = Naming()
        setattr(naming, kind, ids)
        report_names(naming, hosts, False, warnings.append)
        with pytest.raises(OptionError, match=rf"^hostnames: {len(ids)} server"):
            report_names(naming, hosts, True, warnings.append)
    one, several = warnings
    assert one.startswith("1 server is not named as preferred, because ")
    assert one.endswith(": a (srv_3).")
    assert several.startswith("4 servers are not named as preferred, because ")
    assert several.endswith(": a (srv_3), b (srv_2), c (srv_1) and 1 more.")


@pytest.mark.parametrize(("extensions", "name"), [([".vars"], "a_vars"), (None, "a.vars")])
def test_a_host_name_does_not_end_like_a_file_with_variables(
    extensions: list[str] | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "YAML_FILENAME_EXTENSIONS", extensions)
    hosts, _warnings = _hosts({"name": "b"}, {"name": "a.vars"})
    name_hosts(hosts, (), Mock(return_value=False))
    assert [host.name for host in hosts] == [name, "b"]


@pytest.mark.promise("misdirected")
def test_a_host_gets_another_name_if_an_expression_makes_a_group_with_its_name() -> None:
    def name_with(make: Callable[[Host], str]) -> tuple[list[Host], Naming]:
        hosts, _warnings = _hosts({"name": "web"}, {"name": "db"})
        made = SimpleNamespace(
            parents=[("above", "web")],
            compose_all=lambda hosts, _inventory: [
                SimpleNamespace(variables={"a": host.name}, groups=[make(host)]) for host in hosts
            ],
        )
        reserved = ReservedNames({"group": "g"}.get, [])
        is_taken = Mock(return_value=False)
        return hosts, name_and_compose(hosts, made, reserved, is_taken, None)

    hosts, naming = name_with(lambda host: "made")
    assert naming.changed == ["srv_0"]
    assert [host.name for host in hosts] == ["db", "web_srv_0"]
    assert [host.variables["a"] for host in hosts] == ["db", "web_srv_0"]
    assert [host.groups for host in hosts] == [["made"], ["made"]]
    message = "keyed_groups: creates groups with the names of hosts: srv_0, srv_1."
    with pytest.raises(OptionError, match=f"^{message} Set prefix.$"):
        name_with(lambda host: host.name)


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("prefix", "field"),
    [
        ("server_", "a-b"),
        ("server_", "é"),
        ("server_", "a\n"),
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
    hosts, warnings = _hosts({field: "hostile", "ipv4": "1.2.3.4"}, {field: "x"}, prefix=prefix)
    for host in hosts:
        assert "hostile" not in host.variables.values()
        names = [name for name in FIELDS if prefix or name != "name"]
        assert set(host.variables) == {"ansible_host", *(f"{prefix}{name}" for name in names)}
    assert len(warnings) == 1
    assert warnings[0].startswith("Fields that can't become variables: ")


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
        (host,), warnings = _hosts({field: "hostile", "id": "srv_0"}, prefix=prefix)
        assert name not in host.variables
        assert field in warnings[0]


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
