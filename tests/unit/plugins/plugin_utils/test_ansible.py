# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Ansible that other versions may not have, and trust in text."""

import re

import pytest
import yaml
from ansible.inventory import manager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.utils import unsafe_proxy
from ansible.utils.vars import isidentifier
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.plugin_utils import (
    _ansible,
    _ansible_before_2_19,
)
from support.expressions import is_trusted
from support.special_texts import json_values, texts_in


def test_an_expression_is_compiled_once_from_2_19_on():
    templar = Templar(DataLoader())
    environment = (templar._engine if _ansible.SINCE_2_19 else templar).environment
    _ansible.compile_once(templar)
    compile_expression = environment.compile_expression
    _ansible.compile_once(templar)
    assert environment.compile_expression == compile_expression
    is_same = compile_expression("1 + 1") is compile_expression("1 + 1")
    assert is_same == _ansible.SINCE_2_19
    _ansible.compile_once(object())  # of a version that keeps its environment elsewhere


@pytest.mark.parametrize("sample", ["plain", _ansible.trust("trusted")])
def test_text_is_tagged_like_a_sample_that_is_text(sample):
    tag = _ansible.tagger(sample)
    assert tag is not None
    tagged = tag("other")
    assert tagged == "other"
    assert type(tagged) is type(sample)
    assert is_trusted(tagged) == is_trusted(sample)
    assert _ansible.tagger(5) is None


@pytest.mark.parametrize("text", ["a_1", "_", "1a", "", "a-b", "é", "for", "None", "match"])
def test_an_identifier_is_one_for_ansible(text):
    assert _ansible.is_identifier(text) == isidentifier(text)


REASONS = yaml.safe_load(r"""
- ["No group: 'a.b' is undefined. 'a.b' is undefined", "No group: 'a.b' is undefined"]
- ["'a' is undefined.\n'b' is undefined", "'a' is undefined. 'b' is undefined"]
- ['Failed. ', Failed.]
""")


@pytest.mark.parametrize(("text", "expected"), REASONS)
def test_before_2_19_a_reason_says_everything_once(text, expected):
    assert _ansible_before_2_19.reason_text(text) == expected


class Text(str):
    """Text with a meaning for Ansible; the classes of later versions return plain text."""

    __slots__ = ()


def test_before_2_19_the_result_of_a_filter_stays_text(monkeypatch):
    monkeypatch.setattr(unsafe_proxy, "NativeJinjaText", Text, raising=False)
    assert _ansible_before_2_19.trust(Text("42")).__class__ is Text
    assert _ansible_before_2_19.trust("42").__class__ is str


def test_before_2_19_text_is_marked_and_tagged_only_if_it_is_ordinary(monkeypatch):
    monkeypatch.setattr(unsafe_proxy, "AnsibleUnsafeText", Text, raising=False)
    (marked,) = _ansible_before_2_19.mark(["a"], even_plain=True)
    assert marked.__class__ is Text
    assert _ansible_before_2_19.tagger("a") is str
    assert _ansible_before_2_19.tagger(marked) is None
    assert _ansible_before_2_19.tagger(5) is None


def test_entries_of_an_inventory_directory_are_ignored_as_ansible_does(monkeypatch):
    names = ("token", ".token", "token.txt", "group_vars", "a.group_vars", "token~", "\udcff")
    ignored = [name for name in names if _ansible.is_ignored(name)]
    assert ignored == [".token", "token.txt", "group_vars", "token~"]
    monkeypatch.delattr(manager, "IGNORED")
    assert _ansible.is_ignored("token")


@pytest.mark.parametrize("even_plain", [True, False])
@pytest.mark.parametrize("text", ["", "203.0.113.7", "a b,é漢字", "user@example.com:/a+b-c_d"])
def test_text_that_cannot_be_a_template_becomes_plain_text(text, even_plain):
    (variable,) = _ansible.unmark_plain((_ansible.mark(text, even_plain),))
    assert variable == text
    assert is_trusted(variable)
    assert _ansible.SINCE_2_19 or variable.__class__ is str


TEMPLATES = [
    "{{ 7 * 7 }}", "{% set x = 1 %}{{ x }}", "{# x #}", "# line", "a\nb", "#jinja2: x", "[1, 2]",
]  # fmt: skip


@given(json_values(st.text(alphabet="{}%#[]()|'\".:-_ abj2n7*\n\\é") | st.text()))
@example([{text: [text]} for text in TEMPLATES])
def test_variables_keep_their_values_and_trust_no_template(value):
    variable = _ansible.unmark_plain(_ansible.mark(value))
    assert variable == value
    assert Templar(DataLoader()).template(variable) == value
    for text in filter(is_trusted, texts_in(variable)):
        assert re.fullmatch(r"[\w .:/@+,-]*", text)


def test_a_value_of_a_file_loses_its_line_and_keeps_its_trust(tmp_path):
    path = tmp_path / "file.yml"
    path.write_text("[1, null, {b: x}, !unsafe {y: z}]")
    # Later versions trust only files that Ansible itself reads as configuration.
    options = {"trusted_as_template": True} if _ansible.SINCE_2_19 else {}
    value = DataLoader().load_from_file(str(path), **options)
    without = _ansible.without_origin(value)
    assert without == value
    _number, _null, mapping, unsafe = without
    assert is_trusted(mapping["b"])
    for text in texts_in(unsafe):
        assert not is_trusted(text)
        assert not _ansible.SINCE_2_19 or text.__class__ is str
