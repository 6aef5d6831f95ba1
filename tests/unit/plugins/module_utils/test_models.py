# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _errors, _models
from sandbox.account import SERVER


@pytest.mark.parametrize("value", ["", None, 5, [1, {"é": True}]])
def test_a_server_keeps_its_fields_documented_or_not(value):
    element = {**SERVER, "x_undocumented": value}
    server = _models.server_from_api(element, 0)
    assert server.fields == element


@pytest.mark.parametrize("value", [None, 1, True, [], ["small"], {}, "a\udfffb"])
def test_a_documented_field_that_is_not_usable_text_is_dropped(value):
    server = _models.server_from_api({**SERVER, "plan": value}, 0)
    assert "plan" not in server.fields
    assert server.text("plan") == ""


@pytest.mark.parametrize("value", ["\udfff", ["é", {"\ud800": None}], {"a": "b\udfff"}])
def test_an_undocumented_field_that_cannot_be_encoded_is_dropped(value):
    element = {"id": "srv_1", "x_undocumented": value, "x_kept": 1, "\udfff": 1}
    server = _models.server_from_api(element, 0)
    assert server.fields == {"id": "srv_1", "x_kept": 1}


MALFORMED = yaml.safe_load("""
- [[{id: srv_1}], is not an object.]
- [{name: web}, has no text id.]
- [{id: 1}, has no text id.]
- [{id: ''}, has no text id.]
""")


@pytest.mark.parametrize(
    ("element", "problem"), [*MALFORMED, ({"id": "\ud800"}, "has no text id.")]
)
def test_a_malformed_element_is_refused_with_its_position(element, problem):
    with pytest.raises(_errors.MalformedResponse) as caught:
        _models.server_from_api(element, 7)
    next_step = "The API does not document such a response: check base_url, then ask the provider."
    assert str(caught.value) == f"Element 7 of data {problem} {next_step}"


def test_each_id_is_kept_once_with_its_last_element():
    servers = {}
    _models.merge(servers, [{"id": "a", "plan": "old"}, {"id": "b"}])
    _models.merge(servers, [{"id": "a", "plan": "new"}])
    assert list(servers) == ["a", "b"]
    assert servers["a"].text("plan") == "new"


def test_each_field_that_servers_lack_is_described_once():
    db = _models.Server("srv_1", {"name": "db", "region": "eu"})
    web = _models.Server("srv_2", {"name": "web"})
    messages = _models.describe_unusable([web, db], ["name", "plan", "region"])
    assert messages == [
        "The field plan is missing or not text for 2 servers: db (srv_1), web (srv_2).",
        "The field region is missing or not text for 1 server: web (srv_2).",
    ]


def test_an_account_with_too_few_servers_is_an_error():
    servers = [_models.Server("srv_1", {})]
    _models.check_min_servers(servers, 1)
    with pytest.raises(_errors.TooFewServers) as caught:
        _models.check_min_servers(servers, 2)
    assert str(caught.value) == (
        "min_servers: 2 or more expected, but the account has 1. Check whether the token is for "
        "the right account."
    )


def test_a_message_names_servers_so_that_no_name_looks_like_several():
    first = _models.Server("srv_1", {"name": "a (srv_9), b"})
    second = _models.Server("srv_2", {"name": 'x"\n'})
    shown = _models.summarise_servers([second, first])
    assert shown == '2 servers: "a (srv_9), b" (srv_1), "x\\"\\n" (srv_2)'
