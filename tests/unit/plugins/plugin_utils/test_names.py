# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import (
    CHANGED,
    NOT_UNIQUE,
    TAKEN,
    assign_names,
)
from support import meanings

GROUPS = frozenset({"all", "ungrouped", "server_management", "status_running"})


def _assign(account, reserved=GROUPS, taken=(), **fields):
    """Name servers that are given by their ids, each with its preferences."""
    preferences = []
    for server_id, texts in account.items():
        server = Server(server_id, fields)
        preferences.append((server, texts))

    def is_taken(name, _server):
        return name in taken

    extensions = [".yml", ".vars", "ini", ""]
    return assign_names(preferences, reserved.__contains__, is_taken, extensions)


def _assign_first(*texts, taken=()):
    """Name the servers s0, s1 and so on, each with one preference and with the name "web"."""
    account = {f"s{number}": [text] for number, text in enumerate(texts)}
    return _assign(account, taken=taken, name="web")


def _name(preferences, taken=(), **fields):
    """Name one server, srv_1; return its name and why that is not the first preference."""
    naming = _assign({"srv_1": preferences}, taken=taken, **fields)
    name = naming.names["srv_1"]
    if not naming.renamed:
        return name, ""
    return name, naming.renamed["srv_1"].reason


def _obstacle(name, server):
    return f"({name} is not {server.id}.)"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("web 1", "web_1"),
        ("a/b:c", "a_b_c"),
        ("漢字", "_"),
        ("a\r\nb", "a_b"),
        ("{{ 1 }}", "_1_"),
        # Ansible reads host_vars/web.yml for the host web, too.
        ("web.yml", "web_yml"),
        ("web.YAML", "web_YAML"),
        ("web.Json", "web_Json"),
        ("web.yml.json", "web.yml_json"),
        ("web.vars", "web_vars"),
        ("web.ini", "web_ini"),
    ],
)
def test_characters_that_a_name_must_not_have_are_replaced(name, safe):
    assert _name([name]) == (safe, CHANGED)


USABLE = [
    "a" * 253, "_web", "web-", "web.", "ALL", "localhost.example.com", "mylocalhost", "localhost5",
    "1270.0.0.1", "127.0.0.1.example.com", "0-1", "0x7f000001x", "yml", "web.ymlx", "web.yml.",
    "webyml", "3", "2024", "10.5", "1.2.3", "1.2.3.4.5", "1.2.3.256",
]  # fmt: skip


@pytest.mark.parametrize("name", USABLE)
def test_other_names_are_used_as_they_are(name):
    assert _name([name]) == (name, "")


UNUSABLE = [
    "-web", "--option", ".", "..", ".hidden", "../../etc", "a" * 254, "all", "status_running",
    "localhost", "LOCALHOST", "localhost.", "localhost..", "localhost.localdomain", "localhost4",
    "localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "api.localhost", "127.0.0.1",
    "127.0.0.1.", "127.255.255.254", "127.1", "0177.0.0.1", "0x7f.1", "0x7f000001", "0X7F000001",
    "2130706433", "017700000001", "0", "0.0.0.0", "0x0",
]  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_unusable_name_falls_back_to_the_next_preference_with_a_report(name):
    assert _name([name, "second"]) == ("second", CHANGED)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("192.0.2.2", {"name": "192.0.2.2", "ipv4": "192.0.2.1"}),
        ("192.0.2.2", {"ips": ["192.0.2.2"]}),
        ("010.0x2.3.4", {"ipv4": "10.2.3.4"}),
    ],
)
def test_an_address_that_only_the_name_of_a_server_has_is_not_used(name, fields):
    with_id = f"{name}_srv_1"
    assert _name([name], **fields) == (with_id, CHANGED)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("128.0.0.1", {"ipv4": "128.0.0.1"}),
        ("10.0.0.5", {"ipv4": "192.0.2.1", "private_ip": "10.0.0.5"}),
    ],
)
def test_an_address_of_a_server_can_be_its_name(name, fields):
    assert _name([name], **fields) == (name, "")


@pytest.mark.parametrize(
    ("preferences", "name"),
    [
        (["status_running"], "status_running_srv_1"),
        (["", "127.0.0.1"], "127.0.0.1_srv_1"),
        (["all", "ungrouped"], "all_srv_1"),
        (["all", "all"], "all_srv_1"),
        (["db1.yml.json"], "db1.yml_json"),
        # With the id, these can't be used either.
        (["../../etc"], "srv_1"),
        (["a" * 254], "srv_1"),
        ([""], "srv_1"),
    ],
    ids=str,
)
def test_without_a_usable_name_the_id_is_added_or_used(preferences, name):
    assert _name(preferences) == (name, CHANGED)


def test_a_server_without_preferences_has_its_id_without_a_report():
    assert _name([]) == ("srv_1", "")


