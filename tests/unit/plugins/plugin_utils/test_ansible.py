# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Ansible that other versions may not have, and trust in text."""

from __future__ import annotations

import inspect
import json
import re
import string
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from ansible import constants
from ansible.inventory import manager
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import Constructable
from ansible.release import __version__
from ansible.template import Templar
from ansible.utils.vars import isidentifier
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _expressions
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
    compile_once,
    is_identifier,
    is_ignored,
    mark,
    reason_text,
    setting,
    trust_plain,
    without_origin,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    RESERVED_VARIABLES,
    name_hosts,
)
from support.constructable import expressions_with, hosts_of, load

try:
    from ansible.template import is_trusted_as_template, trust_as_template
except ImportError:  # ansible-core before 2.19
    from ansible.utils.unsafe_proxy import AnsibleUnsafeText

    HAS_TRUST, _untrusted = False, AnsibleUnsafeText
else:
    HAS_TRUST, _untrusted = True, str

SETTINGS = (
    "DEFAULT_JINJA2_EXTENSIONS",
    "DEFAULT_JINJA2_NATIVE",
    "YAML_FILENAME_EXTENSIONS",
)
_HELPER_OPTIONS = ("strict", "fetch_hostvars")
# Private methods of Ansible that plugins override or call, and their parameters.
PARAMETERS = {
    "_compose": ["self", "template", "variables", "disable_lookups"],
    "_add_host_to_composed_groups": ["self", "groups", "variables", "host", *_HELPER_OPTIONS],
    "_add_host_to_keyed_groups": ["self", "keys", "variables", "host", *_HELPER_OPTIONS],
}
SOURCE = {
    "compose": {
        "a": "server_name ~ '.x'",
        "b": "server_x_undocumented | length",
        "c": "now().year > 1",
    },
    "groups": {"web": "server_name.startswith('web')"},
    "keyed_groups": [{"key": "server_region", "prefix": "r"}],
}


# Ansible itself reads the first two settings before ansible-core 2.19.
@pytest.mark.parametrize("name", [*(SETTINGS if HAS_EXPRESSIONS else SETTINGS[2:]), "_engine"])
def test_a_source_works_without_each_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    templar = Templar(DataLoader())
    if name in SETTINGS:
        monkeypatch.delattr(constants, name, raising=False)
        assert setting(name) is None
    else:
        monkeypatch.setattr(_expressions, "compile_once", lambda _: compile_once(object()))
    expressions = expressions_with(load(SOURCE), templar=templar)
    hosts = hosts_of([{"name": "web-1", "region": "eu", "x_undocumented": [1]}] * 2)
    for host in hosts:
        host.preferences = ["web"]
    for composed in expressions.compose_all(hosts, InventoryData()):
        assert {**composed.variables, "b": 1} == {"a": "web-1.x", "b": 1, "c": True}
        assert composed.groups == ["web", "r_eu"]
    assert not expressions.failures
    name_hosts(hosts, (), lambda name, server_id: False)


@pytest.mark.parametrize("text", ["a", "a_1", "_", "1a", "", "a-b", "é", "for", "None", "match"])
def test_an_identifier_is_one_for_ansible(text: str) -> None:
    assert is_identifier(text) == isidentifier(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a' is undefined. 'a' is undefined", "'a' is undefined"),
        ("No group: 'a.b' is undefined. 'a.b' is undefined", "No group: 'a.b' is undefined"),
        ("'a' is undefined.\n'b' is undefined", "'a' is undefined. 'b' is undefined"),
        ("Failed. ", "Failed."),
        ("", ""),
    ],
)
def test_a_reason_says_everything_once(text: str, expected: str) -> None:
    assert reason_text(text) == expected


def test_entries_of_an_inventory_directory_are_ignored_as_ansible_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("token", ".token", "token.txt", "group_vars", "a.group_vars", "token~", "\udcff")
    ignored = [name for name in names if is_ignored(name)]
    assert ignored == [".token", "token.txt", "group_vars", "token~"]
    monkeypatch.delattr(manager, "IGNORED")
    assert is_ignored("token")


def test_the_globals_of_templates_are_reserved() -> None:
    templar = Templar(DataLoader())
    environment = templar._engine.environment if HAS_EXPRESSIONS else templar.environment
    assert set(environment.globals) <= RESERVED_VARIABLES


