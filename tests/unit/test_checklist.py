# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The requirements of the Ansible community package that a program can check are met."""

from __future__ import annotations

import ast
import re
from typing import Any

import yaml

from support.collection import REPOSITORY, sources

PLUGIN_FOLDERS = {"inventory", "modules", "module_utils", "plugin_utils", "doc_fragments"}
LARGEST_FILE = 500_000  # bytes; the tarball may have 20 MB
READING_STATES = {"get", "list", "query", "info"}


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def load(name: str) -> Any:
    return yaml.safe_load(read(name))


def constants(name: str) -> dict[str, ast.expr]:
    """Return the values that a Python file assigns at its top level."""
    return {
        ast.unparse(node.targets[0]): node.value
        for node in ast.parse(read(name)).body
        if isinstance(node, ast.Assign)
    }


def sections() -> dict[str, str]:
    """Return the sections of README.md by their titles."""
    parts = re.split(r"^## (.+)\n", read("README.md"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_has_evidence_that_exists_for_each_requirement() -> None:
    page = read("docs/docsite/rst/checklist.rst")
    rows = re.findall(
        r"^   \* - ((?:.|\n)+?)\n     - ((?:.|\n)+?)(?=\n   \* - |\n\n|\Z)", page, re.M
    )
    rows = [row for row in rows if row != ("Requirement", "Evidence")]
    assert len(rows) == page.count("   * - ") - page.count("   * - Requirement\n")
    names = {name.rpartition("/")[2] for name in sources()}
    targets = set(re.findall(r"^SESSIONS := (.+)$", read("Makefile"), re.MULTILINE)[0].split())
    for requirement, evidence in rows:
        assert requirement.startswith(("MUST ", "SHOULD "))
        assert not evidence.startswith("open") or evidence.startswith("open until publication")
        for name in re.findall(r"``([\w./-]+\.(?:md|py|yml|yaml|rst))``", evidence):
            assert (REPOSITORY / name).exists() or name in names, name
        assert set(re.findall(r"``make (\w+)", evidence)) <= targets


def test_the_readme_welcomes_readers_to_the_forum() -> None:
    communication = sections()["Communication"]
    assert "welcome" in communication
    assert "https://forum.ansible.com/c/help/6" in communication
    assert "tag `cloud`" in communication
    forums = load("docs/docsite/links.yml")["communication"]["forums"]
    assert [forum["url"] for forum in forums] == ["https://forum.ansible.com/c/help/6"]
    for title in ("Installation", "Testing", "Support", "Contributing", "License"):
        assert title in sections()
    assert "https://semver.org" in sections()["Release notes and roadmap"]
    assert "CODE_OF_CONDUCT.md" in sections()["Contributing"]
    assert "docs.ansible.com" in read("CODE_OF_CONDUCT.md")


def test_the_files_of_the_collection_are_as_required() -> None:
    galaxy = load("galaxy.yml")
    assert "cloud" in galaxy["tags"]
    assert galaxy["dependencies"] == {}
    assert int(galaxy["version"].partition(".")[0]) >= 1
    folders = {name.split("/")[1] for name in sources() if name.startswith("plugins/")}
    assert folders <= PLUGIN_FOLDERS
    utilities = [name for name in sources() if re.match(r"plugins/\w+_utils/", name)]
    assert utilities
    for name in sources():
        assert (REPOSITORY / name).stat().st_size < LARGEST_FILE, name
        assert not name.startswith("tests/sanity/"), name
        if name in utilities:
            assert name.rpartition("/")[2].startswith("_"), name
        if name.endswith(".py"):
            assert "License-Identifier: GPL-3.0-or-later" in read(name), name


def test_no_module_reads_with_a_state() -> None:
    for path in REPOSITORY.glob("plugins/modules/*.py"):
        documented = ast.literal_eval(constants(f"plugins/modules/{path.name}")["DOCUMENTATION"])
        options = yaml.safe_load(documented).get("options", {})
        assert not READING_STATES & set(options.get("state", {}).get("choices", ()))
        # What has no state to reach only reads.
        assert ("state" in options) is not path.stem.endswith("_info"), path.stem


def test_the_changelog_lists_each_module_and_plugin() -> None:
    releases = load("changelogs/changelog.yaml")["releases"]
    for folder in ("modules", "inventory"):
        for path in REPOSITORY.glob(f"plugins/{folder}/*.py"):
            names = constants(f"plugins/{folder}/{path.name}")
            documented = yaml.safe_load(ast.literal_eval(names["DOCUMENTATION"]))
            release = releases[documented["version_added"]]
            listed = release.get(folder) or release["plugins"][folder]
            described = {found["name"]: found["description"] for found in listed}
            expected = documented["short_description"].replace("-", r"\-")
            assert described[path.stem].rstrip(".") == expected, path.stem


def test_all_supported_versions_run_sanity_tests_for_each_change_and_release() -> None:
    table = constants("noxfile.py")
    cores = list(ast.literal_eval(table["CORES"]))
    assert load("meta/runtime.yml")["requires_ansible"] == f">={cores[-1]}.0"
    tests = table["ANSIBLE_TESTS"]
    assert isinstance(tests, ast.Dict)
    every, *others = map(ast.unparse, tests.values)
    assert (tests.keys[0], every) == (None, "dict.fromkeys(CORES, (SANITY,))")
    assert {kinds.strip("()").partition(",")[0] for kinds in others} == {"'sanity'", "SANITY"}
    assert ast.literal_eval(table["SANITY"]) == "sanity --skip-test pylint"
    assert "check" in ast.literal_eval(table["RELEASE"])
    workflow = load(".github/workflows/ci.yml")
    assert {"pull_request", "schedule"} <= set(workflow["on"])
    (weekly,) = workflow["on"]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \d", weekly["cron"])
    (job,) = workflow["jobs"].values()
    assert {"matrix", "gates", "devel"} <= set(job["strategy"]["matrix"]["target"])
    assert "make release" in read(".github/workflows/release.yml")


def test_every_place_that_runs_all_tests_installs_the_same_programs() -> None:
    (here,) = re.findall(r"^packages=\((.+)\)$", read(".ci/run"), re.MULTILINE)
    expected = set(here.split()) - {"openssh-client"}  # which openssh-server requires
    for name in ("ci", "release"):
        text = read(f".github/workflows/{name}.yml")
        (packages,) = re.findall(r"apt-get install --yes (.+)", text)
        assert set(packages.split()) == expected, name
