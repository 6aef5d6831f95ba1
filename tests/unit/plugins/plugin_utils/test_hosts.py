# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import re
from typing import Any

import pytest
from ansible import constants
from ansible.template import Templar
from ansible.vars.reserved import get_reserved_names
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    Server,
    merge,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    NO_ADDRESS,
    RESERVED_VARIABLES,
    Host,
    host_key_alias,
    hosts_from,
    report_servers,
    set_host_key_aliases,
)
from sandbox.account import SERVER


def _hosts(*changes, prefix="server_management_"):
    """Return hosts of valid servers with these changes, for an API that is not on loopback."""
    return hosts_from(_servers(*changes), prefix, False, _ignore)


def _servers(*changes):
    """Return valid servers with these changes; a field with the value ... is left out."""
    servers = {}
    for number, change in enumerate(changes):
        element: dict[str, Any] = {
            **SERVER,
            "id": f"srv_{number}",
            "name": f"n{number}",
            "ipv4": f"192.0.2.{number}",
        }
        element.update(change)
        merge(servers, [{key: value for key, value in element.items() if value is not ...}])
    return list(servers.values())


def _ignore(_line):
    """Don't show a line of -v."""


def _warnings(hosts):
    warnings = []
    report_servers(hosts, warnings.append)
    return warnings


def test_a_server_becomes_a_host_with_prefixed_variables():
    (server,) = _servers({"x_undocumented": ["a", {"b": None}]})
    (host,) = hosts_from([server], "server_management_", False, pytest.fail)
    variables = dict(host.variables)
    assert variables.pop("ansible_host") == "192.0.2.0"
    assert variables == {f"server_management_{key}": text for key, text in server.fields.items()}
    assert host == Host(server, host.variables, address="192.0.2.0", preferences=["n0"])
    assert _warnings([host]) == []


@pytest.mark.parametrize(
    "address", ["1.0.0.0", "10.0.0.1", "126.255.255.255", "169.254.0.1", "223.255.255.255"]
)
def test_a_unicast_address_becomes_ansible_host(address):
    hosts = _hosts({"ipv4": address})
    assert hosts[0].variables["ansible_host"] == address
    assert _warnings(hosts) == []


def test_a_loopback_address_is_usable_if_the_api_is_on_this_machine():
    (host,) = hosts_from(_servers({"ipv4": "127.0.0.1"}), "server_management_", True, _ignore)
    assert host.variables["ansible_host"] == host.address == "127.0.0.1"


ADDRESSES = [
    "127.0.0.1", "", "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "255.255.255.255",
    "256.0.0.1", "1.2.3", "1.2.3.4.5", " 1.2.3.4", "1.2.3.4\n",
    "1.2.3.4/24", "01.2.3.4", "1.2.3.04", "16909060",
    "\u0661.\u0662.\u0663.\u0664", "1\uff0e2\uff0e3\uff0e4", "::1", "host.example.com",
    None, 5, ["1.2.3.4"], ...,
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES, ids=ascii)
def test_an_unusable_address_is_replaced_with_a_warning(address):
    hosts = _hosts({"ipv4": address})
    assert hosts[0].address == ""
    assert hosts[0].variables["ansible_host"] == "no-usable-ipv4.invalid."
    (warning,) = _warnings(hosts)
    assert warning == (
        "No usable IPv4 address for 1 server: n0 (srv_0), so ansible_host is "
        "no-usable-ipv4.invalid."
    )


def test_each_kind_of_warning_names_the_first_servers():
    bad = {"region": 5, "plan": ...}
    hosts = _hosts(bad, bad, bad, bad, bad, {"ipv4": "x\ny", "name": None}, {"ipv4": ""})
    first = "n0 (srv_0), n1 (srv_1), n2 (srv_2) and 2 more"
    assert _warnings(hosts) == [
        "The field name is missing or not text for 1 server: srv_5.",
        f"The field plan is missing or not text for 5 servers: {first}.",
        f"The field region is missing or not text for 5 servers: {first}.",
        "No usable IPv4 address for 2 servers: n6 (srv_6), srv_5, so ansible_host is "
        "no-usable-ipv4.invalid.",
    ]


def test_a_server_without_a_name_has_no_preferences():
    # Otherwise, there would be a second warning, about its host name.
    (host,) = _hosts({"name": None})
    assert host.preferences == []


def test_an_address_of_compose_needs_none_of_the_api():
    (host,) = _hosts({"ipv4": ""})
    host.variables["ansible_host"] = "web-1.example.com"
    assert _warnings([host]) == []


def test_an_address_that_compose_made_unusable_causes_another_warning():
    hosts = _hosts({}, {"ipv4": ""}, {})
    for host in hosts:
        host.variables["ansible_host"] = NO_ADDRESS
    hosts[0].replaced = {"ansible_host"}
    hosts[2].replaced = {"ansible_host", "ansible_ssh_host"}
    assert _warnings(hosts) == [
        "No usable IPv4 address for 1 server: n1 (srv_1), so ansible_host is "
        "no-usable-ipv4.invalid.",
        "compose: ansible_host: not an address for 2 servers: n0 (srv_0), n2 (srv_2), so it is "
        "no-usable-ipv4.invalid.",
        "compose: ansible_ssh_host: not an address for 1 server: n2 (srv_2), so it is "
        "no-usable-ipv4.invalid.",
    ]


