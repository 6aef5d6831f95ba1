# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import re

import pytest
import yaml
from ansible import constants
from ansible.vars.reserved import get_reserved_names
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._models import FIELDS, Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _hosts
from sandbox.account import SERVER


def hosts_with(*addresses):
    """Return the hosts n0, n1 and so on, of servers with these addresses."""
    hosts = []
    for number, address in enumerate(addresses):
        fields = {**SERVER, "name": f"n{number}", "ipv4": address}
        hosts.append(host_of(fields, server_id=f"srv_{number}"))
    return hosts


def host_of(fields, prefix="x_", has_loopback=False, server_id="srv_1"):
    """Return the host of a server with only these fields."""
    server = Server(server_id, fields)
    variables = _hosts.variable_names([server], prefix, print)
    (host,) = _hosts.hosts_from([server], variables, has_loopback)
    return host


def warnings_about(hosts):
    """Return the warnings about the servers of hosts."""
    warnings = []
    _hosts.warn_of_faults(hosts, warnings.append)
    return warnings


def test_a_server_becomes_a_host_with_prefixed_variables():
    host = host_of({"ipv4": "192.0.2.1", "later": ["a", 1]})
    assert host.address == "192.0.2.1"
    variables = {"ansible_host": "192.0.2.1", "x_ipv4": "192.0.2.1", "x_later": ["a", 1]}
    assert host.variables == variables


def test_a_host_is_known_by_its_name_but_not_by_the_id_alone():
    host = host_of({"name": "web"}, server_id="srv_1")
    labels = []
    for host.name in ("", "srv_1", "prod-web"):
        labels.append(host.label)
    assert labels == ["web (srv_1)", "web (srv_1)", "prod-web"]


def test_text_of_a_server_is_marked(monkeypatch):
    monkeypatch.setattr(_hosts, "mark", str.upper)
    assert host_of({"name": "web"}).variables["x_name"] == "WEB"


# The first and the last ones, those beside loopback, and private ones, which a VPN can reach.
ADDRESSES = "1.0.0.0 126.255.255.255 128.0.0.0 223.255.255.255 10.0.0.1 169.254.0.1"


@pytest.mark.parametrize("address", ADDRESSES.split())
def test_a_unicast_address_becomes_ansible_host(address):
    (host,) = hosts_with(address)
    assert host.variables["ansible_host"] == address
    assert warnings_about([host]) == []


def test_a_loopback_address_is_usable_if_the_api_is_on_this_machine():
    host = host_of({"ipv4": "127.0.0.1"}, has_loopback=True)
    assert host.variables["ansible_host"] == "127.0.0.1"


UNUSABLE = yaml.safe_load(r"""
[127.0.0.1, 127.8.9.10, '', 0.0.0.0, 0.1.2.3, 224.0.0.1, 239.255.255.250, 255.255.255.255,
 256.0.0.1, 1.2.3, 1.2.3.4.5, ' 1.2.3.4', "1.2.3.4\n", 1.2.3.4/24, 01.2.3.4, 1.2.3.04, '16909060',
 "\u0661.\u0662.\u0663.\u0664", "1\uff0e2\uff0e3\uff0e4", '::1', host.example.com]
""")


@pytest.mark.parametrize("address", UNUSABLE, ids=ascii)
def test_an_unusable_address_is_replaced_with_a_warning(address):
    (host,) = hosts_with(address)
    assert host.variables["ansible_host"] == "no-usable-ipv4.invalid."
    assert len(warnings_about([host])) == 1


def test_a_missing_field_causes_one_warning():
    host = host_of({"id": "srv_1"})
    *of_fields, of_address = warnings_about([host])
    assert len(of_fields) == len(FIELDS) - 2
    assert "ipv4" not in "".join(of_fields)
    assert _hosts.NO_ADDRESS in of_address


def test_an_address_that_compose_made_unusable_causes_another_warning():
    hosts = hosts_with("192.0.2.1", "")
    hosts[0].variables["ansible_host"] = _hosts.NO_ADDRESS
    hosts[0].replaced = {"ansible_host", "ansible_ssh_host"}
    assert warnings_about(hosts) == [
        "No usable IPv4 address for 1 server: n1 (srv_1), so ansible_host is "
        "no-usable-ipv4.invalid.",
        "compose: ansible_host: not an address for 1 server: n0 (srv_0), so it is "
        "no-usable-ipv4.invalid.",
        "compose: ansible_ssh_host: not an address for 1 server: n0 (srv_0), so it is "
        "no-usable-ipv4.invalid.",
    ]


