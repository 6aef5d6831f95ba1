# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._selection import (
    explain_case,
    explain_empty,
    explain_unknown,
    select,
)

ACCOUNT = [
    Server("1", {"id": "1", "status": "running", "region": "eu"}),
    Server("2", {"id": "2", "status": "running", "region": "us"}),
    Server("3", {"id": "3", "status": "stopped", "region": "eu"}),
    Server("4", {"id": "4", "status": "", "region": " ap "}),
]
STATUSES = "running (2), stopped (1)"


@pytest.mark.parametrize(
    ("wanted", "identifiers"),
    [
        ({}, ["1", "2", "3", "4"]),
        ({"statuses": ["running"]}, ["1", "2"]),
        ({"statuses": ["running", "stopped"], "regions": ["eu"]}, ["1", "3"]),
        ({"regions": ["EU"]}, []),
        ({"plans": ["small"]}, []),
        # White space is ignored in the options and in the API.
        ({"statuses": ["stopped", " running "]}, ["1", "2", "3"]),
        ({"regions": ["ap\n"]}, ["4"]),
    ],
)
def test_servers_that_match_every_option_are_kept(wanted, identifiers):
    assert [server.id for server in select(ACCOUNT, wanted)] == identifiers


def test_an_option_that_matches_no_server_is_explained():
    wanted = {"statuses": ["Running"], "regions": ["eu"]}
    message = f"statuses: no server has Running; the account has {STATUSES}."
    assert explain_empty(ACCOUNT, wanted) == [message]


def test_options_that_only_together_match_no_server_are_explained():
    assert explain_empty(ACCOUNT, {"statuses": ["stopped"], "regions": ["us"]}) == [
        "statuses, regions: no server matches all of these options; the account has "
        f"status: {STATUSES}; region: eu (2), ap (1), us (1)."
    ]


def test_options_that_match_a_server_and_an_empty_account_are_not_explained():
    assert explain_empty(ACCOUNT, {"statuses": ["running"]}) == []
    assert explain_empty([], {"statuses": ["x"]}) == []
    assert explain_unknown([], {"statuses": ["x"]}) == []


def test_values_that_no_server_has_are_explained():
    wanted = {"statuses": [" running", "x"], "regions": ["eu"], "plans": ["b", "a"]}
    assert explain_unknown(ACCOUNT, wanted) == [
        f"statuses: no server has x; the account has {STATUSES}.",
        "plans: no server has a, b; the account has none.",
    ]


def test_a_value_that_is_not_one_word_is_quoted():
    account = [Server("1", {"id": "1", "region": "eu (7), us"})]
    assert explain_empty(account, {"regions": ["eu west; us"]}) == [
        'regions: no server has "eu west; us"; the account has "eu (7), us" (1).'
    ]


def test_a_hostile_value_stays_on_one_short_line():
    hostile = "x\n" + "y" * 999
    servers = [Server(str(n), {"id": str(n), "region": f"{n}{hostile}"}) for n in range(9)]
    (message,) = explain_empty(servers, {"regions": ["us"]})
    assert message.isprintable()
    assert message.endswith("and 4 more.")
    assert len(message) < 500


def test_statuses_in_another_case_are_explained():
    assert explain_case(ACCOUNT, ["STOPPED", "Running ", "stopping"]) == [
        f"statuses: no server has Running, STOPPED; the account has {STATUSES}."
    ]


@pytest.mark.parametrize(
    "statuses",
    [
        pytest.param(["running", "stopped"], id="the account has both"),
        pytest.param(["stopping"], id="a server may have it later"),
        pytest.param(["running", "Running"], id="the account's spelling is there, too"),
    ],
)
def test_other_statuses_are_not_explained(statuses):
    assert explain_case(ACCOUNT, statuses) == []
