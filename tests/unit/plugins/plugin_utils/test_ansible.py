# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Ansible that other versions may not have, and trust in text."""

import importlib.util
import json
import re
import sys
from datetime import date, datetime
from types import ModuleType, SimpleNamespace

import pytest
from ansible.inventory import manager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.utils.vars import isidentifier
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
    compile_once,
    is_identifier,
    is_ignored,
    is_trusted,
    mark,
    mark_all,
    reason_text,
    setting,
    tagger,
    trust,
    trust_plain,
    without_origin,
)
from support.meanings import json_values, texts_in


def test_a_setting_that_this_version_does_not_have_is_null():
    assert setting("NO_SUCH_SETTING") is None
    assert setting("DEFAULT_TIMEOUT") == 10


def test_an_expression_is_compiled_once_from_2_19_on():
    templar = Templar(DataLoader())
    environment = (templar._engine if HAS_EXPRESSIONS else templar).environment
    compile_once(templar)
    known = environment.compile_expression
    compile_once(templar)
    assert environment.compile_expression == known
    assert (known("1 + 1") is known("1 + 1")) == HAS_EXPRESSIONS
    compile_once(object())  # of a version that keeps its environment elsewhere


def test_text_is_tagged_like_a_sample_if_that_is_possible():
    for sample in ("plain", trust("trusted")):
        tag = tagger(sample)
        assert tag is not None
        assert (tag("other"), type(tag("other"))) == ("other", type(sample))
        assert is_trusted(tag("other")) == is_trusted(sample)
    assert tagger(5) is None


@pytest.mark.parametrize("text", ["a", "a_1", "_", "1a", "", "a-b", "é", "for", "None", "match"])
def test_an_identifier_is_one_for_ansible(text):
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
def test_a_reason_says_everything_once(text, expected):
    assert reason_text(text) == expected


def test_entries_of_an_inventory_directory_are_ignored_as_ansible_does(monkeypatch):
    names = ("token", ".token", "token.txt", "group_vars", "a.group_vars", "token~", "\udcff")
    ignored = [name for name in names if is_ignored(name)]
    assert ignored == [".token", "token.txt", "group_vars", "token~"]
    monkeypatch.delattr(manager, "IGNORED")
    assert is_ignored("token")


PLAIN = [
    "", "web-1", "203.0.113.7", "2026-01-01T00:00:00Z", "a b", "é漢字", "user@example.com",
    "/a/path", "a,b+c:d", "x" * 10_000,
]  # fmt: skip
SUSPECT = [
    "{{ 7 * 7 }}", "{% set x = 1 %}{{ x }}", "{# comment #}", "#}", "a\n# line", "x|default",
    "#jinja2: variable_start_string:'[['\n[[ 1 ]]", "lookup('pipe', 'id')", "a.b()",
    "[1, 2]", "{'a': 1}", "!vault", "$ANSIBLE_VAULT;1.1;AES256", "`id`", "a;b", "<b>",
    "a=b", "*", "~", "a\\b", "'", '"', "line\nbreak", "tab\t", "zero\u200bwidth", "\x00", "50%",
]  # fmt: skip
LITERALS = {"[1, 2]": [1, 2], "{'a': 1}": {"a": 1}}
TEXTS = st.text(alphabet="{}%#[]()|'\".:-_ abj2n7*\n\\é") | st.text()


def _variable(value):
    """Return what becomes the variable for a value from the API."""
    return trust_plain(mark(value))


def _rendered(template, **variables):
    templar = Templar(loader=DataLoader())
    templar.available_variables = variables
    return templar.template(template)


@pytest.mark.parametrize("text", PLAIN, ids=lambda text: text[:20])
def test_text_that_cannot_be_a_template_stays_plain(text):
    for variable in (_variable(text), trust_plain(mark_all(text))):
        assert variable == text
        assert is_trusted(variable)
        assert HAS_EXPRESSIONS or variable.__class__ is str


@pytest.mark.parametrize("text", SUSPECT, ids=ascii)
def test_any_other_text_is_never_rendered(text):
    for variable in (_variable(text), trust_plain({"a": [mark_all(text)]})["a"][0]):
        assert variable == text
        assert not is_trusted(variable)
        assert _rendered(variable) == text
        assert _rendered(trust("{{ value }}"), value=variable) in (text, LITERALS.get(text))


@given(json_values(TEXTS))
def test_variables_keep_their_values_and_trust_no_template(value):
    variable = _variable(value)
    assert variable == value
    assert _rendered(variable) == value
    assert json.loads(json.dumps(variable)) == json.loads(json.dumps(value))
    for text in filter(is_trusted, texts_in(variable)):
        assert re.fullmatch(r"[\w .:/@+,-]*", text)


def test_a_value_of_a_file_loses_its_line_and_keeps_its_trust(tmp_path):
    text = "{a: [x, 1, 2.5, true, null, 2026-01-02, 2026-01-02T03:04:05Z, !unsafe y], c: {b: z}}"
    path = tmp_path / "file.yml"
    path.write_text(text)
    # Later versions trust only files that Ansible itself reads as configuration.
    options = {"trusted_as_template": True} if HAS_EXPRESSIONS else {}
    value = DataLoader().load_from_file(str(path), **options)
    plain = without_origin(value)
    assert plain == value
    texts = {str.__str__(text): is_trusted(text) for text in texts_in(plain)}
    assert texts["y"] is False
    assert texts["x"] is texts["z"] is True
    if HAS_EXPRESSIONS:
        kinds = [type(item) for item in plain["a"][1:7]]
        assert kinds == [int, float, bool, type(None), date, datetime]


class UnsafeText(str):
    """Text that earlier versions do not render."""

    __UNSAFE__ = True


class NativeText(str):
    """Text that earlier versions do not convert."""


@pytest.fixture
def before_2_19(monkeypatch):
    """Return the module _ansible as earlier versions load it."""
    native = ModuleType("ansible.utils.native_jinja")
    native.NativeJinjaText = NativeText  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, native.__name__, native)
    monkeypatch.setattr("ansible.utils.unsafe_proxy.AnsibleUnsafeText", UnsafeText)
    monkeypatch.delattr("ansible.template.trust_as_template", raising=False)
    spec = importlib.util.find_spec(_ansible.__name__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_keys_are_marked_like_values_before_2_19(before_2_19):
    marked = before_2_19.mark({"{{ 1 }}": ["{{ 2 }}"], "plain": "plain"})
    assert [key.__class__ for key in marked] == [UnsafeText, str]
    assert marked["{{ 1 }}"][0].__class__ is UnsafeText
    (key,) = before_2_19.mark_all({"plain": 1})
    assert key.__class__ is UnsafeText


@pytest.mark.parametrize(
    ("text", "is_unsafe", "kind"),
    [
        ("{0}", True, NativeText),
        ("[1]", True, NativeText),
        ("True", True, NativeText),
        ("web", True, str),
        ("{0}", False, str),
    ],
)
def test_text_of_the_api_is_not_converted_before_2_19(before_2_19, text, is_unsafe, kind):
    environment = SimpleNamespace(finalize=lambda value: value)
    context = SimpleNamespace(unsafe=is_unsafe)
    templar = SimpleNamespace(environment=environment, jinja2_native=False, cur_context=context)
    before_2_19.keep_text(templar)
    before_2_19.keep_text(templar)
    result = environment.finalize(text)
    assert result == text
    assert result.__class__ is kind
