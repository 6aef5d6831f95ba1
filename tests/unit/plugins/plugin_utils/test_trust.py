# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    mark,
    trust_plain,
    without_origin,
)

try:
    from ansible.template import is_trusted_as_template, trust_as_template
except ImportError:  # ansible-core before 2.19
    from ansible.utils.unsafe_proxy import AnsibleUnsafeText

    HAS_TRUST, _untrusted = False, AnsibleUnsafeText
else:
    HAS_TRUST, _untrusted = True, str

pytestmark = pytest.mark.promise("data")

PLAIN = [
    "",
    "web-1",
    "srv_0123456789abcdef",
    "203.0.113.7",
    "2026-01-01T00:00:00Z",
    "eu-central",
    "a b",
    "é漢字",
    "user@example.com",
    "/a/path",
    "a,b+c:d",
    "x" * 10_000,
]
SUSPECT = [
    "{{ 7 * 7 }}",
    "{{7*7}}",
    "{% set x = 1 %}{{ x }}",
    "{# comment #}",
    "#jinja2: variable_start_string:'[['\n[[ 1 ]]",
    "#}",
    "a\n# line",
    "lookup('pipe', 'id')",
    "x|default",
    "a.b()",
    "[1, 2]",
    "{'a': 1}",
    "!vault",
    "!unsafe x",
    "$ANSIBLE_VAULT;1.1;AES256",
    "`id`",
    "$(id)",
    "a;b",
    "a&b",
    "<b>",
    "a=b",
    "*",
    "~",
    "a\\b",
    "'",
    '"',
    "line\nbreak",
    "tab\t",
    "zero\u200bwidth",
    "\u202eright",
    "\x00",
    "\x1b[1m",
    "50%",
]
# Ansible up to 2.18 converts the result of a template to the literal that it looks like.
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


@pytest.mark.parametrize("text", PLAIN, ids=lambda text: text[:20])
def test_text_that_cannot_be_a_template_stays_plain(text: str) -> None:
    variable = _variable(text)
    assert variable == text
    assert _is_trusted(variable)
    assert HAS_TRUST or variable.__class__ is str


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


@given(JSON)
def test_variables_keep_their_values_and_trust_no_template(value: Any) -> None:
    variable = _variable(value)
    assert variable == value
    assert json.loads(json.dumps(variable)) == json.loads(json.dumps(value))
    for text in _texts(variable):
        if _is_trusted(text):
            assert not set(text) & (set(string.punctuation) - set("_.:/@+,-"))
            assert "\n" not in text


@given(JSON)
def test_variables_are_rendered_unchanged(value: Any) -> None:
    assert _templar().template(_variable(value)) == value


@pytest.mark.parametrize("value", [None, True, False, 0, -5, 1.5, 10**30])
def test_values_other_than_text_are_not_copied(value: Any) -> None:
    assert mark(value) is value
    assert trust_plain(value) is value


def test_keys_and_nested_texts_follow_the_same_rule() -> None:
    variable = _variable({"{{ 1 }}": ["{{ 2 }}", {"b": "{% 3 %}"}], "plain": ["x"]})
    trusted = [str(text) for text in _texts(variable) if _is_trusted(text)]
    assert trusted == (["x"] if HAS_TRUST else ["b", "plain", "x"])


@pytest.mark.parametrize("text", [*PLAIN, *SUSPECT], ids=ascii)
def test_a_result_is_trusted_by_the_same_rule(text: str) -> None:
    result = _untrusted(text)
    (trusted,) = trust_plain({"a": [result]})["a"]
    assert trusted == text
    assert _is_trusted(trusted) == (text in PLAIN)


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
