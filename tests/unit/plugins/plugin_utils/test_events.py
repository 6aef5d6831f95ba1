# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    RateLimited,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._events import (
    Event,
    History,
    plain_message,
)
from support import meanings
from support.modules import WEB

ATTACK = "{{ lookup('pipe', 'touch /tmp/x') }}"


def record(identifier: str, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {**WEB, "id": identifier, "name": identifier if name is None else name, **fields}


def listing(*records: dict[str, Any]) -> list[Server]:
    return [Server(fields["id"], fields) for fields in records]


def events_between(
    before: list[dict[str, Any]], now: list[dict[str, Any]], hosts: str = "name"
) -> list[Event]:
    history = History(hosts, initial=False)
    assert history.update(listing(*before)) == []
    return history.update(listing(*now))


def brief(events: list[Event]) -> list[tuple[str, ...]]:
    return [
        (
            event["server_management"]["event"],
            event.get("meta", {}).get("hosts", ""),
            *event["server_management"].get("changed", []),
        )
        for event in events
    ]


@pytest.mark.parametrize("kind", ["appeared", "gone"])
def test_a_server_that_appears_or_is_gone_has_its_last_fields_and_host_name(kind: str) -> None:
    known, other = record("srv_1"), record("srv_2", "web", plan="large")
    listings = ([known], [other, known])
    assert events_between(*(listings if kind == "appeared" else listings[::-1])) == [
        {"server_management": {"event": kind, "server": other}, "meta": {"hosts": "web"}}
    ]


def test_a_changed_server_has_both_records_and_the_names_of_the_fields() -> None:
    old, new = record("srv_1"), record("srv_1", status="stopped", x_undocumented=["a"])
    assert events_between([old], [new]) == [
        {
            "server_management": {
                "event": "changed",
                "server": new,
                "before": old,
                "changed": ["status", "x_undocumented"],
            },
            "meta": {"hosts": "srv_1"},
        }
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({"x_undocumented": ["a"]}, {}, ["x_undocumented"]),
        ({"x_undocumented": ["a"]}, {"x_undocumented": ["a", "b"]}, ["x_undocumented"]),
        ({"spec": {"cpu": 1}}, {"spec": {"cpu": 2}}, ["spec"]),
        ({"name": "a"}, {"name": "b"}, ["inventory_hostname", "name"]),
    ],
)
def test_every_field_is_compared(
    old: dict[str, Any], new: dict[str, Any], changed: list[str]
) -> None:
    (event,) = events_between([record("srv_1", **old)], [record("srv_1", **new)])
    assert event["server_management"]["changed"] == changed


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
    assert brief(events_between([first], [first, second], hosts="id")) == [("appeared", "srv_2")]
    like_groups = [record("srv_3", "region_eu"), record("srv_4", "all")]
    assert brief(events_between([], like_groups)) == [
        ("appeared", "all_srv_4"),
        ("appeared", "srv_3"),
    ]


def test_events_are_sorted_by_gone_changed_appeared_and_then_by_host_name() -> None:
    same, new = record("5", "e"), [record("9", "z"), record("8", "y")]
    before = [record("3", "c"), record("1", "b"), record("2", "a"), record("4", "d"), same]
    now = [same, new[0], record("4", "d", plan="x"), new[1], record("1", "b", plan="x")]
    assert brief(events_between(before, now)) == [
        ("gone", "a"),
        ("gone", "c"),
        ("changed", "b", "plan"),
        ("changed", "d", "plan"),
        ("appeared", "y"),
        ("appeared", "z"),
    ]


def test_with_initial_the_first_servers_appear() -> None:
    history = History("name", initial=True)
    assert brief(history.update(listing(record("b"), record("a")))) == [
        ("appeared", "a"),
        ("appeared", "b"),
    ]
    assert history.update(listing(record("b"), record("a"))) == []


def test_a_server_that_a_partial_listing_lacks_is_not_gone() -> None:
    history = History("name", initial=False)
    history.update(listing(record("a"), record("b")))
    assert brief(history.update(listing(record("c")), is_partial=True)) == [("appeared", "c")]
    assert brief(history.update(listing(record("b")))) == [("gone", "a"), ("gone", "c")]


