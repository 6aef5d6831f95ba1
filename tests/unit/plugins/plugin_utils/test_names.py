# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import itertools
import re
import time
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import (
    Naming,
    assign_names,
    report_names,
)
from support import meanings

GROUPS = frozenset({"all", "ungrouped", "server_management", "status_running"})
LOCAL = [
    *("localhost", "LOCALHOST", "localhost.", "localhost..", "localhost.localdomain"),
    *("localhost4", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "api.localhost"),
    *("127.0.0.1", "127.0.0.1.", "127.255.255.254", "127.1", "0177.0.0.1", "0x7f.1"),
    *("0x7f000001", "0X7F000001", "2130706433", "017700000001", "0", "0.0.0.0", "0x0"),
    *("::1", "[::1]", "0:0:0:0:0:0:0:1", "0000::0001", "::ffff:127.0.0.1"),
]


def _digest(identifier: str, more: int = 0) -> str:
    return f"server_{hashlib.sha256(identifier.encode()).hexdigest()[: 16 + more]}"


def _name(
    account: dict[str, Any], reserved: Collection[str] = GROUPS, taken: Collection[str] = ()
) -> Naming:
    """Name servers given as id: name, or id: [first preference, second, ...]."""
    preferences = {
        identifier: [preferred] if isinstance(preferred, str) else preferred
        for identifier, preferred in account.items()
    }
    files = [".yml", ".vars", "ini", ""]
    return assign_names(preferences, reserved, lambda name, _identifier: name in taken, files)


def test_a_server_has_its_name() -> None:
    naming = _name({"a": "web-1", "b": "web_2.example.com", "c": "3"})
    assert naming == Naming({"a": "web-1", "b": "web_2.example.com", "c": "3"})


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("web 1", "web_1"),
        ("web  (1)", "web_1_"),
        ("a/b:c", "a_b_c"),
        ("wéb", "w_b"),
        ("漢字", "_"),
        ("a\r\nb", "a_b"),
        ("{{ 1 }}", "_1_"),
        ("web[1:9]", "web_1_9_"),
        ("~web*,!x&y", "_web_x_y"),
        ("\u202egnp\u200b", "_gnp_"),
        ("١٢٣", "_"),
        # Ansible reads host_vars/web.yml for the host web, too.
        ("web.yml", "web_yml"),
        ("web.YAML", "web_YAML"),
        ("web.Json", "web_Json"),
        ("web.yml.json", "web.yml_json"),
        ("a.b.c.yaml", "a.b.c_yaml"),
        ("web .yml", "web__yml"),
        ("web.ini", "web_ini"),
        ("web.x.vars", "web.x_vars"),
    ],
)
def test_characters_that_are_not_allowed_are_replaced(name: str, safe: str) -> None:
    naming = _name({"a": name})
    assert (naming.names, naming.replaced) == ({"a": safe}, [safe])
    assert (naming.shared, naming.taken, naming.unusable) == ([], [], [])


UNUSABLE = ["", "-web", "--option", ".", "..", ".hidden", "../../etc", "a" * 254, *sorted(GROUPS)]


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("name", [*UNUSABLE, *LOCAL])
def test_an_unusable_name_falls_back_to_the_next_preference_then_the_id(name: str) -> None:
    assert _name({"a": [name, "second"]}).names == {"a": "second"}
    naming = _name({"srv_1": name})
    assert (naming.names, naming.unusable) == ({"srv_1": "srv_1"}, ["srv_1"])


@pytest.mark.promise("lost")
@pytest.mark.parametrize("identifier", ["-1", ".a", "localhost", "::1", "all", "a" * 254, "127.1"])
def test_an_unusable_id_falls_back_to_its_digest(identifier: str) -> None:
    assert _name({identifier: ""}).names == {identifier: _digest(identifier)}


def test_an_id_is_made_safe_too() -> None:
    assert _name({"srv/1": ""}).names == {"srv/1": "srv_1"}
    assert _name({"a/1": "web", "b": "web"}).names == {"a/1": "web_a_1", "b": "web_b"}


