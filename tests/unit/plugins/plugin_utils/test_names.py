# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import (
    CHANGED,
    NOT_UNIQUE,
    TAKEN,
    Naming,
    assign_names,
)
from support import meanings

GROUPS = frozenset({"all", "ungrouped", "server_management", "status_running"})
LOCAL = [
    *("localhost", "LOCALHOST", "localhost.", "localhost..", "localhost.localdomain"),
    *("localhost4", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "api.localhost"),
    *("127.0.0.1", "127.0.0.1.", "127.255.255.254", "127.1", "0177.0.0.1", "0x7f.1"),
    *("0x7f000001", "0X7F000001", "2130706433", "017700000001", "0", "0.0.0.0", "0x0"),
]


def _name(
    account: dict[str, Any],
    reserved: Collection[str] = GROUPS,
    taken: Collection[str] = (),
    **fields: Any,
) -> Naming:
    """Name servers given as id: name, or id: [first preference, second, ...]."""
    preferences = [
        (
            Server(identifier, {"id": identifier, **fields}),
            [preferred] if isinstance(preferred, str) else preferred,
        )
        for identifier, preferred in account.items()
    ]
    files = [".yml", ".vars", "ini", ""]
    return assign_names(
        preferences, reserved.__contains__, lambda name, _server: name in taken, files
    )


def _noted(naming: Naming) -> dict[str, list[str]]:
    """Return the ids of the servers without their first name."""
    found: dict[str, list[str]] = {}
    for renamed in naming.renamed.values():
        found.setdefault(renamed.reason, []).append(renamed.server.id)
    return found


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("web 1", "web_1"),
        ("a/b:c", "a_b_c"),
        ("wéb", "w_b"),
        ("漢字", "_"),
        ("a\r\nb", "a_b"),
        ("{{ 1 }}", "_1_"),
        ("\u202egnp\u200b", "_gnp_"),
        # Ansible reads host_vars/web.yml for the host web, too.
        ("web.yml", "web_yml"),
        ("web.YAML", "web_YAML"),
        ("web.Json", "web_Json"),
        ("web.yml.json", "web.yml_json"),
        *((name, name) for name in ("a" * 253, "_web", "web-", "web.", "ALL")),
        *((name, name) for name in ("localhost.example.com", "mylocalhost", "localhost5")),
        *((name, name) for name in ("128.0.0.1", "1270.0.0.1", "127.0.0.1.example.com", "0-1")),
        *((name, name) for name in ("0x7f000001x", "yml", "web.ymlx", "web.yml.", "webyml")),
    ],
)
def test_only_characters_that_are_not_allowed_are_replaced(name: str, safe: str) -> None:
    naming = _name({"a": name}, ipv4="128.0.0.1")
    assert naming.names == {"a": safe}
    assert _noted(naming) == ({CHANGED: ["a"]} if safe != name else {})


