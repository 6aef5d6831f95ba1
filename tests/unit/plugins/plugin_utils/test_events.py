# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import re

import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _events
from support.special_texts import EVENT_TEXTS, TEXTS, json_values, texts_in

ATTACK = "{{ lookup('pipe', 'touch /tmp/x') }}"
HARMLESS = "__ lookup__pipe_, _touch /tmp/x__ __"

A = {"id": "srv_a", "name": "a"}
B = {"id": "srv_b", "name": "b"}


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
    history = _events.History("name", initial=False)
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


def poll(history, *records, **options):
    events = update(history, *records, **options)
    return summaries(events)


def test_a_server_that_is_gone_or_appears_has_its_fields_and_host_name():
    gone = event_without_host("gone", inventory_hostname="a", server=A)
    appeared = event("appeared", "b", server=B)
    assert events_between([A], [B]) == [gone, appeared]


def test_a_changed_server_has_both_records_and_the_names_of_the_fields():
    before = {**A, "later": None, "spec": {"cpu": 1}}
    now = {**A, "name": "new", "spec": {"cpu": 2}}
    changed = ["inventory_hostname", "later", "name", "spec"]
    (found,) = events_between([before], [now])
    before["inventory_hostname"] = "a"
    assert found == event("changed", "new", server=now, before=before, changed=changed)


DIFFERENCES = yaml.safe_load("""
a second server gets the name:
- [&web {id: srv_1, name: web}]
- [*web, &web2 {id: srv_2, name: web}]
- [changed web_srv_1 inventory_hostname, appeared web_srv_2]

only one server keeps the name:
- [*web, *web2]
- [*web]
- [gone web_srv_2, changed web inventory_hostname]

events are sorted by their kind and then by the host name:
- [*web, {id: srv_b, name: b}, {id: srv_a, name: a}, *web2]
- [{id: srv_8, name: z}, *web2, {id: srv_9, name: y}]
- [gone a, gone b, gone web_srv_1, changed web inventory_hostname, appeared y, appeared z]

a server whose id cannot be in an event changes the name of another one:
- [*web]
- [*web, &hostile {id: srv#2, name: web}]
- [changed web_srv_1 inventory_hostname]

a server whose id cannot be in an event changes:
- [*hostile]
- [{id: srv#2, name: web, plan: large}]
- []

a server whose id cannot be in an event is gone:
- [*hostile]
- []
- []

an id that would be equal with replaced characters appears:
- [*web]
- [*web, &equal {id: srv#1, name: other}]
- []

an id that would be equal with replaced characters stays:
- [*web, *equal]
- [*equal]
- [gone web]

an id that would be equal with replaced characters was there:
- [*equal]
- [*web, *equal]
- [appeared web]
""")


@pytest.mark.parametrize(("before", "now", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_each_difference_is_an_event(before, now, expected):
    events = events_between(before, now)
    assert summaries(events) == expected


def test_a_server_that_a_partial_listing_lacks_is_not_gone():
    history = _events.History("name", initial=False)
    poll(history, A, is_partial=True)
    assert poll(history, B, is_partial=True) == ["appeared b"]
    assert poll(history, {**B, "plan": "large"}, is_partial=True) == ["changed b plan"]
    assert poll(history) == ["gone a", "gone b"]


def test_several_failures_in_a_row_are_one_event_about_no_host():
    history = _events.History("name", initial=False)
    error = {"code": "unreachable", "message": "It _fails_, now. Wait.", "status": None}
    failed = event_without_host("failed", error=error)
    assert history.fail(_errors.Unreachable("It <fails> (now).", "Wait.")) == [failed]
    assert history.fail(_errors.RateLimited("Again.")) == []
    assert update(history) == [event_without_host("recovered")]


def test_hostile_text_is_replaced_and_fields_with_hostile_names_are_dropped():
    before = {**A, "plan": "x", "later": [{"deep": "{%"}], ATTACK: 1, "": None}
    now = {**A, "plan": ATTACK}
    (found,) = events_between([before], [now])
    names = ["", HARMLESS, "later", "plan"]
    kept = {**A, "plan": "x", "later": [{"deep": "__"}]}
    shown = {**A, "plan": HARMLESS}
    expected = event("changed", "a", server=shown, before=kept, changed=names, replaced=names)
    assert found == expected


MESSAGES = yaml.safe_load("""
- [It was rejected (HTTP 401). Check it., 'It was rejected, HTTP 401. Check it.']
- ['The response has no list "data".', The response has no list data.]
- ['Cannot reach [::1]:80.', 'Cannot reach ::1:80.']
- ["The body is {{ x }}, '%}' (((.", 'The body is __ x __, __ ___.']
""")


@pytest.mark.parametrize(("message", "text"), MESSAGES)
def test_messages_of_events_read_well_without_brackets_and_quotes(message, text):
    assert _events.plain_message(message) == text


texts = st.sampled_from([ATTACK, *TEXTS, *EVENT_TEXTS]) | st.text()
fields = st.dictionaries(texts, json_values(texts), max_size=3)
ids = st.sampled_from(["srv_1", "srv_2", "srv 3", "srv#4", "{{ 5 }}"])
accounts = st.lists(st.builds(dict, fields, id=ids, name=texts), max_size=4)
is_harmless = re.compile(r"[\w .:/@+,-]*").fullmatch


@given(accounts, accounts)
def test_events_between_any_two_listings_have_harmless_texts_and_names(before, now):
    try:
        events = events_between(before, now)
    except _errors.OptionError:  # two servers can end with the same name
        reject()
    assert all(map(is_harmless, texts_in(events)))
