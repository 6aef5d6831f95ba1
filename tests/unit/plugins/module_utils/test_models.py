# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    FIELDS,
    Server,
    describe_unusable,
    merge,
    server_from_api,
    summarise_servers,
)
from sandbox.account import SERVER


def test_a_documented_server_keeps_all_fields():
    server = server_from_api(SERVER, 0)
    assert server.id == SERVER["id"]
    assert server.fields == SERVER
    assert tuple(SERVER) == FIELDS


@pytest.mark.parametrize("field", FIELDS[1:])
def test_a_documented_field_that_is_missing_is_described(field):
    element = dict(SERVER)
    del element[field]
    server = server_from_api(element, 0)
    (message,) = describe_unusable([server])
    assert message.startswith(f"The field {field} is missing or not text for 1 server: ")
    assert server.text(field) == ""


@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], ["small"], {}, "a\udfffb"])
def test_a_documented_field_that_is_not_text_is_dropped(value):
    server = server_from_api({"id": "srv_1", "plan": value, "region": "eu"}, 0)
    assert server.fields == {"id": "srv_1", "region": "eu"}


@pytest.mark.parametrize("element", [None, 1, "text", [SERVER]])
def test_an_element_that_is_not_an_object_is_refused(element):
    with pytest.raises(MalformedResponse, match="Element 7 of data is not an object"):
        server_from_api(element, 7)


@pytest.mark.parametrize("value", [None, 1, True, {}, "", ["srv_1"], "\ud800"])
def test_an_element_without_a_text_id_is_refused(value):
    with pytest.raises(MalformedResponse, match="Element 7 of data has no text id"):
        server_from_api({**SERVER, "id": value}, 7)


def test_a_server_nested_deeper_than_100_levels_is_refused():
    nested: Any = [1]
    for _level in range(49):
        nested = {"list": [nested]}
    server = server_from_api({"id": "srv_1", "nested": nested}, 0)
    assert server.fields["nested"] == nested
    with pytest.raises(MalformedResponse, match="Element 7 of data is nested deeper than 100"):
        server_from_api({"id": "srv_1", "nested": [nested]}, 7)


@pytest.mark.parametrize("value", [None, 5, True, "é", [1, {"é": None}]])
def test_an_undocumented_field_is_kept(value):
    element = {**SERVER, "region": "", "x_undocumented": value}
    server = server_from_api(element, 0)
    assert server.fields == element
    assert describe_unusable([server]) == []


@pytest.mark.parametrize("value", ["\udfff", ["é", {"\ud800": None}], {"a": "b\udfff"}])
def test_an_undocumented_field_that_cannot_be_encoded_is_dropped(value):
    server = server_from_api({"id": "srv_1", "x_undocumented": value, "\udfff": 1}, 0)
    assert server.fields == {"id": "srv_1"}


def test_each_id_is_kept_once_with_its_last_element():
    servers = {}
    merge(servers, [{"id": "a", "plan": "2"}, {"id": "b"}])
    merge(servers, [{"id": "b", "plan": "1"}, {"id": "a", "plan": "1"}])
    assert list(servers) == ["a", "b"]
    assert servers["a"].text("plan") == "1"
    assert servers["b"].text("plan") == "1"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["web", ""], "srv_1, web (srv_0)"),
        (["a (srv_9), b", 'x"\n'], '"a (srv_9), b" (srv_0), "x\\"" (srv_1)'),
        (["d", "c", "b", "a"], "a (srv_3), b (srv_2), c (srv_1) and 1 more"),
    ],
)
def test_messages_name_servers_so_that_no_name_looks_like_several(names, shown):
    servers = [Server(f"srv_{number}", {"name": name}) for number, name in enumerate(names)]
    assert summarise_servers(servers) == shown
