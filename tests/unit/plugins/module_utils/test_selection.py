# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._selection import (
    explain_empty,
    explain_unknown,
    select,
)

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
        ({"statuses": ["running"]}, "12"),
        ({"statuses": ["running", "stopped"], "regions": ["eu"]}, "13"),
        ({"regions": ["EU"]}, ""),
        ({"statuses": ["stopped", " running "]}, "123"),
        ({"plans": ["small"]}, ""),
        ({"regions": [" ap "]}, "5"),
        ({"regions": ["ap\n"]}, "5"),
    ],
)
def test_select_keeps_the_servers_that_match_every_option(
    wanted: dict[str, list[str]], identifiers: str
) -> None:
    account = [*ACCOUNT, Server("5", {"id": "5", "region": " ap "})]
    assert [server.id for server in select(account, wanted)] == list(identifiers)


@pytest.mark.parametrize(
    ("wanted", "messages"),
    [
        ({"statuses": ["running"]}, []),
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
    wanted: dict[str, list[str]], messages: list[str]
) -> None:
    assert explain_empty(ACCOUNT, wanted) == messages
    assert explain_empty([], wanted) == []
    assert explain_unknown([], wanted) == []


def test_values_that_no_server_has_are_explained() -> None:
    wanted = {"statuses": [" running", "x"], "regions": ["eu"]}
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
