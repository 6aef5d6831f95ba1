# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults, each in a separate account, in one command with a good account."""

import gzip
import resource

from sandbox import Fault

# In KiB. A listing may have 32 MiB; four million objects take about 430 MB.
MOST_MEMORY = 600_000

# One fault of each kind: the unit tests of the client, and of its files, have the others.
FAULTS = {
    "path": (Fault(status=404), "no list of servers at http://127.0.0.1:"),
    "reset": (Fault.reset(), "Cannot reach 127.0.0.1:"),
    "redirect": (
        Fault(status=301, location="https://api.example.com/api/v1/servers?page=1"),
        'redirects to "https://api.example.com/api/v1/servers?page=1"',
    ),
    "html": (Fault.html(), "not JSON"),
    "more": (Fault(has_more=True), "has more servers than the 1"),
}


# A compressed listing of four million empty objects.
OBJECTS = gzip.compress(b'{"data":[' + b"{}," * 2**22 + b'0],"has_more":false}', 1)
BOMBS = {
    "objects": (
        Fault(body=OBJECTS, headers={"Content-Encoding": "gzip"}),
        "Element 0 of data has no text id",
    ),
    "gzip": (Fault.gzip_bomb(), "larger than 32 MiB"),
    "nested": (Fault.nested(1_000_000), "nested too deeply"),
}


def add_failing(sources, faults):
    for name, (fault, text) in faults.items():
        account = sources.add(name, fails=text)
        account.fail(fault, times=None)


def test_each_fault_has_its_message_and_adds_nothing(sources):
    add_failing(sources, FAULTS)
    sources.add("good")
    listing = sources.check().json()
    groups = listing["all"]["children"]
    assert "good" in groups
    assert not FAULTS.keys() & set(groups)


def test_a_bomb_takes_limited_memory(sources):
    add_failing(sources, BOMBS)
    # With a setting of its own, the command is not a fork but a child of this process.
    sources.check(env={"PYTHONUNBUFFERED": "1"})
    # The peak of the largest process so far.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert usage.ru_maxrss < MOST_MEMORY
