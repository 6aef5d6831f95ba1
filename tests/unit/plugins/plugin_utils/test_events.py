# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    RateLimited,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    server_from_api,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._events import (
    Event,
    History,
    Listing,
    event_id,
    plain_fields,
    plain_message,
)
from support import meanings
from support.modules import WEB

PAIRS = [divmod(number, 100) for number in range(10_000)]
ATTACK = "{{ lookup('pipe', 'touch /tmp/x') }}"


def record(identifier: str, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {**WEB, "id": identifier, "name": identifier if name is None else name, **fields}


def listing(*records: dict[str, Any], hosts: str = "name") -> Listing:
    return Listing((server_from_api(element, 0) for element in records), hosts)


def events_between(
    before: list[dict[str, Any]], now: list[dict[str, Any]], hosts: str = "name"
) -> list[Event]:
    history = History(initial=False)
    assert list(history.update(listing(*before, hosts=hosts))) == []
    return list(history.update(listing(*now, hosts=hosts)))


def brief(events: list[Event]) -> list[tuple[str, ...]]:
    return [
        (
            event["server_management"]["event"],
            event.get("meta", {}).get("hosts", ""),
            *event["server_management"].get("changed", []),
        )
        for event in events
    ]


def test_a_new_server_appears() -> None:
    new = record("srv_2", "web")
    assert events_between([record("srv_1")], [new, record("srv_1")]) == [
        {
            "server_management": {"event": "appeared", "server": new},
            "meta": {"hosts": "web"},
        }
    ]


def test_a_server_that_is_gone_keeps_its_last_fields_and_host_name() -> None:
    old = record("srv_2", "web", plan="large")
    assert events_between([record("srv_1"), old], [record("srv_1")]) == [
        {"server_management": {"event": "gone", "server": old}, "meta": {"hosts": "web"}}
    ]


def test_a_changed_server_has_both_records_and_the_names_of_the_fields() -> None:
    old, new = record("srv_1"), record("srv_1", status="stopped", tags=["a"])
    assert events_between([old], [new]) == [
        {
            "server_management": {
                "event": "changed",
                "server": new,
                "before": old,
                "changed": ["status", "tags"],
            },
            "meta": {"hosts": "srv_1"},
        }
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({"tags": ["a"]}, {}, ["tags"]),
        ({"tags": ["a"]}, {"tags": ["a", "b"]}, ["tags"]),
        ({"spec": {"cpu": 1}}, {"spec": {"cpu": 2}}, ["spec"]),
        ({"note": None}, {}, ["note"]),
        ({"flag": 1}, {"flag": True}, ["flag"]),
        ({"size": 1}, {"size": 1.0}, ["size"]),
        ({"name": "a"}, {"name": "b"}, ["inventory_hostname", "name"]),
        ({"name": "{"}, {"name": "}"}, ["name"]),
        ({"a{": 1}, {"a{": 2}, ["a_"]),
        ({"ipv4": "203.0.113.1"}, {"ipv4": "203.0.113.2"}, ["ipv4"]),
    ],
)
def test_every_field_is_compared(
    old: dict[str, Any], new: dict[str, Any], changed: list[str]
) -> None:
    (event,) = events_between([record("srv_1", **old)], [record("srv_1", **new)])
    assert event["server_management"]["changed"] == changed


def test_another_order_causes_no_events() -> None:
    servers = [record("srv_1"), record("srv_2"), record("srv_3", "srv_1")]
    assert events_between(servers, servers[::-1]) == []


def test_another_server_with_the_same_name_changes_the_host_name() -> None:
    first, second = record("srv_1", "web"), record("srv_2", "web")
    changed, appeared = events_between([first], [first, second])
    assert changed == {
        "server_management": {
            "event": "changed",
            "server": first,
            "before": {**first, "inventory_hostname": "web"},
            "changed": ["inventory_hostname"],
        },
        "meta": {"hosts": "web_srv_1"},
    }
    assert appeared["meta"]["hosts"] == "web_srv_2"
    assert brief(events_between([first, second], [first])) == [
        ("gone", "web_srv_2"),
        ("changed", "web", "inventory_hostname"),
    ]


def test_with_ids_another_server_with_the_same_name_changes_nothing() -> None:
    first, second = record("srv_1", "web"), record("srv_2", "web")
    assert brief(events_between([first], [first, second], hosts="id")) == [("appeared", "srv_2")]


