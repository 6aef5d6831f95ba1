# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each place that lists fields, or what is live, has what the tables have."""

import re

from support.collection import REPOSITORY, read
from support.places import NAMES, differences

PATTERNS = (
    "*.md",
    "*.rst",
    "docs/docsite/**/*.rst",
    "plugins/modules/*.py",
    "plugins/inventory/*.py",
)
DOCUMENTS = [path for pattern in PATTERNS for path in REPOSITORY.glob(pattern)]


def test_each_place_has_what_the_tables_have():
    assert differences() == []


def test_no_sentence_lists_what_the_table_of_fields_lists():
    complete = []
    for path in DOCUMENTS:
        text = re.sub(r"\b[A-Z]+\(|[)`*]", "", read(path))
        for names in re.findall(r"(?:\w+,\s+)+\w+\s+(?:and|or)\s+\w+", text):
            words = set(re.findall(r"\w+", names))
            if words >= {*NAMES["fields that group"]} or words >= {*NAMES["options that select"]}:
                complete.append(f"{path.name}: {names}")
    assert complete == []
