# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import re
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    OptionError,
    RateLimited,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._events import (
    History,
    plain_message,
)
from support import meanings
from support.modules import WEB

ATTACK = "{{ lookup('pipe', 'touch /tmp/x') }}"
HARMLESS = "__ lookup__pipe_, _touch /tmp/x__ __"

Record = dict[str, Any]


def record(identifier, name, **fields):
    return {**WEB, "id": identifier, "name": name, **fields}


A = record("srv_a", "a")
B = record("srv_b", "b")
C = record("srv_c", "c")
D = record("srv_d", "d")
WEB_1 = record("srv_1", "web")
WEB_2 = record("srv_2", "web")


def listing(*records):
    return [Server(fields["id"], fields) for fields in records]


def events_between(before, now, hosts="name"):
    history = History(hosts, initial=False)
    history.update(listing(*before))
    return history.update(listing(*now))


def lines(events):
    """Describe each event: its kind, its host and the fields that changed."""
    described = []
    for event in events:
        content = event["server_management"]
        host = event.get("meta", {}).get("hosts", "")
        words = [content["event"], host, *content.get("changed", [])]
        described.append(" ".join(words).strip())
    return described


def changes(before, now):
    return lines(events_between(before, now))


def poll(history, *servers):
    return lines(history.update(listing(*servers)))


@pytest.mark.parametrize(
    ("kind", "before", "now"), [("appeared", [A], [A, B]), ("gone", [A, B], [A])]
)
def test_a_server_that_appears_or_is_gone_has_its_last_fields_and_host_name(kind, before, now):
    event = {"server_management": {"event": kind, "server": B}, "meta": {"hosts": "b"}}
    assert events_between(before, now) == [event]


def test_a_changed_server_has_both_records_and_the_names_of_the_fields():
    new = {**A, "status": "stopped", "x_undocumented": ["a"]}
    event = {
        "event": "changed",
        "server": new,
        "before": A,
        "changed": ["status", "x_undocumented"],
    }
    assert events_between([A], [new]) == [{"server_management": event, "meta": {"hosts": "a"}}]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({"x_undocumented": None}, {}, "x_undocumented"),
        ({"spec": {"cpu": 1}}, {"spec": {"cpu": 2}}, "spec"),
        ({}, {"plan": "large", "name": "a"}, "plan"),
    ],
)
def test_every_field_is_compared(old, new, changed):
    assert changes([{**A, **old}], [{**A, **new}]) == [f"changed a {changed}"]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        # a new name
        ([A], [{**A, "name": "new"}], ["changed new inventory_hostname name"]),
        # a second server with the name
        ([WEB_1], [WEB_1, WEB_2], ["changed web_srv_1 inventory_hostname", "appeared web_srv_2"]),
        # the last server with the name
        ([WEB_1, WEB_2], [WEB_1], ["gone web_srv_2", "changed web inventory_hostname"]),
        # a group
        ([], [record("srv_1", "all")], ["appeared all_srv_1"]),
        # like a group
        ([], [record("srv_1", "plan_x")], ["appeared srv_1"]),
    ],
)
def test_a_host_has_the_name_that_the_inventory_gives(before, now, expected):
    assert changes(before, now) == expected


def test_a_changed_host_name_is_in_the_record_before():
    changed = events_between([WEB_1], [WEB_1, WEB_2])[0]
    before = changed["server_management"]["before"]
    assert before == {**WEB_1, "inventory_hostname": "web"}


def test_hosts_can_be_named_by_id():
    assert lines(events_between([A], [A, B], hosts="id")) == ["appeared srv_b"]


def test_events_are_sorted_by_kind_and_then_by_host_name():
    first = record("srv_9", "y")
    last = record("srv_8", "z")
    now = [last, {**D, "plan": "x"}, first, {**C, "plan": "x"}]
    assert changes([C, A, B, D], now) == [
        "gone a",
        "gone b",
        "changed c plan",
        "changed d plan",
        "appeared y",
        "appeared z",
    ]


def test_with_initial_the_first_servers_appear():
    history = History("name", initial=True)
    assert poll(history, B, A) == ["appeared a", "appeared b"]
    assert poll(history, B, A) == []


def test_a_server_that_a_partial_listing_lacks_is_not_gone():
    history = History("name", initial=False)
    poll(history, A, B)
    assert lines(history.update(listing(C), is_partial=True)) == ["appeared c"]
    assert poll(history, B) == ["gone a", "gone c"]


