# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with ansible-runner."""

# What AWX does: ask for the inventory, then run something on it.
LIST_AND_PING = """\
import json, sys
import ansible_runner

path, folder = sys.argv[1:]
listing, errors = ansible_runner.get_inventory(
    action="list", inventories=[path], response_format="json", quiet=True, private_data_dir=folder
)
assert not errors, errors
run = ansible_runner.run(
    private_data_dir=folder, inventory=path, module="ping", host_pattern="status_running",
    extravars={"ansible_connection": "local"}, quiet=True,
)
print(json.dumps({"listing": listing, "status": run.status, "ok": sorted(run.stats["ok"])}))
"""


def test_ansible_runner_lists_and_runs(source):
    path = source.file()
    listing = source.list_silently()
    run = source.runner.run("python", "-c", LIST_AND_PING, path, source.folder).ok()
    result = run.json()
    assert result["listing"] == listing
    assert result["status"] == "successful"
    assert result["ok"] == ["db-1", "web-1"]