def test_events_are_sorted_by_gone_changed_appeared_and_then_by_host_name() -> None:
    before = [record("3", "c"), record("1", "b"), record("2", "a"), record("4", "d")]
    now = [
        record("9", "z"),
        record("4", "d", plan="x"),
        record("8", "y"),
        record("1", "b", plan="x"),
    ]
    assert brief(events_between(before, now)) == [
        ("gone", "a"),
        ("gone", "c"),
        ("changed", "b", "plan"),
        ("changed", "d", "plan"),
        ("appeared", "y"),
        ("appeared", "z"),
    ]


def test_with_initial_the_first_servers_appear() -> None:
    history = History(initial=True)
    assert brief(list(history.update(listing(record("b"), record("a"))))) == [
        ("appeared", "a"),
        ("appeared", "b"),
    ]
    assert list(history.update(listing(record("b"), record("a")))) == []


def test_a_server_that_a_partial_listing_lacks_is_not_gone() -> None:
    history = History(initial=False)
    list(history.update(listing(record("a"), record("b"))))
    partial = Listing([server_from_api(record("c"), 0)], "name", is_partial=True)
    assert brief(list(history.update(partial))) == [("appeared", "c")]
    assert brief(list(history.update(listing(record("b"))))) == [("gone", "a"), ("gone", "c")]


@pytest.mark.parametrize("initial", [True, False])
def test_several_failures_are_one_event_and_the_differences_come_after_the_recovery(
    initial: bool,
) -> None:
    history = History(initial)
    list(history.update(listing(record("a"))))
    assert list(history.fail(Unreachable("It <fails>.", "Wait."))) == [
        {
            "server_management": {
                "event": "failed",
                "error": {"code": "unreachable", "message": "It _fails_. Wait.", "status": None},
            }
        }
    ]
    assert list(history.fail(RateLimited("Other.", "", 429))) == []
    assert brief(list(history.update(listing(record("b"))))) == [
        ("recovered", ""),
        ("gone", "a"),
        ("appeared", "b"),
    ]
    assert list(history.update(listing(record("b")))) == []
    (again,) = history.fail(RateLimited("Other.", "", 429))
    assert again["server_management"]["error"]["status"] == 429


def test_the_first_listing_after_a_failed_first_poll_causes_no_differences() -> None:
    history = History(initial=False)
    assert len(list(history.fail(CloudError("No.")))) == 1
    assert brief(list(history.update(listing(record("a"))))) == [("recovered", "")]


def test_hostile_text_is_replaced_and_its_fields_are_named() -> None:
    hostile = record(ATTACK, ATTACK, status=ATTACK, ipv4="{%", later={ATTACK: [{"a": ATTACK}, 1]})
    (event,) = events_between([], [hostile])
    content = event["server_management"]
    harmless = "".join(c if is_plain(c) else "_" for c in ATTACK)
    assert content["server"]["later"] == {harmless: [{"a": harmless}, 1]}
    assert content["server"]["id"] == event_id(ATTACK)
    assert content["server"]["name"] == harmless
    assert content["replaced"] == ["id", "ipv4", "later", "name", "status"]
    assert_harmless(event)


def test_a_change_names_fields_that_were_altered_in_either_record() -> None:
    (event,) = events_between([record("a", plan="{")], [record("a", plan="x", status="}")])
    assert event["server_management"]["replaced"] == ["plan", "status"]
    assert event["server_management"]["before"]["plan"] == "_"


def test_keys_that_become_equal_stay_distinct() -> None:
    fields = {"id": "s", "a}": 1, "a{": 2, "a_": 3, "b": {"x%": 1, "x#": 2}}
    result, replaced = plain_fields(fields)
    assert result == {"id": "s", "a_": 3, "a__1": 2, "a__2": 1, "b": {"x_": 2, "x__1": 1}}
    assert plain_fields(dict(reversed(fields.items())))[0] == result
    assert replaced == ["a__1", "a__2", "b"]


@pytest.mark.promise("bounded")
def test_many_keys_that_become_equal_take_little_time() -> None:
    keys = [f"{chr(0x2190 + first)}{chr(0x2190 + second)}" for first, second in PAIRS]
    started = time.process_time()
    result, _replaced = plain_fields({"id": "s", "later": {**dict.fromkeys(keys), "___7": 1}})
    assert time.process_time() - started < 2
    assert len(result["later"]) == len(keys) + 1
    assert max(map(len, result["later"])) < 10