def test_a_failure_is_an_event_with_its_code():
    history = History("name", initial=False)
    assert history.fail(Unreachable("It <fails>.", "Wait.")) == [
        {
            "server_management": {
                "event": "failed",
                "error": {"code": "unreachable", "message": "It _fails_. Wait.", "status": None},
            }
        }
    ]


def test_several_failures_in_a_row_are_one_event():
    history = History("name", initial=False)
    assert lines(history.fail(Unreachable("First."))) == ["failed"]
    assert history.fail(RateLimited("Second.")) == []
    assert poll(history) == ["recovered"]
    assert lines(history.fail(RateLimited("Third."))) == ["failed"]


@pytest.mark.parametrize(
    ("initial", "first"), [(True, ["recovered", "appeared a"]), (False, ["recovered"])]
)
def test_differences_come_after_the_recovery(initial, first):
    history = History("name", initial)
    history.fail(Unreachable("At the start."))
    assert poll(history, A) == first
    history.fail(Unreachable("Again."))
    assert poll(history, B) == ["recovered", "gone a", "appeared b"]


def test_hostile_text_is_replaced_and_fields_with_hostile_names_are_dropped():
    later = {"a": [{"b": ATTACK, ATTACK: 1}, 1], "": 2}
    hostile = {**record("srv_1", ATTACK, later=later), ATTACK: 1, "": 2, "ä b": "é-1"}
    (event,) = events_between([], [hostile])
    kept = record("srv_1", HARMLESS, later={"a": [{"b": HARMLESS}, 1]})
    assert event["server_management"] == {
        "event": "appeared",
        "server": {**kept, "ä b": "é-1"},
        "replaced": ["", HARMLESS, "later", "name"],
    }


def test_hostile_text_of_the_last_record_is_replaced_too():
    (event,) = events_between([{**A, "plan": "{%"}], [A])
    content = event["server_management"]
    assert content["before"]["plan"] == "__"
    assert content["replaced"] == ["plan"]


def test_a_server_with_an_id_that_events_cannot_have_only_changes_names_of_others():
    other = record("srv#2", "web")
    assert changes([WEB_1], [WEB_1, other]) == ["changed web_srv_1 inventory_hostname"]
    assert changes([other], [{**other, "plan": "large"}]) == []
    assert changes([other], []) == []


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("It was rejected (HTTP 401). Check it.", "It was rejected, HTTP 401. Check it."),
        ('The response has no list "data".', "The response has no list data."),
        ("Cannot reach [::1]:80.", "Cannot reach ::1:80."),
        ("The body is {{ x }}, '%}' (((.", "The body is __ x __, __ ___."),
    ],
)
def test_messages_of_events_read_well_without_brackets_and_quotes(message, text):
    assert plain_message(message) == text


def assert_harmless(event):
    """Expect plain text only, also as names, of which none is empty."""
    text = json.dumps(event, ensure_ascii=False, allow_nan=False)
    assert '"' not in re.sub(r'"[\w .:/@+,-]*"', "", text)
    assert '"":' not in text


TEXTS = st.sampled_from([*meanings.TEXTS, *meanings.EVENT_TEXTS]) | st.text()
IDS = st.sampled_from(["srv_1", "srv_2", "srv 3", "srv#4", "{{ 5 }}"])
NAMES = st.sampled_from(["web", "prod", ATTACK, "region_eu"]) | TEXTS
FIELDS = st.dictionaries(TEXTS, meanings.json_values(TEXTS), max_size=3)
RECORDS = st.builds(
    lambda fields, identifier, name: {**WEB, **fields, "id": identifier, "name": name},
    FIELDS,
    IDS,
    NAMES,
)


def plain_ids(records):
    return {fields["id"] for fields in records if is_plain(fields["id"])}


@given(st.lists(RECORDS, max_size=4), st.lists(RECORDS, max_size=4))
def test_any_two_listings_cause_harmless_and_complete_events(before, now):
    try:
        events = events_between(before, now)
    except OptionError:  # two servers can end with the same name
        reject()
    for event in events:
        assert_harmless(event)
    kinds = [event["server_management"]["event"] for event in events]
    assert kinds.count("gone") == len(plain_ids(before) - plain_ids(now))
    assert kinds.count("appeared") == len(plain_ids(now) - plain_ids(before))