@pytest.mark.parametrize("server_id", ["-1", ".a", "localhost", "all", "a" * 254, "127.1"])
def test_a_server_without_a_usable_name_and_id_is_an_error(server_id):
    message = f"^hostnames: no name is left for the server {re.escape(server_id[:60])}: "
    with pytest.raises(OptionError, match=message):
        _assign({server_id: [""]})


def test_ids_that_become_equal_belong_to_no_server():
    with pytest.raises(OptionError, match="no name is left for the server a/1: "):
        _assign({"a/1": [""], "a:1": [""]})


@pytest.mark.parametrize(
    ("first", "names"),
    [
        (["web", "web", "web 1", "web/1"], ["web_1_s2", "web_1_s3", "web_s0", "web_s1"]),
        # Adding a server keeps the names that are unique.
        (["web", "db", "web 1", "db", "web-1"], ["db_s1", "db_s3", "web", "web-1", "web_1"]),
        (["db.yml", "db.yml"], ["db_yml_s0", "db_yml_s1"]),
        # With the id, the name would be too long.
        (["w" * 251, "w" * 251], ["s0", "s1"]),
        # A name that was proposed before is not given.
        (["web", "web", "web_s0"], ["s0", "web_s0", "web_s1"]),
    ],
)
def test_a_name_that_several_servers_want_goes_to_none(first, names):
    naming = _assign_first(*first)
    assert sorted(naming.names.values()) == names


def test_a_name_of_another_source_is_not_used():
    assert _name(["web", "web"], taken=["web"]) == ("web_srv_1", TAKEN)
    assert _name(["web"], taken=["web", "web_srv_1"]) == ("srv_1", TAKEN)
    with pytest.raises(OptionError, match="no name is left for the server srv_1: "):
        _name(["web"], taken=["web", "web_srv_1", "srv_1"])


@pytest.mark.parametrize(
    ("first", "reason"), [("web", NOT_UNIQUE), ("other", TAKEN), ("o t", TAKEN), ("all", CHANGED)]
)
def test_a_first_preference_that_is_lost_is_reported(first, reason):
    account = {"a": [first, "eu"], "b": ["web"], "c": ["web"]}
    naming = _assign(account, taken=["other", "o_t"])
    assert naming.names["a"] == "eu"
    assert naming.renamed["a"].reason == reason


def test_an_empty_first_preference_is_not_reported():
    assert _name(["", "eu"]) == ("eu", "")


def test_a_problem_names_what_the_first_three_servers_have_become():
    account = {"s3": ["web"], "s2": ["web"], "s1": ["web"], "s0": ["web"]}
    naming = _assign(account, name="web")
    assert list(naming.problems(_obstacle)) == [
        "4 servers do not have their preferred names, because other servers have the same name: "
        "web (s0) is web_s0, web (s1) is web_s1, web (s2) is web_s2 and 1 more."
    ]


def test_a_problem_with_other_sources_describes_the_first_three_obstacles():
    naming = _assign_first("a", "b", "c", "d", taken="abcd")
    assert list(naming.problems(_obstacle)) == [
        "4 servers do not have their preferred names, because hosts of other sources have the same "
        "name: web (s0) is a_s0, web (s1) is b_s1, web (s2) is c_s2 and 1 more. "
        "(a is not s0.) (b is not s1.) (c is not s2.)"
    ]


def test_a_problem_of_one_server_is_described_in_the_singular():
    naming = _assign_first("w b")
    assert list(naming.problems(_obstacle)) == [
        "1 server does not have its preferred name, because a host can't have such a name: "
        "web (s0) is w_b."
    ]


IDS = ["a", "b", "c", "a b", "a/b", "-", "localhost", "web", "é", "web.yml", "web_yml"]
NAMES = [
    "", "web", "web_a", "web_b", "a", "b", "a_b", "a b", "-x", "all", "127.1", "::1", "w" * 252,
    "a.yml", "web.yml", "web_yml", "b.JSON", *meanings.TEXTS,
]  # fmt: skip
is_host_name = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}").fullmatch
is_variable_file = re.compile(r".*\.(yml|yaml|json|vars|ini)").fullmatch
ACCOUNTS = st.dictionaries(
    st.sampled_from(IDS) | st.text(min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES) | st.text(max_size=5), min_size=2, max_size=2),
    max_size=9,
)


@given(ACCOUNTS, st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES)))
def test_any_account_gets_unique_usable_names_in_any_order(account, groups, taken):
    reserved = GROUPS | groups
    backwards = dict(reversed(account.items()))
    try:
        naming = _assign(account, reserved, taken)
    except OptionError:
        with pytest.raises(OptionError):
            _assign(backwards, reserved, taken)
        return
    assert _assign(backwards, reserved, taken).names == naming.names
    assert naming.names.keys() == account.keys()
    names = set(naming.names.values())
    assert len(names) == len(account)
    assert names.isdisjoint(reserved | taken)
    for name in names:
        assert is_host_name(name)
        assert not is_variable_file(name.lower())
    for server_id, name in naming.names.items():
        first = account[server_id][0] or account[server_id][1]
        is_reported = server_id in naming.renamed
        assert is_reported == (name != first)