@pytest.mark.parametrize("initial", [True, False])
def test_several_failures_are_one_event_and_the_differences_come_after_the_recovery(
    initial: bool,
) -> None:
    history = History("name", initial)
    assert len(history.fail(CloudError("No."))) == 1
    # Without `initial`, servers of the first listing are never differences.
    first = [("recovered", ""), ("appeared", "a")]
    assert brief(history.update(listing(record("a")))) == first[: 1 + initial]
    assert history.fail(Unreachable("It <fails>.", "Wait.")) == [
        {
            "server_management": {
                "event": "failed",
                "error": {"code": "unreachable", "message": "It _fails_. Wait.", "status": None},
            }
        }
    ]
    assert history.fail(RateLimited("Other.", "", 429)) == []
    assert brief(history.update(listing(record("b")))) == [
        ("recovered", ""),
        ("gone", "a"),
        ("appeared", "b"),
    ]
    assert history.update(listing(record("b"))) == []
    (again,) = history.fail(RateLimited("Other.", "", 429))
    assert again["server_management"]["error"]["status"] == 429


def test_hostile_text_is_replaced_and_fields_with_hostile_names_are_dropped() -> None:
    later = {"a": [{"b": ATTACK, ATTACK: 1}, 1], "": 2}
    hostile = {**record("a", ATTACK, ipv4="{%", later=later), ATTACK: 1, "": 2, "ä b": "é-1"}
    (event,) = events_between([{**hostile, "plan": "{"}], [hostile])
    assert event["server_management"]["changed"] == ["plan"]
    assert event["server_management"]["before"]["plan"] == "_"
    assert "plan" in event["server_management"]["replaced"]
    (event,) = events_between([], [hostile])
    harmless = "".join(c if is_plain(c) else "_" for c in ATTACK)
    assert event["server_management"] == {
        "event": "appeared",
        "server": {
            **record("a", harmless, ipv4="__", later={"a": [{"b": harmless}, 1]}),
            "ä b": "é-1",
        },
        "replaced": ["", harmless, "ipv4", "later", "name"],
    }
    assert_harmless(event["server_management"]["server"])


def test_a_server_with_an_id_that_events_cannot_have_only_changes_names_of_others() -> None:
    web, other = record("srv_1", "web"), record("srv#2", "web")
    renamed = ("changed", "web_srv_1", "inventory_hostname")
    assert brief(events_between([web], [web, other])) == [renamed]
    assert brief(events_between([other], [{**other, "plan": "large"}])) == []
    assert brief(events_between([web, other], [web])) == [("changed", "web", "inventory_hostname")]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("It was rejected (HTTP 401). Check it.", "It was rejected, HTTP 401. Check it."),
        ('The response has no list "data".', "The response has no list data."),
        ("Cannot reach [::1]:80.", "Cannot reach ::1:80."),
        ("The body is {{ x }}, '%}' (((.", "The body is __ x __, __ ___."),
    ],
)
def test_messages_of_events_read_well_without_brackets_and_quotes(message: str, text: str) -> None:
    assert plain_message(message) == text


def assert_harmless(value: Any) -> None:
    """Expect plain text only, also as names, of which none is empty."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    assert '"' not in re.sub(r'"[\w .:/@+,-]*"', "", text)
    assert '"":' not in text


TEXTS = st.sampled_from([*meanings.TEXTS, *meanings.EVENT_TEXTS]) | st.text()
ELEMENTS = st.lists(
    st.builds(
        lambda identifier, name, extra: record(identifier, name, **extra),
        st.sampled_from(["srv_1", "srv_2", "srv 3", "srv#4", "{{ 5 }}"]),
        st.sampled_from(["web", "prod", ATTACK, "region_eu"]) | TEXTS,
        st.dictionaries(
            TEXTS.filter(lambda key: key not in ("id", "name")),
            meanings.json_values(TEXTS),
            max_size=3,
        ),
    ),
    max_size=4,
)


@given(before=ELEMENTS, now=ELEMENTS, hosts=st.sampled_from(["name", "id"]))
def test_any_two_listings_cause_harmless_and_complete_events(
    before: list[dict[str, Any]], now: list[dict[str, Any]], hosts: str
) -> None:
    history = History(hosts, initial=False)
    history.update(listing(*before))
    events = history.update(listing(*now))
    for event in events:
        assert_harmless(event)
    kinds = [event["server_management"]["event"] for event in events]
    old, new = (
        {fields["id"] for fields in each if is_plain(fields["id"])} for each in (before, now)
    )
    assert kinds.count("gone") == len(old - new)
    assert kinds.count("appeared") == len(new - old)
    assert history.update(listing(*now)) == []
