# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _text

SPELLINGS = yaml.safe_load(r"""
- [s/T%+o, s/T%+o]
- [s/T%+o, s\/T%+o]
- [s/T%+o, s%2fT%25+o]
- [s/T%+o, '%73%2F%54%25%2b%6F']
- [s/T%+o, \u0073\u002f\u0054\u0025\u002B\u006F]
- [a"\b, a\"\\b]
- [.*, .*]
- [\, \]
- ['%41', '%41']
""")


@pytest.mark.parametrize(("token", "spelling"), SPELLINGS)
def test_a_token_is_redacted_as_it_is_and_as_in_urls_and_json(token, spelling):
    shown = _text.redact(f"<{spelling}>", token, shortest=1)
    assert shown == "<********>"


def test_a_token_of_less_than_eight_characters_is_redacted_only_if_asked():
    assert _text.redact("<8-signs!>", "8-signs!") == "<********>"
    assert _text.redact("<7-signs>", "7-signs") == "<7-signs>"


LINES = yaml.safe_load(r"""
- ['', '']
- [" a \r\n\t b ", a b]
- ["\e[0m\0", '[0m']
- ["\u202e\u2066x\u200f", x]
""")


@pytest.mark.parametrize(("text", "line"), LINES)
def test_one_line_removes_line_breaks_and_control_characters(text, line):
    assert _text.one_line(text) == line


SUMMARIES = yaml.safe_load(r"""
- [[], '']
- [[c, b, a, b], 'a, b, c']
- [[d, c, b, a], 'a, b, c and 1 more']
- [["x\n\e[1my \"\u00e4\\"], '"x\n\u001b[1my \"ä\\"']
""")


@pytest.mark.parametrize(("texts", "shown"), SUMMARIES)
def test_summarise_names_a_few_and_counts_the_others(texts, shown):
    assert _text.summarise(texts) == shown


VISIBLE = yaml.safe_load(r"""
- [/a b/ä"c, '/a b/ä"c']
- ["a\"\u200b\n", '"a\"\u200b\n"']
""")


@pytest.mark.parametrize(("text", "shown"), VISIBLE)
def test_a_text_that_a_terminal_does_not_show_has_escapes(text, shown):
    assert _text.visible(text) == shown


PLAIN = yaml.safe_load(r"""
- ['web-01.example.com:22/a@b+c,d e_f', 'web-01.example.com:22/a@b+c,d e_f']
- ['{{ x }}', __ x __]
- [größe ٣, größe ٣]
- ["a\n\t\u2028b", a___b]
- ['`$(x)`''"[]<>|;&!*?~^=%#\', ___x____________________]
""")


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_plain_keeps_letters_digits_and_a_few_signs(text, expected):
    assert _text.plain(text) == expected
