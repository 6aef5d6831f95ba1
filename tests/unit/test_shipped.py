# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is shipped and is not Python: playbooks, the rulebook, metadata; and names in documents."""

import re
from pathlib import Path

import pytest

from ansible_collections.server_management.cloud.plugins.filter.openssh_hosts import openssh_hosts
from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from support.collection import REPOSITORY, read, read_yaml

PLAYBOOKS = sorted(path.stem for path in REPOSITORY.glob("playbooks/*.yml"))
PLUGINS = {}
for kind in ("modules", "inventory", "filter", "doc_fragments"):
    PLUGINS[kind] = [path.stem for path in REPOSITORY.glob(f"plugins/{kind}/*.py")]
EXTENSIONS = [path.stem for path in REPOSITORY.glob("extensions/eda/*/**/*.*") if path.is_file()]
# The action group, the pages of the documentation, and a name that readers replace.
OTHER_NAMES = ("all", "docsite", "NAME")
PATTERNS = (
    "*.md",
    "*.rst",
    "docs/**/*.rst",
    "plugins/**/*.py",
    "playbooks/**/*",
    "extensions/**/*",
)
DOCUMENTS = [path for pattern in PATTERNS for path in REPOSITORY.glob(pattern) if path.is_file()]
GUIDES = "\n".join(read(path) for path in REPOSITORY.glob("docs/docsite/rst/*.rst"))


def test_documents_name_what_the_collection_has():
    known = {*PLAYBOOKS, *EXTENSIONS, *OTHER_NAMES}
    known.update(*PLUGINS.values())
    search = re.compile(
        r"(?<!ansible_collections\.)server_management\.cloud\.([A-Za-z]+(?:_[a-z]+)*)"
    )
    for path in DOCUMENTS:
        names = search.findall(read(path))
        assert set(names) <= known, path


def test_the_changelog_has_each_module_plugin_and_playbook():
    release = read_yaml("changelogs/changelog.yaml")["releases"]["1.0.0"]
    entries = {**release, **release["plugins"], **release["objects"]}
    expected = {**PLUGINS, "playbook": PLAYBOOKS}
    del expected["doc_fragments"]
    for kind, names in expected.items():
        assert sorted(entry["name"] for entry in entries[kind]) == sorted(names), kind


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_a_playbook_and_its_variables_are_documented(name):
    assert f"server_management.cloud.{name}" in GUIDES
    (play,) = read_yaml(f"playbooks/{name}.yml")
    # Texts for messages, and expressions, are not settings.
    settings = {"ssh_config_inventory"} if name == "ssh_config" else set()
    for variable, value in play.get("vars", {}).items():
        if not re.search(r"[{#\\]", str(value)):
            settings.add(variable)
    settings.update(re.findall(r"(\w+) \| default\(omit\)", str(play)))
    for setting in settings:
        assert f"``{setting}``" in GUIDES


def test_all_playbooks_do_the_same_with_tags_and_limits():
    (check_api,) = read_yaml("playbooks/check_api.yml")
    for name in PLAYBOOKS:
        (play,) = read_yaml(f"playbooks/{name}.yml")
        assert play["tags"] == "always", name
        assert play["gather_facts"] is False, name
        assert (play["hosts"] == "localhost") == (name != "set_up_server")
        for task in play["tasks"]:
            assert "tags" not in task, name
        if play["hosts"] == "localhost":
            assert play["serial"] == check_api["serial"], name
            assert play["vars_files"] == check_api["vars_files"], name


def test_metadata_name_files_that_exist():
    environment = read_yaml("meta/execution-environment.yml")
    (extension,) = read_yaml("meta/extensions.yml")["extensions"]
    folder = Path("extensions", extension["args"]["ext_dir"])
    assert (REPOSITORY / folder / "servers.py").is_file()
    assert "requests" in read(environment["dependencies"]["python"])
    assert read(read_yaml("galaxy.yml")["readme"])


def test_plain_text_is_the_same_in_plugins_and_playbooks():
    (play,) = read_yaml("playbooks/declare_fleet.yml")
    in_playbook = re.compile(play["vars"]["declare_fleet_is_plain"]).match
    for code in (*range(0x250), 0x660, 0x6F22, 0x1F600):
        character = chr(code)
        path = f"/a{character}b"
        variables = {"ansible_host": "192.0.2.1", "ansible_private_key_file": path}
        in_filter = openssh_hosts(["web"], {"web": variables})["hosts"]
        expected = bool(is_plain(path))
        assert bool(in_playbook(path)) is expected, code
        assert bool(in_filter) is (expected or character == "="), code