def test_private_and_deprecated_names_are_read_in_one_file() -> None:
    folder = Path(_ansible.__file__).resolve().parents[1]
    pattern = re.compile(
        r"import constants|isidentifier\b|\._engine|ansible\._internal|\bIGNORED\b"
    )
    found = {
        path.name
        for path in folder.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8").replace(".isidentifier()", ""))
    }
    assert found == {"_ansible.py"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_private_method_of_ansible_has_the_parameters_that_are_used(name: str) -> None:
    what = f"Constructable.{name} of ansible-core {__version__}"
    method = getattr(Constructable, name, None)
    assert method, f"{what} does not exist: find other means for its uses in plugins/"
    found = list(inspect.signature(method).parameters)
    assert found == PARAMETERS[name], f"{what} has other parameters: adapt its uses in plugins/"


def test_no_other_private_method_of_constructable_is_used() -> None:
    private = {name for name in vars(Constructable) if re.match(r"_[a-z]", name)}
    folder = Path(_ansible.__file__).resolve().parents[1]
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    assert set(re.findall(r"\.(_\w+)\b", text)) & private == set(PARAMETERS)


PLAIN = [
    *("", "web-1", "203.0.113.7", "2026-01-01T00:00:00Z", "a b", "é漢字", "user@example.com"),
    *("/a/path", "a,b+c:d", "x" * 10_000),
]
SUSPECT = [
    *("{{ 7 * 7 }}", "{% set x = 1 %}{{ x }}", "{# comment #}", "#}", "a\n# line", "x|default"),
    *("#jinja2: variable_start_string:'[['\n[[ 1 ]]", "lookup('pipe', 'id')", "a.b()"),
    *("[1, 2]", "{'a': 1}", "!vault", "$ANSIBLE_VAULT;1.1;AES256", "`id`", "a;b", "<b>"),
    *("a=b", "*", "~", "a\\b", "'", '"', "line\nbreak", "tab\t", "zero\u200bwidth", "\x00", "50%"),
]
LITERALS = {"[1, 2]": [1, 2], "{'a': 1}": {"a": 1}}
TEXTS = st.text(alphabet="{}%#[]()|'\".:-_ abj2n7*\n\\é") | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def _is_trusted(text: Any) -> bool:
    """Return whether Ansible renders this text as a template."""
    if HAS_TRUST:
        return bool(is_trusted_as_template(text))
    return not hasattr(text, "__UNSAFE__")


def _variable(value: Any) -> Any:
    """Return what becomes the variable for a value from the API."""
    return trust_plain(mark(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *_texts(item))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _templar(**variables: Any) -> Any:
    templar = Templar(loader=DataLoader())
    templar.available_variables = variables
    return templar


@pytest.mark.promise("data")
@pytest.mark.parametrize("text", PLAIN, ids=lambda text: text[:20])
def test_text_that_cannot_be_a_template_stays_plain(text: str) -> None:
    variable = _variable(text)
    assert variable == text
    assert _is_trusted(variable)
    assert HAS_TRUST or variable.__class__ is str


@pytest.mark.promise("data")
@pytest.mark.parametrize("text", SUSPECT, ids=ascii)
def test_any_other_text_is_never_rendered(text: str) -> None:
    variable = _variable(text)
    assert variable == text
    assert not _is_trusted(variable)
    assert _templar().template(variable) == text
    rendered = _templar(value=variable).template(_trusted("{{ value }}"))
    assert rendered in (text, LITERALS.get(text))


def _trusted(template: str) -> Any:
    return trust_as_template(template) if HAS_TRUST else template


@pytest.mark.promise("data")
@given(JSON)
def test_variables_keep_their_values_and_trust_no_template(value: Any) -> None:
    variable = _variable(value)
    assert variable == value
    assert _templar().template(variable) == value
    assert json.loads(json.dumps(variable)) == json.loads(json.dumps(value))
    for text in _texts(variable):
        if _is_trusted(text):
            assert not set(text) & (set(string.punctuation) - set("_.:/@+,-"))
            assert "\n" not in text


@pytest.mark.promise("data")
@pytest.mark.parametrize("text", [*PLAIN, *SUSPECT], ids=ascii)
def test_a_result_is_trusted_by_the_same_rule(text: str) -> None:
    result = _untrusted(text)
    (trusted,) = trust_plain({"a": [result]})["a"]
    assert trusted == text
    assert _is_trusted(trusted) == (text in PLAIN)


@pytest.mark.promise("data")
def test_a_value_of_a_file_loses_its_line_and_keeps_its_trust(tmp_path: Path) -> None:
    text = "{a: [x, 1, 2.5, true, null, 2026-01-02, 2026-01-02T03:04:05Z, !unsafe y], c: {b: z}}"
    path = tmp_path / "file.yml"
    path.write_text(text)
    # Later versions trust only files that Ansible itself reads as configuration.
    options = {"trusted_as_template": True} if HAS_TRUST else {}
    value = DataLoader().load_from_file(str(path), **options)
    plain = without_origin(value)
    assert plain == value
    texts = {str.__str__(text): _is_trusted(text) for text in _texts(plain)}
    assert texts["y"] is False
    assert texts["x"] is texts["z"] is True
    if HAS_TRUST:
        kinds = [type(item) for item in plain["a"][1:7]]
        assert kinds == [int, float, bool, type(None), date, datetime]
