# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with ansible-runner and ansible-navigator."""

import pytest
from e2e.conftest import cached, hosts

from support.fixtures import KNOWN_NAMES

# What AWX does: ask for the inventory, then run something on it.
LIST = """\
import json, sys
import ansible_runner

path, folder = sys.argv[1:]
listing, error = ansible_runner.get_inventory(
    action="list", inventories=[path], response_format="json", quiet=True, private_data_dir=folder
)
output, errors, rc = ansible_runner.run_command(
    "ansible-inventory", ["-i", path, "--list"], quiet=True, private_data_dir=folder
)
assert (rc, errors, error) == (0, "", ""), (rc, errors, error)
assert json.loads(output) == listing
print(json.dumps(listing))
"""
PING = """\
import sys
import ansible_runner

path, folder = sys.argv[1:]
run = ansible_runner.run(
    private_data_dir=folder, inventory=path, module="ping", host_pattern="status_running",
    extravars={"ansible_connection": "local"}, quiet=True,
)
print(run.status, sorted(run.stats["ok"]))
"""
TWO_JOBS = """\
import sys
import ansible_runner

path, folder = sys.argv[1:]
for job in ("first", "second"):
    arguments = ["-i", path, "--list"]
    output, errors, rc = ansible_runner.run_command(
        "ansible-inventory", arguments, quiet=True, private_data_dir=folder, ident=job
    )
    assert rc == 0, errors
"""


def test_ansible_runner_lists_and_runs(source, tmp_path):
    path, folder = source.file(), tmp_path / "private"
    folder.mkdir()
    listing = source.runner.run("python", "-c", LIST, path, folder).ok().json()
    assert hosts(listing) == KNOWN_NAMES
    assert listing == source.list_silently()
    pinged = source.runner.run("python", "-c", PING, path, folder).ok()
    assert pinged.stdout == "successful ['db-1', 'web-1']\n"


@pytest.mark.parametrize(("chosen", "requests"), [(False, 2), (True, 1)])
def test_jobs_of_ansible_runner_share_only_a_cache_that_the_file_names(
    source, tmp_path, chosen, requests
):
    folder = tmp_path / "private"
    folder.mkdir()
    options = cached(tmp_path / "cache") if chosen else {"cache": True}
    source.runner.run("python", "-c", TWO_JOBS, source.file(**options), folder).ok()
    assert len(source.sandbox.requests) == requests
    caches = folder.glob("artifacts/*/fact_cache/*")
    assert {path.parent.parent.name for path in caches} == (
        set() if chosen else {"first", "second"}
    )


def test_ansible_navigator_lists(source, tmp_path):
    quiet = ("--mode", "stdout", "--execution-environment", "false")
    log = ("--log-file", tmp_path / "navigator.log")
    command = ("ansible-navigator", "inventory", "-i", source.file(), "--list", *quiet, *log)
    assert hosts(source.runner.run(*command).ok().json()) == KNOWN_NAMES
