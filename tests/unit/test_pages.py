# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare what several pages show."""

import re

import yaml

from support.collection import REPOSITORY, read
from support.guides import GUIDES, read_blocks, read_files


def test_the_readme_and_the_start_page_list_the_same_tasks():
    pattern = r"^- \[([^]]+)\]\(docs/docsite/rst/(\w+)\.rst"
    tasks = re.findall(pattern, read("README.md"), re.M)
    pattern = r"^- :ref:`([^<]+) <ansible_collections\.server_management\.cloud\.docsite\.(\w+)"
    on_site = re.findall(pattern, read("docs/docsite/sphinx/index.rst"), re.M)
    assert tasks
    assert tasks == on_site


def test_the_readme_shows_the_inventory_of_the_quick_start():
    of_readme = read_blocks(REPOSITORY / "README.md")
    of_guide = read_blocks(GUIDES / "guide_quickstart.rst")
    file, command, _ping, graph, *_others = [block.text for block in of_readme]
    assert file in [block.text for block in of_guide]
    assert (command.strip(), graph) in [pair for block in of_guide for pair in block.commands()]


def test_the_page_explains_the_options_of_the_file_for_production():
    options = yaml.safe_load(read_files("production")["production.server_management.yml"])
    page = read("docs/docsite/rst/guide_production.rst")
    for option in options.keys() - {"plugin", "base_url", "cache_plugin", "cache_connection"}:
        assert f"``{option}``" in page, option


def test_each_guide_is_in_the_contents():
    contents = yaml.safe_load(read("docs/docsite/extra-docs.yml"))
    listed = [page for section in contents["sections"] for page in section["toctree"]]
    assert sorted(listed) == sorted(path.stem for path in GUIDES.glob("*.rst"))
    start = read("docs/docsite/sphinx/index.rst")
    for page in listed:
        assert f"docsite/{page}" in start, page
