# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import re

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    OptionError,
    RateLimited,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._events import (
    History,
    plain_message,
)
from support.meanings import EVENT_TEXTS, TEXTS, json_values, texts_in

ATTACK = "{{ lookup('pipe', 'touch /tmp/x') }}"
HARMLESS = "__ lookup__pipe_, _touch /tmp/x__ __"

A = {"id": "srv_a", "name": "a"}
B = {"id": "srv_b", "name": "b"}
WEB_1 = {"id": "srv_1", "name": "web"}
WEB_2 = {"id": "srv_2", "name": "web"}
Y = {"id": "srv_9", "name": "y"}
Z = {"id": "srv_8", "name": "z"}


def event(kind, name, **content):
    """Return an event about a server with this host name, for playbooks that run on it."""
    content |= {"event": kind, "inventory_hostname": name}
    return {"server_management": content, "meta": {"hosts": name}}


def event_without_host(kind, **content):
    """Return an event for playbooks that run on localhost."""
    content["event"] = kind
    return {"server_management": content, "meta": {"hosts": "localhost"}}


def update(history, *records, **options):
    """Return the events of a poll that finds the servers with these records."""
    servers = [Server(record["id"], record) for record in records]
    return history.update(servers, **options)


def events_between(before, now):
    history = History("name", initial=False)
    update(history, *before)
    return update(history, *now)


def summaries(events):
    """Return the kind of each event, its host name and the fields that changed."""
    lines = []
    for found in events:
        content = found["server_management"]
        words = [content["event"]]
        if "inventory_hostname" in content:
            words.append(content["inventory_hostname"])
        words += content.get("changed", [])
        lines.append(" ".join(words))
    return lines


def changes(before, now):
    events = events_between(before, now)
    return summaries(events)


def poll(history, *records):
    events = update(history, *records)
    return summaries(events)


def test_a_server_that_is_gone_or_appears_has_its_fields_and_host_name():
    gone = event_without_host("gone", inventory_hostname="a", server=A)
    appeared = event("appeared", "b", server=B)
    assert events_between([A], [B]) == [gone, appeared]


def test_a_changed_server_has_both_records_and_the_names_of_the_fields():
    before = {**A, "later": None, "spec": {"cpu": 1}}
    now = {**A, "spec": {"cpu": 2}}
    changed = ["later", "spec"]
    (found,) = events_between([before], [now])
    assert found == event("changed", "a", server=now, before=before, changed=changed)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        # a second server with the name
        ([WEB_1], [WEB_1, WEB_2], ["changed web_srv_1 inventory_hostname", "appeared web_srv_2"]),
        # the last server with the name
        ([WEB_1, WEB_2], [WEB_1], ["gone web_srv_2", "changed web inventory_hostname"]),
    ],
)
def test_a_host_name_has_the_id_while_servers_share_the_name(before, now, expected):
    assert changes(before, now) == expected


def test_a_changed_host_name_is_in_the_record_before():
    now = {**A, "name": "new"}
    before = {**A, "inventory_hostname": "a"}
    changed = ["inventory_hostname", "name"]
    (found,) = events_between([A], [now])
    assert found == event("changed", "new", server=now, before=before, changed=changed)


def test_events_are_sorted_by_kind_and_then_by_host_name():
    before = [WEB_1, B, A, WEB_2]
    now = [Z, WEB_2, Y]
    assert changes(before, now) == [
        "gone a",
        "gone b",
        "gone web_srv_1",
        "changed web inventory_hostname",
        "appeared y",
        "appeared z",
    ]


def test_a_server_that_a_partial_listing_lacks_is_not_gone():
    history = History("name", initial=False)
    update(history, A, is_partial=True)
    events = update(history, B, is_partial=True)
    assert summaries(events) == ["appeared b"]
    events = update(history, {**B, "plan": "large"}, is_partial=True)
    assert summaries(events) == ["changed b plan"]
    assert poll(history) == ["gone a", "gone b"]


def test_several_failures_in_a_row_are_one_event_about_no_host():
    history = History("name", initial=False)
    error = {"code": "unreachable", "message": "It _fails_. Wait.", "status": None}
    failed = event_without_host("failed", error=error)
    assert history.fail(Unreachable("It <fails>.", "Wait.")) == [failed]
    assert history.fail(RateLimited("Again.")) == []
    assert update(history) == [event_without_host("recovered")]


def test_differences_come_after_the_recovery_from_each_failure():
    history = History("name", initial=True)
    history.fail(Unreachable("At the start."))
    assert poll(history, A) == ["recovered", "appeared a"]
    assert history.fail(Unreachable("Again.")) != []
    assert poll(history, B) == ["recovered", "gone a", "appeared b"]


def test_hostile_text_is_replaced_and_fields_with_hostile_names_are_dropped():
    hostile = {**A, "plan": ATTACK, "later": [{"deep": ATTACK}], ATTACK: 1, "": 2}
    kept = {**A, "plan": HARMLESS, "later": [{"deep": HARMLESS}]}
    replaced = ["", HARMLESS, "later", "plan"]
    (found,) = events_between([], [hostile])
    assert found == event("appeared", "a", server=kept, replaced=replaced)


def test_hostile_text_of_the_previous_poll_is_replaced_too():
    hostile = {**A, "plan": "{%"}
    before = {**A, "plan": "__"}
    (found,) = events_between([hostile], [A])
    content = found["server_management"]
    assert content["before"] == before
    assert content["replaced"] == ["plan"]


def test_a_server_with_an_id_that_events_cannot_have_only_changes_names_of_others():
    other = {"id": "srv#2", "name": "web"}
    larger = {**other, "plan": "large"}
    assert changes([WEB_1], [WEB_1, other]) == ["changed web_srv_1 inventory_hostname"]
    assert changes([other], [larger]) == []
    assert changes([other], []) == []


def test_a_server_is_not_mistaken_for_one_whose_id_would_be_equal_with_replaced_characters():
    other = {"id": "srv#1", "name": "other"}
    assert changes([WEB_1], [WEB_1, other]) == []
    assert changes([WEB_1, other], [other]) == ["gone web"]
    assert changes([other], [WEB_1, other]) == ["appeared web"]


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


texts = st.sampled_from([ATTACK, *TEXTS, *EVENT_TEXTS]) | st.text()
fields = st.dictionaries(texts, json_values(texts), max_size=3)
ids = st.sampled_from(["srv_1", "srv_2", "srv 3", "srv#4", "{{ 5 }}"])
accounts = st.lists(st.builds(dict, fields, id=ids, name=texts), max_size=4)
is_harmless = re.compile(r"[\w .:/@+,-]*").fullmatch


@given(accounts, accounts)
def test_events_between_any_two_listings_have_harmless_texts_and_names(before, now):
    try:
        events = events_between(before, now)
    except OptionError:  # two servers can end with the same name
        reject()
    assert all(map(is_harmless, texts_in(events)))
