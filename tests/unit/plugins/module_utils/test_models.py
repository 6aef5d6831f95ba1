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
    merge(second, [dict(reversed(element.items())) for element in elements])
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
