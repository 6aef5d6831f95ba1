# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of every kind, each in a separate account: many of them in one command.

A good account in the same command stays whole, whatever becomes of the others.
"""

import gzip
import json

from sandbox import Fault
from support.fixtures import KNOWN, KNOWN_NAMES
from support.run import without_white_space

from .conftest import as_arguments, failures, hosts

MOST_MEMORY = 600  # MiB; a listing may have 32 MiB

# What the command says goes to its own standard error, the peak of its memory to standard output.
MEASURED = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
TOO_DEEP = json.loads("[" * 100 + "]" * 100)  # in a server, which is the first level

# One fault of each kind: the unit tests of the client, and of its files, have the others.
FAULTS = {
    "path": (
        Fault(status=404),
        ("no list of servers at http://127.0.0.1:", "/api/v1/servers", "Check base_url"),
    ),
    "reset": (Fault.reset(), ("Cannot reach 127.0.0.1:", "reset")),
    "half": (
        Fault(body='{"data": ['),
        ("Cannot reach 127.0.0.1:", "closed before the end of the response"),
    ),
    "html": (Fault.html(), ("not JSON", "text/html")),
    "no_more": (Fault(body={"data": []}), ('no boolean "has_more"',)),
    "deep": (
        Fault(data=[{"id": "srv_1", "field": TOO_DEEP}]),
        ("Element 0 of data is nested deeper than 100 levels",),
    ),
    "more": (Fault(has_more=True), ("has more servers than the 3", "Set pagination")),
}
# The groups of the good account, and Ansible's own.
GROUPS = [
    "good", "plan_large", "plan_small", "region_eu_1", "region_eu_2", "status_running",
    "status_stopped", "ungrouped",
]  # fmt: skip


def test_each_fault_has_its_message_and_adds_nothing(sources):
    for name, (fault, texts) in FAULTS.items():
        account = sources.serve(servers=KNOWN)
        account.fail(fault, times=None)
        sources.add(name, account, fails=texts)
    sources.add("good", sources.serve(servers=KNOWN), hosts=KNOWN_NAMES)
    listing = sources.check().json()
    assert hosts(listing) == KNOWN_NAMES
    # No group of a source that failed remains; elsewhere, empty groups are not printed.
    assert sorted(listing["all"]["children"]) == GROUPS


def many_objects():
    """Return a compressed listing of four million empty objects."""
    body = b'{"data":[' + b"{}," * 2**22 + b'0],"has_more":false}'
    return Fault(body=gzip.compress(body, 1), headers={"Content-Encoding": "gzip"})


def test_a_bomb_takes_little_memory(sources):
    sources.add("objects").fail(many_objects(), times=None)
    sources.add("gzip").fail(Fault.gzip_bomb(), times=None)
    sources.add("endless").fail(Fault.endless(), times=None)
    sources.add("nested").fail(Fault.nested(1_000_000), times=None)
    paths = as_arguments(source.path for source in sources.all.values())
    command = ("ansible-inventory", "--list", *paths)
    result = sources.runner.run("python", "-c", MEASURED, *command).ok()
    messages = failures(result)
    assert without_white_space("Element 0 of data has no text id") in messages["objects"]
    assert without_white_space("larger than 32 MiB") in messages["gzip"]
    assert without_white_space("larger than 32 MiB") in messages["endless"]
    assert without_white_space("nested too deeply") in messages["nested"]
    assert int(result.stdout) < MOST_MEMORY
