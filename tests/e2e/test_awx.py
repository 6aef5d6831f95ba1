# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the AWX guide says, with the commands and the environment of AWX 24.6, but without AWX."""

import json
import re
from pathlib import Path

import trustme
from jinja2.sandbox import ImmutableSandboxedEnvironment

from support.fixtures import KNOWN_NAMES
from support.guides import GUIDES, read_files, read_tasks
from support.run import Runner

from .conftest import hosts

FILES = read_files("awx")
TASKS = read_tasks(FILES["set_up_awx.yml"])
SOURCE_VARIABLES = TASKS["awx.awx.inventory_source"]["source_vars"]
ENABLED = {"ANSIBLE_INVENTORY_ENABLED": SOURCE_VARIABLES["ANSIBLE_INVENTORY_ENABLED"]}
# STANDARD_INVENTORY_UPDATE_ENV in awx/main/constants.py
ENVIRONMENT = {
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "ANSIBLE_INVENTORY_EXPORT": "True",
    "ANSIBLE_VERBOSE_TO_STDERR": "True",
    "ANSIBLE_HOST_PATTERN_MISMATCH": "error",
}


def update(runner, path, **variables):
    """Run an inventory update, which writes ``output.json`` beside the file."""
    output = path.with_name("output.json")
    output.unlink(missing_ok=True)
    command = ("--list", "--export", "-i", path, "--output", output, "--playbook-dir", path.parent)
    environment = {**ENVIRONMENT, **variables}
    return runner.inventory(*command, "-vvv", env=environment, cwd=path.parent)


def imported(runner, path, **variables):
    """Return the hosts that AWX imports by an update, which must not fail."""
    update(runner, path, **variables).ok()
    return hosts(json.loads(path.with_name("output.json").read_text()))


def fails(runner, path, **variables):
    """Return whether an update fails: then AWX imports nothing, not even an empty inventory."""
    return update(runner, path, **variables).rc != 0


def test_an_update_of_an_empty_account_imports_no_hosts(source):
    source.sandbox.servers.clear()
    assert imported(source.runner, source.file()) == []
    assert fails(source.runner, source.file(min_servers=1))


def test_a_directory_with_a_failing_file_needs_a_variable_to_fail(source):
    folder = source.folder = source.folder / "sources"
    folder.mkdir()
    source.file("a.server_management.yml")
    source.file("b.server_management.yml", api_token="wrong")
    assert imported(source.runner, folder) == KNOWN_NAMES
    name = "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"
    assert fails(source.runner, folder, **{name: SOURCE_VARIABLES[name]})


def test_with_fewer_plugins_no_script_is_read(source):
    assert imported(source.runner, source.file(), **ENABLED) == KNOWN_NAMES
    # AWX gives jobs their inventory in this form.
    script = source.folder / "hosts"
    script.write_text('#! /usr/bin/env python3\nprint(\'{"all": {"hosts": ["web-1"]}}\')\n')
    script.chmod(0o755)
    assert fails(source.runner, script, **ENABLED)


def test_the_variables_of_the_guide_are_in_what_awx_reads(source):
    compose = {"_awx_description": "server_management_name"}
    path = source.file(hostnames=["server_management_id"], compose=compose)
    update(source.runner, path).ok()
    output = json.loads(path.with_name("output.json").read_text())
    variables = output["_meta"]["hostvars"]["srv_2"]
    assert variables["_awx_description"] == "web-2"
    assert variables["server_management_status"] == "stopped"


def test_an_update_finds_collections_of_the_project_only_by_the_variable(
    source, installed, tmp_path
):
    guide = (GUIDES / "guide_awx.rst").read_text(encoding="utf-8")
    (mounted,) = re.findall(r"``ANSIBLE_COLLECTIONS_PATH: (\S+)``", guide)
    runner = Runner(tmp_path / "other_home")
    path = source.file()
    missing = update(runner, path, **ENABLED)
    assert missing.rc != 0
    missing.shows("Failed to load inventory plugin, skipping", "No inventory plugins available")
    variable = mounted.replace("/runner/requirements_collections", str(installed))
    assert imported(runner, path, ANSIBLE_COLLECTIONS_PATH=variable) == KNOWN_NAMES


CREDENTIAL = TASKS["awx.awx.credential_type"]


def inject(source, values):
    """Return the environment of the guide's type of credential, as AWX makes it."""
    render = ImmutableSandboxedEnvironment().from_string
    names = {}
    for name, text in CREDENTIAL["injectors"]["file"].items():
        path = source.folder / name.removeprefix("template.")
        path.write_text(render(text).render(values))
        names[path.name] = str(path)
    values["tower"] = {"filename": names}
    variables = {}
    for name, text in CREDENTIAL["injectors"]["env"].items():
        variables[name] = render(text).render(values)
    return variables


def test_a_credential_opens_the_account(source):
    values = {"base_url": source.sandbox.url, "api_token": source.sandbox.token}
    assert set(CREDENTIAL["inputs"]["required"]) == set(values)
    variables = inject(source, values)
    # AWX leaves out empty fields.
    assert variables["SERVER_MANAGEMENT_CA_PATH"] == ""
    path = source.folder / "awx.server_management.yml"
    path.write_text(FILES[path.name])
    assert imported(source.runner, path, **variables) == KNOWN_NAMES


def test_a_credential_may_have_a_ca(source):
    certificate = trustme.CA().cert_pem.bytes().decode()
    values = {"base_url": "https://a", "api_token": "b", "ca": certificate}
    assert set(values) <= {field["id"] for field in CREDENTIAL["inputs"]["fields"]}
    variables = inject(source, values)
    assert Path(variables["SERVER_MANAGEMENT_CA_PATH"]).read_text().strip() == certificate.strip()