def test_texts_that_are_too_long_for_ansible_rulebook_are_cut() -> None:
    long = "x" * 10_000
    fields = {"id": f"{long}1", "name": f"{long}x", f"{long}a": 1, f"{long}b": 2, "c": [long]}
    result, replaced = plain_fields(fields)
    assert result == {
        "id": event_id(f"{long}1"),
        "name": long,
        long: 1,
        f"{long}_1": 2,
        "c": [long],
    }
    assert replaced == ["id", "name", long, f"{long}_1"]
    assert event_id(f"{long}1") != event_id(f"{long}2")
    assert event_id(f"{long}1").startswith(f"{long}+")
    assert event_id(long) == long


def test_no_key_is_empty() -> None:
    fields = {"id": "s", "": 1, "labels": {"": {"": 2}, "_": 3}}
    result, replaced = plain_fields(fields)
    assert result == {"id": "s", "_": 1, "labels": {"_": 3, "__1": {"_": 2}}}
    assert replaced == ["_", "labels"]
    (event,) = events_between([{**record("s"), "": 1}], [{**record("s"), "": 2}])
    assert event["server_management"]["changed"] == ["_"]


@pytest.mark.parametrize("identifier", ["srv_1", "Srv 1", "a/b@c.d:e,f+g-h", "ä", "a+" + "0" * 31])
def test_a_plain_id_is_the_id_of_the_event(identifier: str) -> None:
    assert event_id(identifier) == identifier


def test_ids_with_other_characters_stay_different() -> None:
    ids = ["srv#1", "srv_1", "srv1", "srv$1", "#", "$", "{{ 1 }}", "\n", "s" * 9]
    ids += [event_id(identifier) for identifier in ids if not is_plain(identifier)]
    assert event_id("srv#1") == "srv1+ec8bc2df5da55bb55f3e631e021ddfd2"
    assert len({event_id(identifier) for identifier in ids}) == len(ids)
    assert all(is_plain(event_id(identifier)) for identifier in ids)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("It was rejected (HTTP 401). Check it.", "It was rejected, HTTP 401. Check it."),
        ("It is not JSON (content type: text/html).", "It is not JSON, content type: text/html."),
        ('The response has no list "data".', "The response has no list data."),
        ("Encrypted; use `api_token: !vault`.", "Encrypted, use api_token: vault."),
        ("Cannot reach [::1]:80.", "Cannot reach ::1:80."),
        ('no link with rel="next"', "no link with rel next"),
        ("The body is {{ x }}, '%}' (((.", "The body is __ x __, __ ___."),
    ],
)
def test_messages_of_events_read_well_without_brackets_and_quotes(message: str, text: str) -> None:
    assert plain_message(message) == text


def assert_harmless(value: Any) -> None:
    if isinstance(value, str):
        assert is_plain(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            assert key
            assert_harmless(key)
            assert_harmless(item)
    elif isinstance(value, list):
        for item in value:
            assert_harmless(item)


TEXTS = st.sampled_from([*meanings.TEXTS, *meanings.EVENT_TEXTS]) | st.text()
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ELEMENTS = st.lists(
    st.builds(
        lambda identifier, name, extra: record(identifier, name, **extra),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
        st.sampled_from(["web", "prod", ATTACK, "region_eu"]) | TEXTS,
        st.dictionaries(TEXTS, JSON, max_size=3).map(
            lambda extra: {key: value for key, value in extra.items() if key not in ("id", "name")}
        ),
    ),
    max_size=4,
)


@given(before=ELEMENTS, now=ELEMENTS, hosts=st.sampled_from(["name", "id"]))
def test_any_two_listings_cause_harmless_and_complete_events(
    before: list[dict[str, Any]], now: list[dict[str, Any]], hosts: str
) -> None:
    earlier, later = listing(*before, hosts=hosts), listing(*now, hosts=hosts)
    history = History(initial=False)
    list(history.update(earlier))
    events = list(history.update(later))
    for event in events:
        assert_harmless(event)
        json.dumps(event, allow_nan=False)
    kinds = [event["server_management"]["event"] for event in events]
    assert kinds.count("gone") == len(earlier.servers.keys() - later.servers.keys())
    assert kinds.count("appeared") == len(later.servers.keys() - earlier.servers.keys())
    assert list(history.update(listing(*now, hosts=hosts))) == []
