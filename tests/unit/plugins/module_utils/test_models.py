# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    FIELDS,
    Server,
    merge,
    server_from_api,
)
from ansible_collections.server_management.cloud.plugins.module_utils._selection import (
    explain_empty,
    explain_unknown,
    select,
)
from sandbox.account import SERVER

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def test_a_documented_server_keeps_all_fields() -> None:
    server = server_from_api(SERVER, 0)
    assert (server.id, server.fields, server.unusable) == (SERVER["id"], SERVER, [])
    assert tuple(SERVER) == FIELDS
    assert [server.text(field) for field in FIELDS] == list(SERVER.values())


@pytest.mark.promise("lost")
@pytest.mark.parametrize("field", FIELDS[1:])
@pytest.mark.parametrize("value", [..., None, 1, 1.5, True, [], ["running"], {}, {"a": "b"}])
def test_a_documented_field_that_is_missing_or_not_text_is_dropped(field: str, value: Any) -> None:
    element = {**SERVER, field: value}
    server = server_from_api({key: given for key, given in element.items() if given is not ...}, 0)
    assert server.fields == {key: text for key, text in SERVER.items() if key != field}
    assert server.unusable == [field]
    assert server.text(field) == ""


@pytest.mark.promise("whole")
@pytest.mark.parametrize("value", [None, 1, True, [], {}, "", ["srv_1"], "\ud800", "a\udfffb"])
def test_an_element_without_a_text_id_is_refused(value: Any) -> None:
    with pytest.raises(MalformedResponse, match="Element 7 of data has no text id") as caught:
        server_from_api({**SERVER, "id": value}, 7)
    assert caught.value.next_step


@pytest.mark.promise("whole")
@pytest.mark.parametrize("element", [None, 1, "text", [], [SERVER]])
def test_an_element_that_is_not_an_object_is_refused(element: Any) -> None:
    with pytest.raises(MalformedResponse, match="Element 3 of data is not an object"):
        server_from_api(element, 3)


@pytest.mark.parametrize("value", [None, 5, True, "é", [1, {"é": None}]])
def test_an_undocumented_field_is_kept(value: Any) -> None:
    element = {**SERVER, "region": "", "x_undocumented": value}
    server = server_from_api(element, 0)
    assert (server.fields, server.unusable) == (element, [])


@pytest.mark.parametrize(
    "field",
    [{"x_undocumented": ["é", {"\ud800": None}]}, {"\udfff": 1}, {"plan": "a\udfffb"}],
    ids=ascii,
)
def test_a_field_that_cannot_be_encoded_is_dropped(field: dict[str, Any]) -> None:
    server = server_from_api({**SERVER, **field}, 0)
    assert server.fields == {key: text for key, text in SERVER.items() if key not in field}
    assert server.unusable == [key for key in field if key == "plan"]


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(), JSON, max_size=9))
def test_any_object_is_refused_or_can_be_encoded(element: dict[str, Any]) -> None:
    try:
        server = server_from_api(element, 0)
    except MalformedResponse:
        return
    assert server.id == server.fields["id"] == element["id"]
    json.dumps(server.fields, ensure_ascii=False).encode()
    for field in FIELDS:
        assert isinstance(server.text(field), str)
        value = element.get(field)
        usable = isinstance(value, str) and value == value.encode(errors="ignore").decode()
        assert (field in server.unusable) is not usable


DUPLICATES = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["a", "b", "é"])},
        optional={"status": st.sampled_from(["on", "off"]), "n": st.sampled_from([1, 1.0, True])},
    ),
    max_size=6,
)


@pytest.mark.promise("stable")
@given(DUPLICATES, st.randoms(use_true_random=False))
def test_the_order_of_a_response_does_not_matter(elements: list[Any], random: Any) -> None:
    first: dict[str, Server] = {}
    merge(first, elements)
    random.shuffle(elements)
    second: dict[str, Server] = {}
    merge(second, elements)
    assert {key: repr(sorted(server.fields.items())) for key, server in first.items()} == {
        key: repr(sorted(server.fields.items())) for key, server in second.items()
    }
    assert {element["id"] for element in elements} == set(first)


@pytest.mark.promise("whole")
def test_each_id_is_kept_once_in_the_order_of_its_first_element() -> None:
    servers: dict[str, Server] = {}
    merge(servers, [{"id": "a"}, {"id": "b"}])
    merge(servers, [{"id": "b"}, {"id": "c"}, {"id": "a"}])
    assert list(servers) == ["a", "b", "c"]


ACCOUNT = [
    Server(identifier, {"id": identifier, "status": status, "region": region})
    for identifier, status, region in [
        ("1", "running", "eu"),
        ("2", "running", "us"),
        ("3", "stopped", "eu"),
        ("4", "", "eu"),
    ]
]


@pytest.mark.parametrize(
    ("wanted", "identifiers"),
    [
        ({}, "12345"),
        ({"statuses": None, "regions": None}, "12345"),
        ({"statuses": ["running"]}, "12"),
        ({"statuses": ["running", "stopped"], "regions": ["eu"]}, "13"),
        ({"regions": ["EU"]}, ""),
        ({"statuses": ["stopped", " running "]}, "123"),
        ({"plans": ["small"]}, ""),
        ({"regions": [" ap "]}, "5"),
        ({"id": ["2"]}, "2"),
        ({"id": [" 2"]}, ""),
    ],
)
def test_select_keeps_the_servers_that_match_every_option(
    wanted: dict[str, list[str] | None], identifiers: str
) -> None:
    account = [*ACCOUNT, Server("5", {"id": "5", "region": " ap "})]
    assert [server.id for server in select(account, wanted)] == list(identifiers)


@pytest.mark.parametrize(
    ("wanted", "messages"),
    [
        ({"statuses": ["running"]}, []),
        ({"statuses": None, "regions": None}, []),
        (
            {"statuses": ["Running"], "regions": ["eu"]},
            ["statuses: no server has Running; the account has running (2), stopped (1)."],
        ),
        (
            {"statuses": ["stopped"], "regions": ["us"]},
            [
                "statuses, regions: no server matches all of these options; the account has "
                "status: running (2), stopped (1); region: eu (3), us (1).",
            ],
        ),
        ({"plans": ["small"]}, ["plans: no server has small; the account has none."]),
    ],
)
def test_options_that_match_no_server_are_explained(
    wanted: dict[str, list[str] | None], messages: list[str]
) -> None:
    assert explain_empty(ACCOUNT, wanted) == messages
    assert explain_empty([], wanted) == []
    assert explain_unknown([], wanted) == []


def test_values_that_no_server_has_are_explained() -> None:
    wanted = {"statuses": [" running", "x"], "regions": ["eu"], "plans": None}
    expected = ["statuses: no server has x; the account has running (2), stopped (1)."]
    assert explain_unknown(ACCOUNT, wanted) == expected
    (several,) = explain_unknown(ACCOUNT, {"plans": ["b", "a"]})
    assert several == "plans: no server has a, b; the account has none."


def test_a_hostile_value_stays_on_one_short_line() -> None:
    servers = [Server(str(n), {"id": str(n), "region": f"eu\n{n}" + "x" * 99}) for n in range(9)]
    (message,) = explain_empty(servers, {"regions": ["us"]})
    assert message.isprintable()
    assert message.endswith("and 4 more.")
    assert len(message) < 500
