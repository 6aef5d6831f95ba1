# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    FIELDS,
    Server,
    describe_unusable,
    merge,
    server_from_api,
    summarise_servers,
)
from sandbox.account import SERVER


def test_a_documented_server_keeps_all_fields() -> None:
    server = server_from_api(SERVER, 0)
    assert (server.id, server.fields) == (SERVER["id"], SERVER)
    assert tuple(SERVER) == FIELDS
    assert [server.text(field) for field in FIELDS] == list(SERVER.values())


@pytest.mark.promise("lost")
@pytest.mark.parametrize("field", FIELDS[1:])
@pytest.mark.parametrize("value", [..., None, 1, 1.5, True, [], ["running"], {}, {"a": "b"}])
def test_a_documented_field_that_is_missing_or_not_text_is_dropped(field: str, value: Any) -> None:
    element = {**SERVER, field: value}
    server = server_from_api({key: given for key, given in element.items() if given is not ...}, 0)
    assert server.fields == {key: text for key, text in SERVER.items() if key != field}
    message = f"The field {field} is missing or not text for 1 server: "
    assert [text.startswith(message) for text in describe_unusable([server])] == [True]
    assert server.text(field) == ""


NO_OBJECTS: list[Any] = [None, 1, "text", [], [SERVER]]
NO_IDS: list[Any] = [None, 1, True, [], {}, "", ["srv_1"], "\ud800", "a\udfffb"]


@pytest.mark.promise("whole")
@pytest.mark.parametrize("element", [*NO_OBJECTS, *({**SERVER, "id": value} for value in NO_IDS)])
def test_an_element_that_is_not_an_object_with_a_text_id_is_refused(element: Any) -> None:
    problem = "has no text id" if isinstance(element, dict) else "is not an object"
    with pytest.raises(_errors.MalformedResponse, match=f"Element 7 of data {problem}") as caught:
        server_from_api(element, 7)
    assert caught.value.next_step


@pytest.mark.promise("atomic")
def test_a_server_nested_deeper_than_100_levels_is_refused() -> None:
    nested: Any = [1]
    for _level in range(49):
        nested = {"list": [nested]}
    server = server_from_api({"id": "srv_1", "nested": nested}, 0)
    assert server.fields["nested"] == nested
    with pytest.raises(_errors.MalformedResponse, match="deeper than 100 levels"):
        server_from_api({"id": "srv_1", "nested": [nested]}, 7)


@pytest.mark.parametrize("value", [None, 5, True, "é", [1, {"é": None}]])
def test_an_undocumented_field_is_kept(value: Any) -> None:
    element = {**SERVER, "region": "", "x_undocumented": value}
    server = server_from_api(element, 0)
    assert server.fields == element
    assert describe_unusable([server]) == []


@pytest.mark.parametrize(
    "field",
    [{"x_undocumented": ["é", {"\ud800": None}]}, {"\udfff": 1}, {"plan": "a\udfffb"}],
    ids=ascii,
)
def test_a_field_that_cannot_be_encoded_is_dropped(field: dict[str, Any]) -> None:
    server = server_from_api({**SERVER, **field}, 0)
    assert server.fields == {key: text for key, text in SERVER.items() if key not in field}


@pytest.mark.promise("whole")
def test_each_id_is_kept_once_with_its_last_element() -> None:
    servers: dict[str, Server] = {}
    merge(servers, [{"id": "a", "plan": "2"}, {"id": "b"}])
    merge(servers, [{"id": "b", "plan": "1"}, {"id": "c"}, {"id": "a", "plan": "1"}])
    plans = [(server.id, server.text("plan")) for server in servers.values()]
    assert plans == [("a", "1"), ("b", "1"), ("c", "")]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["web", ""], "srv_1, web (srv_0)"),
        (["a (srv_9), b", 'x"\n'], '"a (srv_9), b" (srv_0), "x\\"" (srv_1)'),
        (["d", "c", "b", "a"], "a (srv_3), b (srv_2), c (srv_1) and 1 more"),
    ],
)
def test_messages_name_servers_so_that_no_name_looks_like_several(
    names: list[str], shown: str
) -> None:
    servers = [Server(f"srv_{i}", {"name": name}) for i, name in enumerate(names)]
    assert summarise_servers(servers) == shown
