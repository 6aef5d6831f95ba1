# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each place that repeats a supported version repeats that of tools/versions.py."""

import re

import pytest

from support.collection import read, sources
from tools.versions import CORES, NEWEST, OLDEST, PRE_RELEASES, PYTHONS, RELEASED, REQUESTS

PYTHON = PYTHONS[0]
ALL_PYTHONS = set().union(*CORES.values())
CI_PYTHONS = (r"^ {12}(3\.\d+)$", ALL_PYTHONS)
RANGE = r"ansible-core (2\.\d+)\s+to\s+(2\.\d+)"
# Files, and in each a pattern and what it must find: one text, or all texts of a set.
PLACES = [
    ("meta/runtime.yml", r'requires_ansible: ">=(.+)\.0"', OLDEST),
    ("requirements.txt", r"requests>=(.+)", REQUESTS),
    ("pyproject.toml", r'target-version = "py(\d+)"', PYTHON.replace(".", "")),
    ("tests/config.yml", r'python_requires: ">=(.+)"', PYTHON),
    ("plugins/doc_fragments/connection.py", r"python >= (\S+)", PYTHON),
    ("plugins/doc_fragments/connection.py", r"requests >= (\S+)", REQUESTS),
    ("plugins/module_utils/_errors.py", r"version_info < \((3, \d+)\)", PYTHON.replace(".", ", ")),
    ("Makefile", r"python(3\.\d+)", set(PYTHONS)),
    ("tools/benchmark/__main__.py", r'"(2\.\d+)": "\d', {OLDEST, RELEASED}),
    (".github/workflows/ci.yml", *CI_PYTHONS),
    (".github/workflows/release.yml", *CI_PYTHONS),
    (".github/workflows/release.yml", r"ansible-core~=(2\.\d+)", RELEASED),
    ("docs/docsite/rst/guide_awx.rst", r"ansible-core~=(2\.\d+)", RELEASED),
    ("docs/docsite/rst/guide_recipes.rst", r"ansible-core==(2\.\d+)", RELEASED),
    ("docs/docsite/rst/guide_quickstart.rst", r"ansible-core\s+(2\.\d+)\s+or\s+later", OLDEST),
    ("docs/docsite/rst/guide_quickstart.rst", r"(3\.\d+)\s+or\s+later", PYTHON),
    ("docs/docsite/sphinx/index.rst", RANGE, (OLDEST, NEWEST)),
    ("docs/docsite/sphinx/index.rst", r"Python\s+(3\.\d+)\s+and", PYTHON),
    ("README.md", r"ansible-core\s+(2\.\d+)(?:,|\s+or\s+later)", OLDEST),
    ("README.md", RANGE, (OLDEST, NEWEST)),
    ("README.md", r"Python\s+3\.\d+\s+to\s+(3\.\d+)", PYTHONS[-1]),
    ("README.md", r"`requests`\s+(2\.\d+)", REQUESTS.removesuffix(".0")),
]
# In all documents and messages.
LATER = r"[Pp]ython\s+(3\.\d+)\s+(?:or|and)\s+later\b(?! check)"
PRE_RELEASE = r"(2\.\d+)\s+(?:\(|is\s+)a\s+release\s+candidate"


@pytest.mark.parametrize(("path", "pattern", "expected"), PLACES)
def test_a_place_repeats_the_supported_versions(path, pattern, expected):
    if not isinstance(expected, set):
        expected = {expected}
    assert set(re.findall(pattern, read(path), re.MULTILINE)) == expected


def test_texts_require_the_oldest_python_and_name_the_release_candidate():
    for path in sources():
        if path.endswith((".md", ".rst", ".py", ".yml")):
            text = read(path)
            assert set(re.findall(LATER, text)) <= {PYTHON}, path
            assert set(re.findall(PRE_RELEASE, text)) <= set(PRE_RELEASES), path


def test_no_version_between_the_oldest_and_the_newest_is_left_out():
    minors = [int(core.removeprefix("2.")) for core in CORES]
    assert minors == list(range(minors[0], minors[-1] - 1, -1))
    pythons = [int(python.removeprefix("3.")) for python in PYTHONS]
    assert pythons == list(range(pythons[0], pythons[-1] + 1))
    assert set(PYTHONS) <= {chosen for chosen, *_others in CORES.values()}