UNUSABLE = ["-web", "--option", ".", "..", ".hidden", "../../etc", "a" * 254, *sorted(GROUPS)]


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("name", [*UNUSABLE, *LOCAL])
def test_an_unusable_name_falls_back_to_the_next_preference_with_a_report(name: str) -> None:
    naming = _name({"a": [name, "second"]})
    assert (naming.names, _noted(naming)) == ({"a": "second"}, {CHANGED: ["a"]})


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("name", "fields", "is_usable"),
    [
        ("192.0.2.2", {"name": "192.0.2.2", "ipv4": "192.0.2.1"}, False),
        ("192.0.2.2", {}, False),
        ("192.0.2.2", {"ips": ["192.0.2.2"]}, False),
        ("010.0x2.3.4", {"ipv4": "10.2.3.4"}, False),
        ("192.0.2.2", {"ipv4": "192.0.2.2"}, True),
        ("10.0.0.5", {"ipv4": "192.0.2.1", "private_ip": "10.0.0.5"}, True),
        *((name, {}, True) for name in ("3", "2024", "10.5", "1.2.3", "1.2.3.4.5", "1.2.3.256")),
    ],
)
def test_a_name_is_no_address_of_another_machine(
    name: str, fields: dict[str, Any], is_usable: bool
) -> None:
    naming = _name({"a": name}, **fields)
    if is_usable:
        assert (naming.names, _noted(naming)) == ({"a": name}, {})
    else:
        assert (naming.names, _noted(naming)) == ({"a": f"{name}_a"}, {CHANGED: ["a"]})


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("preferences", "name"),
    [
        (["status_running"], "status_running_srv_1"),
        (["", "127.0.0.1"], "127.0.0.1_srv_1"),
        (["all", "ungrouped"], "all_srv_1"),
        (["db1.yml.json"], "db1.yml_json"),
        # With the id, these can't be used either.
        (["../../etc"], "srv_1"),
        (["a" * 254], "srv_1"),
        ([""], "srv_1"),
    ],
    ids=str,
)
def test_without_a_usable_name_the_id_is_added_or_used(preferences: list[str], name: str) -> None:
    naming = _name({"srv_1": preferences})
    assert (naming.names, _noted(naming)) == ({"srv_1": name}, {CHANGED: ["srv_1"]})


@pytest.mark.promise("silent")
def test_a_server_without_preferences_has_its_id_without_a_report() -> None:
    assert _name({"srv_1": []}) == Naming({"srv_1": "srv_1"})


@pytest.mark.promise("lost")
@pytest.mark.parametrize("identifier", ["-1", ".a", "localhost", "all", "a" * 254, "127.1"])
def test_a_server_without_a_usable_name_and_id_is_an_error(identifier: str) -> None:
    message = f"hostnames: no name is left for the server {identifier[:60]}: "
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        _name({identifier: "", "b": "web"})


@pytest.mark.promise("lost")
@pytest.mark.parametrize(
    ("account", "names"),
    [
        (["web-1", "web_2.example.com", "3"], ["web-1", "web_2.example.com", "3"]),
        (["web", "web", "web 1", "web/1"], ["web_s0", "web_s1", "web_1_s2", "web_1_s3"]),
        # Adding a server keeps the names that are unique.
        (["web", "db", "web 1", "db", "web-1"], ["web", "db_s1", "web_1", "db_s3", "web-1"]),
        ([["web", "eu"], ["web", "us"], ["web", "us"]], ["eu", "web_s1", "web_s2"]),
        # With the id, the name would be too long.
        (["w" * 251, "w" * 251], ["s0", "s1"]),
        # A name that was proposed before is not given.
        (["web", "web", "web_s0"], ["s0", "web_s1", "web_s0"]),
        (["", ""], ["s0", "s1"]),
    ],
    ids=range(7),
)
def test_an_account_gets_these_names_in_any_order(account: list[Any], names: list[str]) -> None:
    preferred = {f"s{number}": texts for number, texts in enumerate(account)}
    expected = {f"s{number}": name for number, name in enumerate(names)}
    for order in itertools.islice(itertools.permutations(preferred), 24):
        assert _name({server_id: preferred[server_id] for server_id in order}).names == expected


@pytest.mark.promise("misdirected")
def test_a_name_of_another_source_is_not_used() -> None:
    naming = _name({"a": "web"}, taken=["web"])
    assert (naming.names, _noted(naming)) == ({"a": "web_a"}, {TAKEN: ["a"]})
    assert _name({"a": "web"}, taken=["web", "web_a"]).names == {"a": "a"}
    with pytest.raises(OptionError, match="no name is left for the server a: "):
        _name({"a": "web"}, taken=["web", "web_a", "a"])


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ("web", NOT_UNIQUE),
        ("other", TAKEN),
        ("all", CHANGED),
        ("", None),
        ("eu", None),
        ("mine", None),
    ],
)
def test_a_first_preference_that_is_not_used_is_reported_unless_it_is_empty(
    first: str, kind: str | None
) -> None:
    naming = _name({"a": [first, "eu"], "b": ["web", "b1"], "c": ["web", "c1"]}, taken=["other"])
    assert naming.names["a"] == (first if first == "mine" else "eu")
    noted = _noted(naming)
    assert [kind for kind, ids in noted.items() if "a" in ids] == ([kind] if kind else [])
    assert {"b", "c"} <= set(noted[NOT_UNIQUE])


