# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports point in one direction, and functions are short."""

import ast

from support.collection import REPOSITORY

PLUGINS = "ansible_collections.server_management.cloud.plugins."


def parse_files(pattern):
    trees = {}
    for path in REPOSITORY.glob(pattern):
        text = path.read_text(encoding="utf-8")
        trees[path.relative_to(REPOSITORY)] = ast.parse(text)
    return trees


CODE = {**parse_files("plugins/**/*.py"), **parse_files("extensions/**/*.py")}
# The folders from which the files of each folder may import.
MAY_IMPORT = {
    "filter": {"module_utils"},
    "inventory": {"plugin_utils", "module_utils"},
    "plugin_utils": {"plugin_utils", "module_utils"},
    "modules": {"module_utils"},
    "module_utils": {"module_utils"},
    "event_source": {"plugin_utils", "module_utils"},
    "doc_fragments": {"module_utils"},
}
# What a file may import inside a function. A line that runs for the first time when something is
# wrong is one that nobody has seen run.
MAY_BE_LATE = {
    # An inventory from a cache needs none of them.
    "_http.py": {"requests", "urllib3"},
    # Only some versions of Ansible have it.
    "_token.py": {"ansible.module_utils.secrets"},
    # A run needs each of these as a whole or not at all.
    "servers.py": {
        "..module_utils._client",
        "..plugin_utils._cache",
        "..plugin_utils._expressions",
    },
}


def imported(tree):
    """Return the modules that are imported, those of relative imports with their dots."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            names.add(f"{dots}{node.module or ''}")
    return names


def folders(path):
    """Return the folders of the collection from which a file imports."""
    found = set()
    for name in imported(CODE[path]):
        if name.startswith(".."):
            found.add(name.split(".")[2])
        elif name.startswith("."):
            found.add(path.parent.name)
        elif name.startswith(PLUGINS):
            found.add(name.split(".")[4])
    return found


def packages(tree):
    return {name.split(".")[0] for name in imported(tree)}


def functions(tree):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def test_no_import_points_upward():
    for path in CODE:
        assert folders(path) <= MAY_IMPORT[path.parent.name], path


def test_imports_between_plugins_are_relative():
    for path in parse_files("plugins/**/*.py"):
        assert "ansible_collections" not in packages(CODE[path]), path


def test_imports_are_at_the_top_of_files():
    for path, tree in CODE.items():
        allowed = MAY_BE_LATE.get(path.name, set())
        for function in functions(tree):
            assert imported(function) <= allowed, path


def test_names_are_imported_from_modules():
    """In ansible-rulebook, ``from . import name`` looks for a package that does not exist there."""
    for path, tree in CODE.items():
        for name in imported(tree):
            assert name.strip("."), path


def test_module_utils_work_without_ansible():
    users = set()
    for path, tree in parse_files("plugins/module_utils/*.py").items():
        if "ansible" in packages(tree):
            users.add(path.name)
    assert users == {"_module.py", "_token.py"}


def test_only_one_file_imports_requests():
    for path, tree in CODE.items():
        imports_requests = packages(tree) & {"requests", "urllib3"}
        assert not imports_requests or path.name == "_http.py", path


def test_the_sandbox_imports_nothing_of_the_collection():
    for path, tree in parse_files("tests/sandbox/*.py").items():
        others = {"ansible", "ansible_collections", "requests", "support"}
        assert not packages(tree) & others, path


def test_functions_are_short():
    longer = {}
    for path, tree in CODE.items():
        for function in functions(tree):
            lines = (function.end_lineno or 0) - function.lineno + 1
            if lines > 40:
                longer[f"{path.name}: {function.name}"] = lines
    assert longer == {}
