# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _selection
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server

SERVERS = yaml.safe_load("""
'1': {status: running, region: eu}
'2': {status: running, region: us}
'3': {status: stopped, region: eu}
'4': {status: '', region: ' ap '}
""")
ACCOUNT = [Server(*server) for server in SERVERS.items()]

KEPT = yaml.safe_load("""
- [{}, ['1', '2', '3', '4']]
- [{statuses: [running, stopped], regions: [eu]}, ['1', '3']]
- [{regions: [EU]}, []]
- [{plans: [small]}, []]
# White space is ignored in the options and in the API.
- [{statuses: [stopped, ' running ']}, ['1', '2', '3']]
- [{regions: [ap]}, ['4']]
""")


@pytest.mark.parametrize(("wanted", "identifiers"), KEPT)
def test_servers_that_match_every_option_are_kept(wanted, identifiers):
    selected = _selection.select(ACCOUNT, _selection.wanted_values(wanted.get))
    assert [server.id for server in selected] == identifiers


EXPLAINED = yaml.safe_load(r"""
- - {statuses: [' running', Running, "x\u200b"], regions: [eu]}
  - 'statuses: no server has "x\u200b", Running; the account has running (2), stopped (1).'
- - {statuses: [stopped], regions: [us]}
  - "statuses, regions: no server matches all of these options; the account has status: running
     (2), stopped (1); region: eu (2), ap (1), us (1)."
- [{plans: [small]}, 'plans: no server has small; the account has none.']
""")


@pytest.mark.parametrize(("wanted", "message"), EXPLAINED)
def test_options_that_keep_no_server_are_explained(wanted, message):
    assert _selection.explain(ACCOUNT, _selection.wanted_values(wanted.get)) == [message]


def test_options_that_keep_a_server_and_an_empty_account_are_not_explained():
    wanted = {"statuses": ["running"]}
    assert _selection.explain(ACCOUNT, wanted) == []
    assert _selection.explain([], wanted) == []


def test_values_are_quoted_and_on_one_line_and_the_most_frequent_five_are_named():
    account = ACCOUNT.copy()
    for region in ("b\nc, d", "c", "d", "eu "):
        account.append(Server(region, {"region": region}))
    (message,) = _selection.explain(account, {"regions": ["eu west; us"]})
    assert message == (
        'regions: no server has "eu west; us"; the account has eu (3), ap (1), "b\\nc, d" (1), '
        "c (1), d (1) and 1 more."
    )
