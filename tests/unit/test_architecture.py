# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports point in one direction, functions are short, and the guide's map is complete."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

from support.collection import REPOSITORY, sources

COLLECTION = "ansible_collections.server_management.cloud."
FILES = [*REPOSITORY.glob("plugins/**/*.py"), *REPOSITORY.glob("extensions/**/*.py")]
SOURCES = sorted(path.relative_to(REPOSITORY) for path in FILES)
UTILITIES = [path for path in SOURCES if path.parent.name.endswith("_utils")]
# The kinds of files that each kind may import.
MAY_IMPORT = {
    "filter": set(),
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
    "plugins/module_utils/_http.py": {"requests", "urllib3", "urllib3.exceptions"},
    # Only some versions of Ansible have it.
    "plugins/module_utils/_token.py": {"ansible.module_utils.secrets"},
    # A run needs each of these as a whole or not at all.
    "plugins/inventory/servers.py": {
        "module_utils._client",
        "plugin_utils._cache",
        "plugin_utils._expressions",
    },
}
MOST_LINES = 40  # of a function
MOST_LADDER_LINES = 50
DIVIDED = ("plugins", "tests", "docs")  # folders whose folders are in the guide's map


def read(path):
    return (REPOSITORY / path).read_text(encoding="utf-8")


@cache
def parse(path):
    return ast.parse(read(path))


def functions(path):
    nodes = ast.walk(parse(path))
    return [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def imported(path):
    """Yield the full name of each module that a file imports, wherever the import is."""
    package = COLLECTION + ".".join(path.parent.parts)
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def own_imports(path):
    """Return the files of the collection that a file imports."""
    names = {name.removeprefix(COLLECTION) for name in imported(path)}
    paths = {Path(name.replace(".", "/")).with_suffix(".py") for name in names}
    return paths & set(SOURCES)


def test_imports_between_plugins_are_relative():
    for path in SOURCES:
        if path.parts[0] == "plugins":
            assert f"from {COLLECTION}" not in read(path), path


def test_no_import_points_upward():
    for path in SOURCES:
        kinds = {other.parent.name for other in own_imports(path)}
        assert kinds <= MAY_IMPORT[path.parent.name], path


def test_imports_have_no_cycle():
    graph = {path: own_imports(path) for path in SOURCES}
    assert any(graph.values())
    TopologicalSorter(graph).prepare()


def late_imports(path):
    """Return the modules that a file imports inside its functions."""
    names = set()
    for function in functions(path):
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or ".")
    return names


def test_imports_are_at_the_top_of_files():
    for path in SOURCES:
        assert late_imports(path) <= MAY_BE_LATE.get(str(path), set()), path


def test_names_are_imported_from_modules():
    """In ansible-rulebook, ``from . import name`` looks for a package that does not exist there."""
    for path in SOURCES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ImportFrom):
                assert node.module, path


def packages(path):
    return {name.partition(".")[0] for name in imported(path)}


def test_module_utils_work_without_ansible():
    utilities = {path for path in SOURCES if path.parent.name == "module_utils"}
    users = {path.name for path in utilities if "ansible" in packages(path)}
    assert users == {"_module.py", "_token.py"}


def test_only_one_file_imports_requests():
    importers = {path.name for path in SOURCES if packages(path) & {"requests", "urllib3"}}
    assert importers == {"_http.py"}


def test_the_sandbox_imports_nothing_of_the_collection():
    files = list(REPOSITORY.glob("tests/sandbox/**/*.py"))
    assert files
    for path in files:
        for name in imported(path.relative_to(REPOSITORY)):
            package = name.removeprefix(f"{COLLECTION}tests.sandbox").partition(".")[0]
            assert package not in ("ansible", "ansible_collections", "requests", "support"), path


def test_each_utility_has_a_test_with_its_name():
    for path in UTILITIES:
        assert list(REPOSITORY.glob(f"tests/unit/plugins/**/test{path.stem}*.py")), path


def is_ladder(function):
    """Return whether a function is a list of conditions, each with what it returns or raises."""
    steps = [node for node in function.body if isinstance(node, ast.If)]
    leaving = [step for step in steps if isinstance(step.body[-1], (ast.Return, ast.Raise))]
    blocks = (ast.For, ast.While, ast.With, ast.Try)
    has_blocks = any(isinstance(node, blocks) for node in ast.walk(function))
    return len(steps) >= 5 and leaving == steps and not has_blocks


def test_functions_are_short():
    for path in SOURCES:
        for function in functions(path):
            lines = (function.end_lineno or 0) - function.lineno + 1
            most = MOST_LADDER_LINES if is_ladder(function) else MOST_LINES
            assert lines <= most, f"{path}: {function.name}"


def test_the_map_in_the_development_guide_is_complete():
    guide = (REPOSITORY / "docs/docsite/rst/guide_development.rst").read_text(encoding="utf-8")
    block = guide.partition("\nSource tree\n")[2].partition(".. code-block:: text\n\n")[2]
    mapped = set(re.findall(r"^ {4}(?:  )?(\w+)/(?: |$)", block, re.MULTILINE))
    folders = set()
    for name in sources():
        top, *inner = Path(name).parent.parts or [""]
        folders.add(top)
        if inner and top in DIVIDED:
            folders.add(inner[0])
    hidden = {folder for folder in folders if folder.startswith(".")}
    assert mapped == folders - hidden - {"", "LICENSES"}
