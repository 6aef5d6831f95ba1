# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the AWX guide says, with the commands and the environment of AWX 24.6, but without AWX."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import trustme
from jinja2.sandbox import ImmutableSandboxedEnvironment

from support.fixtures import KNOWN, KNOWN_NAMES
from support.guides import GUIDES, read_files, read_tasks
from support.run import Result, Runner

from .conftest import Source, hosts

FILES = read_files("awx")
TASKS = read_tasks(FILES["set_up_awx.yml"])
SOURCE_VARIABLES: dict[str, str] = TASKS["awx.awx.inventory_source"]["source_vars"]
ENABLED = {"ANSIBLE_INVENTORY_ENABLED": SOURCE_VARIABLES["ANSIBLE_INVENTORY_ENABLED"]}
# STANDARD_INVENTORY_UPDATE_ENV in awx/main/constants.py
ENVIRONMENT = {
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "ANSIBLE_INVENTORY_EXPORT": "True",
    "ANSIBLE_VERBOSE_TO_STDERR": "True",
    "ANSIBLE_HOST_PATTERN_MISMATCH": "error",
}


def update(runner: Runner, path: Path, **variables: str) -> tuple[Result, list[str] | None]:
    """Run an inventory update; return its result, and the hosts that AWX would import.

    AWX imports nothing, not even an empty inventory, if the command fails: the hosts are None.
    """
    output = path.with_name("output.json")
    output.unlink(missing_ok=True)
    command = ("--list", "--export", "-i", path, "--output", output, "--playbook-dir", path.parent)
    result = runner.inventory(*command, "-vvv", env={**ENVIRONMENT, **variables}, cwd=path.parent)
    return result, hosts(json.loads(output.read_text())) if result.rc == 0 else None


@pytest.mark.parametrize(
    ("options", "servers", "imported"),
    [
        ({"api_token": "wrong"}, KNOWN, None),
        ({}, [], []),
        ({"min_servers": 1}, [], None),
        ({"regions": ["eu-1", "eu-11"], "strict": True}, KNOWN, None),
        (
            {"hostnames": ["'acct-a-' ~ server_management_name"]},
            KNOWN,
            [f"acct-a-{name}" for name in KNOWN_NAMES],
        ),
    ],
    ids=["wrong token", "no server", "too few servers", "unknown region", "other names"],
)
def test_an_update_fails_or_imports_these_hosts(
    source: Source, options: dict[str, Any], servers: list[Any], imported: list[str] | None
) -> None:
    source.sandbox.servers[:] = [dict(server) for server in servers]
    _result, found = update(source.runner, source.file(**options))
    assert found == imported


def test_a_directory_with_a_failing_file_needs_a_variable_to_fail(source: Source) -> None:
    folder = source.folder / "sources"
    folder.mkdir()
    for name, options in (("a", {}), ("b", {"api_token": "wrong"})):
        path = source.file(f"{name}.server_management.yml", **options)
        path.rename(folder / path.name)
    assert update(source.runner, folder)[1] == KNOWN_NAMES
    name = "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"
    assert update(source.runner, folder, **{name: SOURCE_VARIABLES[name]})[1] is None


def test_with_fewer_plugins_no_script_is_read(source: Source) -> None:
    assert update(source.runner, source.file(), **ENABLED)[1] == KNOWN_NAMES
    # AWX gives jobs their inventory in this form.
    script = source.folder / "hosts"
    script.write_text('#! /usr/bin/env python3\nprint(\'{"all": {"hosts": ["web-1"]}}\')\n')
    script.chmod(0o755)
    assert update(source.runner, script, **ENABLED)[1] is None


def test_the_variables_of_the_guide_are_in_what_awx_reads(source: Source) -> None:
    compose = {"_awx_description": "server_management_name"}
    path = source.file(hostnames=["server_management_id"], compose=compose)
    update(source.runner, path)
    output = json.loads(path.with_name("output.json").read_text())
    variables = output["_meta"]["hostvars"]["srv_2"]
    assert (variables["_awx_description"], variables["server_management_status"]) == (
        "web-2",
        "stopped",
    )


def test_an_update_finds_collections_of_the_project_only_by_the_variable(
    source: Source, installed: Path, tmp_path: Path
) -> None:
    guide = (GUIDES / "guide_awx.rst").read_text(encoding="utf-8")
    (mounted,) = re.findall(r"``ANSIBLE_COLLECTIONS_PATH: (\S+)``", guide)
    runner = Runner(tmp_path / "other_home")
    path = source.file()
    missing, found = update(runner, path, **ENABLED)
    assert found is None
    missing.shows("Failed to load inventory plugin, skipping", "No inventory plugins available")
    variable = mounted.replace("/runner/requirements_collections", str(installed))
    assert update(runner, path, ANSIBLE_COLLECTIONS_PATH=variable)[1] == KNOWN_NAMES


@pytest.mark.parametrize("ca", ["", "a CA"])
def test_a_credential_opens_the_account(source: Source, ca: str) -> None:
    made = TASKS["awx.awx.credential_type"]
    values: dict[str, Any] = {"base_url": source.sandbox.url, "api_token": source.sandbox.token}
    assert set(made["inputs"]["required"]) == set(values)
    if ca:  # AWX leaves out empty fields.
        values["ca"] = trustme.CA().cert_pem.bytes().decode()
    assert {field["id"] for field in made["inputs"]["fields"]} >= set(values)
    render = ImmutableSandboxedEnvironment().from_string
    names = {}
    for name, text in made["injectors"]["file"].items():
        path = source.folder / name.removeprefix("template.")
        path.write_text(render(text).render(values))
        names[path.name] = str(path)
    values["tower"] = {"filename": names}
    variables = {
        name: render(text).render(values) for name, text in made["injectors"]["env"].items()
    }
    assert variables["SERVER_MANAGEMENT_CA_PATH"] == (names["ca"] if ca else "")
    path = source.folder / "awx.server_management.yml"
    path.write_text(FILES[path.name])
    assert update(source.runner, path, **variables)[1] == KNOWN_NAMES