@pytest.mark.parametrize(
    "name",
    [
        *("a" * 253, "_web", "web-", "web.", "localhost.example.com", "mylocalhost", "localhost5"),
        *("128.0.0.1", "10.0.0.1", "1270.0.0.1", "127.0.0.1.example.com", "0x7f000001x", "0-1"),
        *("ALL", "yml", "web.ymlx", "web.yml.", "webyml"),
    ],
)
def test_other_names_are_usable(name: str) -> None:
    assert _name({"a": name}) == Naming({"a": name})


@pytest.mark.promise("lost")
@pytest.mark.parametrize("order", [*itertools.permutations("abcd")])
def test_servers_with_the_same_name_all_get_their_id_appended(order: tuple[str, ...]) -> None:
    account = {"a": "web", "b": "web", "c": "web 1", "d": "web/1"}
    naming = _name({identifier: account[identifier] for identifier in order})
    expected = {"a": "web_a", "b": "web_b", "c": "web_1_c", "d": "web_1_d"}
    assert naming.names == expected
    assert sorted(naming.shared) == sorted(expected.values())
    assert (naming.replaced, naming.unusable) == ([], [])


def test_a_shared_name_falls_back_to_the_next_preference() -> None:
    naming = _name({"a": ["web", "eu"], "b": ["web", "us"], "c": ["web", "us"]})
    assert naming.names == {"a": "eu", "b": "web_b", "c": "web_c"}


@pytest.mark.promise("lost")
def test_a_shared_name_that_is_too_long_with_the_id_falls_back_to_the_id() -> None:
    assert _name({"a": "w" * 252, "b": "w" * 252}).names == {"a": "a", "b": "b"}


@pytest.mark.promise("misdirected")
def test_a_name_of_another_source_is_not_used() -> None:
    naming = _name({"a": "web"}, taken=["web"])
    assert (naming.names, naming.taken, naming.shared) == ({"a": "web_a"}, ["web_a"], [])
    assert _name({"a": "web"}, taken=["web", "web_a"]).names == {"a": "a"}
    assert _name({"a": "web"}, taken=["web", "web_a", "a"]).names == {"a": _digest("a")}


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("account", "names"),
    [
        # The id, and the name with the id, belong to their server, whether it needs them or not.
        ({"a": "web", "b": "a"}, {"a": "web", "b": "a_b"}),
        ({"a": "web", "b": "web_a"}, {"a": "web", "b": "web_a_b"}),
        ({"a": "web", "b": "web", "c": "web_a"}, {"a": "web_a", "b": "web_b", "c": "web_a_c"}),
        ({"a": "all", "b": "a"}, {"a": "a", "b": "a_b"}),
        ({"a/1": "x", "b": "a_1"}, {"a/1": "x", "b": "a_1_b"}),
        ({"a.yml": "x", "b": "a_yml"}, {"a.yml": "x", "b": "a_yml_b"}),
        ({"a": ["", "web"], "b": ["web_a", "www"]}, {"a": "web", "b": "www"}),
        ({"-": "", "b": _digest("-")}, {"-": _digest("-"), "b": f"{_digest('-')}_b"}),
        # A name that is that of several servers is nobody's.
        (
            {"a": "web", "web_a": "", "b": "web"},
            {"a": "a", "web_a": _digest("web_a"), "b": "web_b"},
        ),
        ({"a": "a", "b": "b_b"}, {"a": "a", "b": "b_b"}),
    ],
    ids=str,
)
def test_a_name_with_an_id_belongs_to_its_server(
    account: dict[str, Any], names: dict[str, str]
) -> None:
    naming = _name(account)
    assert naming.names == names
    assert _name(dict(reversed(account.items()))).names == names


def test_a_name_that_belongs_to_another_server_is_reported() -> None:
    assert _name({"a": "web", "b": "a", "c": "web_a"}).owned == ["a_b", "web_a_c"]


def test_a_digest_that_is_not_free_gets_longer() -> None:
    taken = [_digest("-", more) for more in range(7)]
    assert _name({"-": ""}, taken=taken).names == {"-": _digest("-", 7)}
    with pytest.raises(OptionError, match=r"^hostnames: no name is left for the server -: "):
        _name({"-": ""}, taken=[*taken, _digest("-", 7)])
    digests = {f"-{number}": "" for number in range(9)}
    names = {f"s{number}": _digest(f"-{number}", 1) for number in range(9)}
    assert {*_name({**digests, **names}).names} == {*digests, *names}


