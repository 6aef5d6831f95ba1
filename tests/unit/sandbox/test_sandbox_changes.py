# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the changes of an account while it is served."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from sandbox import Change, Sandbox
from sandbox.account import make_servers
from sandbox.changes import Schedule
from sandbox.cli import parse_change


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_changes_are_made_when_they_are_due() -> None:
    clock, servers = Clock(), list(make_servers(2))
    schedule = Schedule(
        [
            Change("disappear", "db-01", at=30),
            Change("appear", "new-01", at=10),
            Change("change", "new-01", at=20, fields={"status": "stopped"}),
        ],
        "documentation",
        clock,
    )
    schedule.check(servers)
    schedule.apply(servers)
    assert [server["name"] for server in servers] == ["web-01", "db-01"]  # not started
    schedule.start()
    states = []
    for now in (1009, 1010, 1020, 1030, 1040):
        clock.now = now
        schedule.apply(servers)
        states.append({server["name"]: server["status"] for server in servers})
    running = {"web-01": "running", "db-01": "running"}
    assert states == [
        running,
        {**running, "new-01": "running"},
        {**running, "new-01": "stopped"},
        {"web-01": "running", "new-01": "stopped"},
        {"web-01": "running", "new-01": "stopped"},
    ]


def test_a_new_server_has_the_documented_form_and_a_free_address() -> None:
    servers = list(make_servers(3, "loopback"))
    change = Change("appear", "new-01", at=5, fields={"region": "us-east"})
    new = change.apply(servers, "loopback")[-1]
    assert list(new) == list(servers[0])
    assert (new["name"], new["region"], new["status"]) == ("new-01", "us-east", "running")
    assert new["ipv4"] == make_servers(4, "loopback")[-1]["ipv4"]


def test_a_change_applies_to_servers_with_the_name_or_id_only() -> None:
    servers = [{"id": "a", "name": "x"}, {"id": "x", "name": "b"}, {"id": "c", "name": "c"}, None]
    changed = Change("change", "x", fields={"plan": "large"}).apply(servers, "documentation")
    assert [element and element.get("plan") for element in changed] == [
        "large",
        "large",
        None,
        None,
    ]
    assert Change("disappear", "c").apply(servers, "documentation") == [*servers[:2], None]
    assert servers[0] == {"id": "a", "name": "x"}


def test_a_change_of_an_unknown_server_is_refused_before_anything_is_served() -> None:
    changes = [Change("disappear", "web-01", at=1), Change("change", "web-01", 2, {"plan": "x"})]
    with pytest.raises(ValueError, match="no server is named 'web-01' after 2 s"):
        Sandbox(servers=1, changes=changes)


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        ("appear=web-99", Change("appear", "web-99")),
        ("at=1.5,appear=web-99,plan=a=b", Change("appear", "web-99", 1.5, {"plan": "a=b"})),
        ("change=srv_1,name=new,at=2", Change("change", "srv_1", 2, {"name": "new"})),
        ("disappear=web-99,at=9", Change("disappear", "web-99", 9)),
    ],
)
def test_a_change_is_parsed(spec: str, change: Change) -> None:
    assert parse_change(spec) == change


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "can't use ''"),
        ("at=soon,appear=a", "can't use 'at=soon'"),
        ("at=-1,appear=a", "expected at to be 0 or more"),
        ("at=inf,appear=a", "expected at to be 0 or more"),
        ("at=1", "exactly one of appear, change, disappear"),
        ("appear=a,disappear=b", "exactly one of"),
        ("appear=", "needs the name of a server"),
        ("change=a", "a: nothing is to be changed"),
        ("disappear=a,status=off", "no new values"),
    ],
)
def test_an_invalid_change_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        parse_change(spec)
