# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the AWX guide says, with the commands and the environment of AWX 24.6, but without AWX."""

import re
from pathlib import Path

from jinja2 import Template

from support.guides import GUIDES, read_files, read_tasks
from support.run import Runner

FILES = read_files("awx")
TASKS = read_tasks(FILES["set_up_awx.yml"])
SOURCE = TASKS["awx.awx.inventory_source"]
CREDENTIAL_TYPE = TASKS["awx.awx.credential_type"]
RUNNING = ["db-1", "web-1"]
# STANDARD_INVENTORY_UPDATE_ENV in awx/main/constants.py
ENVIRONMENT = {
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "ANSIBLE_INVENTORY_EXPORT": "True",
    "ANSIBLE_VERBOSE_TO_STDERR": "True",
    "ANSIBLE_HOST_PATTERN_MISMATCH": "error",
}


def update(source, path, variables=()):
    """Run an inventory update; if it fails, AWX imports nothing, not even an empty inventory."""
    folder = path.parent
    env = {**ENVIRONMENT, **dict(variables)}
    command = ("--list", "--export", "-i", path, "--playbook-dir", folder, "-vvv")
    return source.runner.inventory(*command, env=env, cwd=folder)


def enabled(source, path, variables=()):
    """Return the hosts that AWX enables after an update, which must not fail."""
    listing = update(source, path, variables).ok().json()
    hostvars = listing["_meta"]["hostvars"]
    variable = SOURCE["enabled_var"]
    value = SOURCE["enabled_value"]
    return [name for name in hostvars if hostvars[name][variable] == value]


def test_a_directory_with_a_failing_file_needs_a_variable_to_fail(source, tmp_path):
    source.folder = tmp_path / "sources"
    source.folder.mkdir()
    source.file("a.server_management.yml")
    source.file("b.server_management.yml", api_token="wrong")
    assert enabled(source, source.folder) == RUNNING
    name = "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"
    variables = {name: SOURCE["source_vars"][name]}
    assert update(source, source.folder, variables).rc != 0
    assert update(source, source.folder / "b.server_management.yml").rc != 0


def test_an_update_finds_collections_of_the_project_by_the_variable(source, installed, tmp_path):
    guide = GUIDES / "guide_awx.rst"
    (variable,) = re.findall(r"``ANSIBLE_COLLECTIONS_PATH: (\S+)``", guide.read_text())
    source.runner = Runner(tmp_path / "other_home")
    path = source.file()
    folders = variable.replace("/runner/requirements_collections", str(installed))
    variables = {**SOURCE["source_vars"], "ANSIBLE_COLLECTIONS_PATH": folders}
    assert enabled(source, path, variables) == RUNNING


def inject(folder, values):
    """Return the environment that AWX makes of the guide's type of credential."""
    injectors = CREDENTIAL_TYPE["injectors"]
    files = {}
    for name, text in injectors["file"].items():
        path = folder / name.removeprefix("template.")
        path.write_text(Template(text).render(values))
        files[path.name] = path
    variables = {}
    tower = {"filename": files}
    for name, text in injectors["env"].items():
        variables[name] = Template(text).render(values, tower=tower)
    return variables


def test_a_credential_opens_the_account_and_may_have_a_ca(source, sandbox, tmp_path):
    fields = CREDENTIAL_TYPE["inputs"]["fields"]
    secret = {field["id"]: field.get("secret") for field in fields}
    assert secret == {"base_url": None, "api_token": True, "ca": None}
    # AWX leaves out empty fields.
    values = {"base_url": sandbox.url, "api_token": sandbox.token}
    path = tmp_path / "awx.server_management.yml"
    path.write_text(FILES[path.name])
    variables = inject(tmp_path, values)
    assert sandbox.token not in variables.values()
    assert enabled(source, path, variables) == RUNNING
    values["ca"] = "of a private CA"
    variables = inject(tmp_path, values)
    bundle = Path(variables["SERVER_MANAGEMENT_CA_PATH"])
    assert bundle.read_text() == values["ca"]


def test_an_update_of_an_empty_account_fails(source, sandbox, tmp_path):
    sandbox.servers.clear()
    path = tmp_path / "awx.server_management.yml"
    path.write_text(FILES[path.name])
    update(source, path, sandbox.environment).shows("min_servers: 1 or more expected")