@pytest.mark.promise("bounded")
def test_naming_takes_linear_time() -> None:
    start = time.process_time()
    account = {f"-{number}": "" for number in range(20_000)}
    account |= {f"s{number}": _digest(f"-{number}") for number in range(20_000)}
    account["/" * 8_000_000] = ""
    assert len(_name(account).names) == 40_001
    # 1 s on a slow machine; it took minutes when each collision led to another digest.
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("first", "second", "later"),
    [
        ("web", "eu", ["eu"]),  # other servers have it
        ("other", "eu", ["eu"]),  # another source has it
        ("b", "eu", ["eu"]),  # it is the id of another server
        ("", "eu", []),
        ("all", "eu", []),
        ("eu", "eu", []),
        ("mine", "eu", []),
    ],
)
def test_a_first_preference_that_is_lost_to_another_host_is_reported(
    first: str, second: str, later: list[str]
) -> None:
    naming = _name({"a": [first, second], "b": ["web", ""], "c": ["web", ""]}, taken=["other"])
    assert naming.later == later
    assert (naming.taken, naming.owned, naming.unusable) == ([], [], [])


@pytest.mark.promise("lost")
def test_ids_that_become_equal_fall_back_to_their_digests() -> None:
    names = _name({"a/1": "", "a:1": "", "a_1": "web"}).names
    assert names == {"a_1": "web"} | {item: _digest(item) for item in ("a/1", "a:1")}
    names = _name({"a/1": "", "a:1": "", "a_1": ""}).names
    assert names == {identifier: _digest(identifier) for identifier in ("a/1", "a:1", "a_1")}


IDS = ["a", "b", "c", "a b", "a/b", "-", "localhost", "web", "é", "web.yml", "web_yml"]
NAMES = [
    *("", "web", "web_a", "web_b", "a", "b", "a_b", "a b", "-x", "all", "127.1", "::1", "w" * 252),
    *("a.yml", "web.yml", "web_yml", "b.JSON", *meanings.TEXTS),
    *(_digest(identifier, step) for identifier in IDS for step in (0, 1)),
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
    naming = _name(account, reserved, taken)
    names = naming.names
    assert set(names) == set(account)
    assert len(set(names.values())) == len(account)
    for name in names.values():
        assert name not in {*reserved, *taken}
        assert not name.lower().endswith((".yml", ".yaml", ".json", ".vars", ".ini"))
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}", name)
    backwards = _name(dict(reversed(account.items())), reserved, taken)
    assert backwards.names == names
    reported = {*(*naming.shared, *naming.taken, *naming.owned, *naming.replaced, *naming.unusable)}
    unexpected = {name for identifier, name in names.items() if name not in account[identifier]}
    assert unexpected - {*naming.later} == reported


@pytest.mark.promise("lost")
@given(ACCOUNTS)
def test_adding_servers_keeps_unique_names(
    account: dict[str, list[str]],
) -> None:
    before = _name({**account, "lonely": ["lonely-host", ""]}).names
    assert before["lonely"] == "lonely-host"


@pytest.mark.promise("silent")
@pytest.mark.parametrize("kind", ["shared", "taken", "owned", "later", "replaced", "unusable"])
def test_a_report_is_correct_for_one_name_and_for_several(kind: str) -> None:
    warnings: list[str] = []
    for names in (["a"], ["d", "c", "b", "a"]):
        naming = Naming()
        setattr(naming, kind, names)
        report_names(naming, False, warnings.append)
        with pytest.raises(OptionError, match=rf"^hostnames: {len(names)} server"):
            report_names(naming, True, warnings.append)
    one, several = warnings
    assert re.match(r"1 server (name )?(shares|has) ", one)
    assert one.endswith(": a.")
    assert re.match(r"4 server(s| names) (share|have) ", several)
    assert several.endswith(": a, b, c and 1 more.")
