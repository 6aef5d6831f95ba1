# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports on which programs and guarantees depend; the rest is up to a linter and reviewers."""

import ast

from support.collection import REPOSITORY


def parse_files(pattern):
    trees = {}
    for path in REPOSITORY.glob(pattern):
        text = path.read_text(encoding="utf-8")
        trees[path.relative_to(REPOSITORY)] = ast.parse(text)
    return trees


CODE = {**parse_files("plugins/**/*.py"), **parse_files("extensions/**/*.py")}


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


def packages(tree):
    return {name.split(".")[0] for name in imported(tree)}


def test_imports_between_plugins_are_relative():
    for path in parse_files("plugins/**/*.py"):
        assert "ansible_collections" not in packages(CODE[path]), path


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