def test_hosts_with_the_same_address_of_the_api_cause_one_warning():
    hosts = hosts_with("192.0.2.9", "192.0.2.8", "192.0.2.9", "192.0.2.8", "192.0.2.1")
    (warning,) = warnings_about(hosts)
    assert warning.startswith(
        "IPv4 addresses are shared by 4 servers: n0 (srv_0), n1 (srv_1), n2 (srv_2) and 1 more, "
        "with 192.0.2.8, 192.0.2.9. "
    )


def test_hosts_for_which_compose_sets_another_address_need_none_and_share_none():
    hosts = hosts_with("", "192.0.2.9", "192.0.2.9", "192.0.2.7")
    hosts[0].variables["ansible_host"] = "web-1.example.com"
    hosts[1].variables["ansible_host"] = "192.0.2.7"
    assert warnings_about(hosts) == []


RESERVED = yaml.safe_load("""
[[server_management_, [a-b]], ['', [class]], [ta, [gs]], [ansible, [_host]], [_, [_ansible_unsafe]]]
""")
NAMES = [*get_reserved_names(), *constants.INTERNAL_STATIC_VARS]
NAMES += ["cycler", "item", "lookup", "none", "now", "omit", "q", "query", "range", "undef"]


@pytest.mark.parametrize(("prefix", "fields"), [*RESERVED, ("", NAMES)])
def test_no_field_becomes_an_invalid_variable_or_one_of_ansible(prefix, fields):
    host = host_of(dict.fromkeys(fields, "hostile"), prefix)
    assert host.variables == {"ansible_host": _hosts.NO_ADDRESS}


# In known_hosts files, so that no later version may change them.
ALIASES = yaml.safe_load("""
srv_4f2a91c07d: srv_4f2a91c07d
-x.a: -x.a
srv_AB: srv_+cc8a4a6182e63989ec89f1e42a0ba2f0
srv_ab -o ProxyCommand=id: srv_ab-oroxyommandid+cb2a3f54cc9e94da2438d5c83925b7ec
é: +4a99557e4033c3539de2eb65472017ca
a+b: ab+300273daf0bb57c239f83585d71ced54
""")


@pytest.mark.parametrize("server_id", ALIASES)
def test_the_alias_of_an_id_has_its_allowed_characters_and_a_digest_of_others(server_id):
    assert _hosts.host_key_alias(server_id) == ALIASES[server_id]


texts = st.text(min_size=1) | st.text(st.sampled_from("aAbB._-+ 0"), min_size=1)
is_alias = re.compile("[a-z0-9._+-]+").fullmatch


@given(st.sets(texts, max_size=8))
@example({"srv_ab", "srv_AB", "SRV_AB", "srv_ab ", " srv_ab"})
def test_different_ids_never_share_an_alias(server_ids):
    server_ids |= set(map(_hosts.host_key_alias, server_ids))
    aliases = set(map(_hosts.host_key_alias, server_ids))
    assert len(aliases) == len(server_ids)
    assert all(map(is_alias, aliases))


def test_each_program_of_ssh_gets_the_alias_unless_compose_has_set_arguments():
    server = Server("srv_1", {})
    own = {"ansible_scp_extra_args": "x", "ansible_control_path": "y"}
    host = _hosts.Host(server, {})
    composed = _hosts.Host(server, dict(own))
    _hosts.set_host_key_aliases([host, composed], "https://api.example.com")
    path = host.variables.pop("ansible_control_path")
    assert re.fullmatch(r"%\(directory\)s/[0-9a-f]{10}-%%p-%%r", path)
    names = ["ansible_ssh_extra_args", "ansible_sftp_extra_args", "ansible_scp_extra_args"]
    assert host.variables == dict.fromkeys(names, "-o HostKeyAlias=srv_1")
    assert composed.variables == {**host.variables, **own}


# The URL of an account, the id and the time of a server, and a variable with its address.
SERVERS = yaml.safe_load("""
- ['https://api.example.com', srv_1, '2026-01-01', ansible_host, 10.0.0.5]
- ['https://api.example.org', srv_1, '2026-01-01', ansible_host, 10.0.0.5]
- ['https://api.example.com', srv_2, '2026-01-01', ansible_host, 10.0.0.5]
- ['https://api.example.com', srv_1, '2026-01-02', ansible_host, 10.0.0.5]
- ['https://api.example.com', srv_1, '2026-01-01', ansible_host, 10.0.0.6]
- ['https://api.example.com', srv_1, '2026-01-01', ansible_ssh_host, 10.0.0.6]
""")


def test_different_servers_never_share_a_connection():
    paths = set()
    for root_url, server_id, created_at, variable, address in SERVERS:
        server = Server(server_id, {"created_at": created_at})
        host = _hosts.Host(server, {variable: address})
        _hosts.set_host_key_aliases([host], root_url)
        paths.add(host.variables["ansible_control_path"])
    assert len(paths) == len(SERVERS)