def test_hosts_with_the_same_address_of_the_api_cause_one_warning():
    nine = {"ipv4": "192.0.2.9"}
    eight = {"ipv4": "192.0.2.8"}
    hosts = _hosts(nine, eight, nine, eight, {})
    (warning,) = _warnings(hosts)
    assert warning.startswith(
        "4 servers do not have an IPv4 address of their own: n0 (srv_0), n1 (srv_1), n2 (srv_2) "
        "and 1 more, with 192.0.2.8, 192.0.2.9. "
    )


def test_hosts_for_which_compose_sets_another_address_do_not_share_one():
    hosts = _hosts({"ipv4": "192.0.2.9"}, {"ipv4": "192.0.2.9"}, {"ipv4": "192.0.2.7"})
    hosts[0].variables["ansible_host"] = "192.0.2.7"
    assert _warnings(hosts) == []


@pytest.mark.parametrize(
    ("prefix", "field"),
    [
        ("server_management_", "a-b"),
        ("", "class"),
        ("ansible", "_host"),
        ("_", "_ansible_unsafe"),
    ],
)
def test_a_field_never_becomes_a_reserved_or_invalid_variable(prefix, field):
    (host,) = _hosts({field: "hostile"}, prefix=prefix)
    assert "hostile" not in host.variables.values()
    # Nobody can do anything about this.
    assert _warnings([host]) == []


def test_a_field_without_a_variable_is_named_once():
    lines = []
    hosts_from(_servers({"a-b": 1}, {"a-b": 2}), "server_management_", False, lines.append)
    assert lines == ["Fields that can't become variables: a-b."]


# The names that Ansible itself lists; its other variables start with ansible_.
OF_ANSIBLE = {
    *get_reserved_names(),
    *getattr(constants, "INTERNAL_RESULT_KEYS", ()),
    *constants.COMMON_CONNECTION_VARS,
    *(name for names in constants.MAGIC_VARIABLE_MAPPING.values() for name in names),
    *Templar(loader=None).environment.globals,
    *getattr(constants, "INTERNAL_STATIC_VARS", ()),
}


NAMES = sorted(name for name in OF_ANSIBLE if not name.startswith("ansible_"))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_ansible_uses_does_not_become_a_variable(name):
    for prefix in ("", name[:3], name[:-1]):
        field = name.removeprefix(prefix)
        (host,) = _hosts({field: "hostile", "id": "a"}, prefix=prefix)
        assert name not in host.variables


def test_the_reserved_names_include_those_that_ansible_does_not_list():
    others = {"inventory_dir", "omit", "lookup", "play_hosts", "item", "delegated_vars"}
    assert others <= RESERVED_VARIABLES


ids = st.text(min_size=1, max_size=40)
spellings = st.text(st.sampled_from("aAbB._-+ 0"), min_size=1, max_size=6)


@pytest.mark.parametrize("server_id", ["srv_4f2a91c07d", "0", "-x", "..", "a.b-c_d"])
def test_an_id_of_allowed_characters_is_its_alias(server_id):
    assert host_key_alias(server_id) == server_id


@pytest.mark.parametrize(
    ("server_id", "remainder"),
    [
        ("srv_AB", "srv_"),
        ("srv_ab -o ProxyCommand=id", "srv_ab-oroxyommandid"),
        ("%h'\"$(id)`id`\\", "hidid"),
        ("{{ 7 * 7 }}", "77"),
        ("é", ""),
        ("a+b", "ab"),
    ],
)
def test_another_id_has_its_allowed_characters_and_a_digest(server_id, remainder):
    alias = host_key_alias(server_id)
    assert re.fullmatch(re.escape(remainder) + r"\+[0-9a-f]{32}", alias)


def test_each_program_of_ssh_gets_the_alias_unless_compose_has_set_arguments():
    host = Host(Server("srv_1", {}), {"ansible_scp_extra_args": "of compose"})
    set_host_key_aliases([host])
    assert host.variables == {
        "ansible_ssh_extra_args": "-o HostKeyAlias=srv_1",
        "ansible_sftp_extra_args": "-o HostKeyAlias=srv_1",
        "ansible_scp_extra_args": "of compose",
    }


@given(st.lists(ids | spellings, min_size=2, max_size=8, unique=True))
@example(["srv_ab", "srv_AB", "SRV_AB", "srv_ab ", " srv_ab"])
def test_different_ids_never_share_an_alias_in_any_case(server_ids):
    taken = [*server_ids, *map(host_key_alias, server_ids)]
    aliases = {server_id: host_key_alias(server_id).lower() for server_id in taken}
    assert len(set(aliases.values())) == len(aliases)
    assert all(re.fullmatch(r"[a-z0-9._+-]+", alias) for alias in aliases.values())