def _obstacle(name: str, server: Server) -> str:
    return f"[{name} is not {server.id}]"


@pytest.mark.promise("silent")
def test_a_problem_names_what_the_first_three_servers_have_become() -> None:
    preferences = [(Server(f"srv_{name}", {"name": name}), ["web"]) for name in "dcba"]
    naming = assign_names(preferences, GROUPS.__contains__, lambda _name, _server: False)
    assert list(naming.problems(_obstacle)) == [
        "4 servers do not have their preferred names, because other servers have the same name: "
        "a (srv_a) is web_srv_a, b (srv_b) is web_srv_b, c (srv_c) is web_srv_c and 1 more."
    ]


@pytest.mark.promise("silent")
def test_a_problem_with_other_sources_describes_what_is_in_the_way() -> None:
    servers = [Server(f"srv_{name}", {"name": name}) for name in "dcba"]
    preferences = [(server, [server.text("name")]) for server in servers]
    naming = assign_names(preferences, GROUPS.__contains__, lambda name, _server: name in "abcd")
    assert list(naming.problems(_obstacle)) == [
        "4 servers do not have their preferred names, because hosts of other sources have the same "
        "name: a (srv_a) is a_srv_a, b (srv_b) is b_srv_b, c (srv_c) is c_srv_c and 1 more. "
        "[a is not srv_a] [b is not srv_b] [c is not srv_c]"
    ]


@pytest.mark.promise("silent")
def test_a_problem_of_one_server_is_described_in_the_singular() -> None:
    naming = assign_names(
        [(Server("srv_1", {"name": "w b"}), ["w b"])],
        GROUPS.__contains__,
        lambda _name, _server: False,
    )
    assert list(naming.problems(_obstacle)) == [
        "1 server does not have its preferred name, because a host can't have such a name: "
        '"w b" (srv_1) is w_b.'
    ]


def test_ids_that_become_equal_belong_to_no_server() -> None:
    with pytest.raises(OptionError, match="no name is left for the server a/1: "):
        _name({"a/1": "", "a:1": ""})


IDS = ["a", "b", "c", "a b", "a/b", "-", "localhost", "web", "é", "web.yml", "web_yml"]
NAMES = [
    *("", "web", "web_a", "web_b", "a", "b", "a_b", "a b", "-x", "all", "127.1", "::1", "w" * 252),
    *("a.yml", "web.yml", "web_yml", "b.JSON", *meanings.TEXTS),
]
ACCOUNTS = st.dictionaries(
    st.sampled_from(IDS) | st.text(min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES) | st.text(max_size=5), min_size=2, max_size=2),
    max_size=9,
)


@pytest.mark.promise("lost")
@given(ACCOUNTS, st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES)))
def test_any_account_gets_unique_usable_names_in_any_order(
    account: dict[str, list[str]], groups: set[str], taken: set[str]
) -> None:
    reserved = GROUPS | groups
    backwards = dict(reversed(account.items()))
    try:
        naming = _name(account, reserved, taken)
    except OptionError:
        with pytest.raises(OptionError):
            _name(backwards, reserved, taken)
        return
    names = naming.names
    assert set(names) == set(account)
    assert len(set(names.values())) == len(account)
    for name in names.values():
        assert name not in {*reserved, *taken}
        assert not name.lower().endswith((".yml", ".yaml", ".json", ".vars", ".ini"))
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}", name)
    assert _name(backwards, reserved, taken).names == names
    reported = set().union(*_noted(naming).values())
    first = {identifier: next(filter(None, texts), "") for identifier, texts in account.items()}
    assert reported == {
        identifier for identifier in account if names[identifier] != first[identifier]
    }
