# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each place that repeats a supported version repeats that of tools/versions.py."""

import re
import subprocess

import pytest
import yaml

from support.collection import REPOSITORY, read, sources
from support.run import write_program
from tools import versions
from tools.versions import CORES, NEWEST, OLDEST, PRE_RELEASES, PYTHONS, RELEASED, REQUESTS

PYTHON = PYTHONS[0]
# What each name in the table stands for.
EXPECTED = {
    "oldest": {OLDEST},
    "released": {RELEASED},
    "both": {OLDEST, RELEASED},
    "range": {(OLDEST, NEWEST)},
    "python": {PYTHON},
    "python before": {f"3.{int(PYTHON.partition('.')[2]) - 1}"},
    "joined": {PYTHON.replace(".", "")},
    # A version checks its sources with the tuple (3, 10).
    "tuple": {PYTHON.replace(".", ", ")},
    "python of a pipeline": {CORES[RELEASED][0]},
    "newest python": {PYTHONS[-1]},
    "pythons": set(PYTHONS),
    "all pythons": set().union(*CORES.values()),
    "requests": {REQUESTS},
    "short requests": {REQUESTS.removesuffix(".0")},
}
# Files, and in each a pattern and what it must find.
PLACES = yaml.safe_load(r"""
- [meta/runtime.yml, 'requires_ansible: ">=(.+)\.0"', oldest]
- [requirements.txt, requests>=(.+), requests]
- [pyproject.toml, 'target-version = "py(\d+)"', joined]
- [tests/config.yml, 'python_requires: ">=(.+)"', python]
- [plugins/doc_fragments/connection.py, 'python >= (\S+)', python]
- [plugins/doc_fragments/connection.py, 'requests >= (\S+)', requests]
- [plugins/module_utils/_errors.py, 'version_info < \((3, \d+)\)', tuple]
- [docs/docsite/rst/guide_recipes.rst, 'python(?:-version: "|:)(3\.\d+)', python of a pipeline]
- [README.md, 'Python\s+(3\.\d+)\s+(?:and|to)', python]
- [Makefile, 'python(3\.\d+)', pythons]
- [Makefile, 'version_info < \((3, \d+)\)', tuple]
- [tools/benchmark/__main__.py, '"(2\.\d+)": "\d', both]
- [.github/workflows/ci.yml, &listed '^ {12}(3\.\d+)$', all pythons]
- [.github/workflows/release.yml, *listed, all pythons]
- [.github/workflows/release.yml, 'ansible-core~=(2\.\d+)', released]
- [docs/docsite/rst/guide_awx.rst, 'ansible-core~=(2\.\d+)', released]
- [docs/docsite/rst/guide_recipes.rst, 'ansible-core==(2\.\d+)', released]
- [docs/docsite/sphinx/index.rst, &range 'ansible-core (2\.\d+)\s+to\s+(2\.\d+)', range]
- [README.md, 'ansible-core\s+(2\.\d+)(?:,|\s+or\s+later)', oldest]
- [README.md, *range, range]
- [README.md, 'Python\s+3\.\d+\s+to\s+(3\.\d+)', newest python]
- [README.md, &unsupported '3\.6 to (3\.\d+)', python before]
- [plugins/doc_fragments/connection.py, *unsupported, python before]
- [README.md, '`requests`\s+(2\.\d+)', short requests]
""")
# In all files: an ansible-core, with a word before it that allows it to be too old. In a cell of a
# table, it is a figure.
OLDER = r"(?:(before|since|up to)\s+(?:ansible-core\s+)?)?(?<![\d.])(?<!\| )2\.(\d\d)(?!\d)"
LATER = r"[Pp]ython\s+(3\.\d+)\s+(?:or|and)\s+later\b(?! check)"
PRE_RELEASE = r"(2\.\d+)\s+(?:\(|is\s+)a\s+release\s+candidate"


@pytest.mark.parametrize(("path", "pattern", "expected"), PLACES)
def test_a_place_repeats_the_supported_versions(path, pattern, expected):
    found = re.findall(pattern, read(path), re.MULTILINE)
    assert set(found) == EXPECTED[expected]


def test_texts_require_the_oldest_python_and_name_the_release_candidate():
    for path in sources():
        if path.endswith((".md", ".rst", ".py", ".yml")):
            text = read(path)
            assert set(re.findall(LATER, text)) <= {PYTHON}, path
            assert set(re.findall(PRE_RELEASE, text)) <= set(PRE_RELEASES), path


def test_no_file_names_an_ansible_core_that_is_not_supported():
    least = int(OLDEST.partition(".")[2])
    found = {}
    for path in sources():
        for word, minor in re.findall(OLDER, read(path), re.IGNORECASE):
            if int(minor) < least and not word:
                found.setdefault(path, set()).add(f"2.{minor}")
    assert found == {}


def test_each_python_is_the_first_choice_of_a_core():
    chosen = [pythons[0] for pythons in CORES.values()]
    assert set(PYTHONS) <= set(chosen)


# No machine has such Pythons.
OTHERS = {"2.22": ["9.4", "9.5"], "2.21": ["9.3", "9.2"], "2.20": ["9.2"]}


def test_the_newest_core_with_a_python_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}/shims")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    # The shim of a version manager fails.
    for name in ("shims/python9.4", "versions/9.2.1/bin/python9.2"):
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
    versions.find_pythons()
    assert versions.newest_core(OTHERS) == ("2.21", "9.2")


def test_without_a_suitable_python_the_last_one_is_reported():
    assert versions.choose(["9.3", "9.1"]) == "9.1"
    assert versions.newest_core(OTHERS) == ("2.22", versions.OWN)


# As on Debian without the package python3-venv.
WITHOUT_PIP = """\
#!/bin/sh
exec python3 -c "import sys; sys.modules['ensurepip'] = None; exec(sys.argv[1])" "$2"
"""


def test_make_refuses_a_python_without_pip(tmp_path):
    write_program(tmp_path / "python", WITHOUT_PIP)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/requirements-tools.txt").touch()
    command = ("make", "-f", REPOSITORY / "Makefile", "PYTHON=./python", ".venv-tools/ready")
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "with venv and pip is required" in result.stderr
