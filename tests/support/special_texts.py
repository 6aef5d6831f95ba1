# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text to which Ansible and ansible-rulebook give a meaning, collected from their source.

The versions are ansible-core 2.16 and 2.22, and ansible-rulebook 1.3. The generator of accounts,
the hostile corpus and the tests of names, files and events draw from it.
"""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import strategies as st

TEXTS: list[str] = yaml.safe_load(r"""[
# Host patterns: parts, operators, subscripts, globs, regular expressions and files.
"web,db1", "web:&db1", "!web", "&web", "a;b",
"web[0]", "web[-1]", "all[1:]", "*", "w?b", "~web.*", "@web",
# Ranges and ports in the host names of an inventory file.
"web[01:20]", "web[a:c]",
"web:22", "[::1]:22", "192.0.2.1:22", "fe80::1%eth0",
# Variables in the same line, sections and comments of an ini file.
"web ansible_connection=local", "[web:vars]", "# web", "; web",
# Names of files below host_vars and group_vars.
"db1", "db1.yml", "web.YAML", "web.json", "localhost.yml", "db1.yml.yml", "db1~", ".db1",
"/etc/passwd", "../db1", "sub/db1", "db1/", ".",
"~root", "~", "${HOME}", "a$HOME",
# This machine.
"localhost", "127.0.0.1", "::1", "LOCALHOST", "localhost.",
# Groups that always exist, and characters that group names lose.
"all", "ungrouped", "ALL", "all.yml", "region_web",
"web-1", "1web", "we.b", "w\u0435b",
# Templates, and the header that changes their delimiters.
"{{ 7 * 7 }}", "{% if x %}", "{# x", "{{", "}}", "{{ lookup('pipe', 'id') }}",
"#jinja2: trim_blocks:True", "#jinja2:variable_start_string:'[['\n[[ 7 * 7 ]]",
# Python literals, which templates turn into values up to 2.18.
"{0}", "[1j]", "[...]", "{(1, 2): 3}", "['a', 'b']", "(1, 2)", "1_000", "None", "True",
# Words and numbers that YAML reads as another type, its tags and its references.
"yes", "off", "y", "1",
"null", "0x1f", "1e3", "2026-01-01", "1:30", "!vault |", "!unsafe x", "&a", "*a", "- a",
# Objects of JSON that stand for other types (__ansible_type from 2.19 on), and encrypted text.
"__ansible_unsafe", "__ansible_vault", "__ansible_type", "__payload__",
"$ANSIBLE_VAULT;1.1;AES256\n6162",
# Arguments of tasks, options of commands, and what a shell reads.
"a=b", "'a", 'a "b', "-x", "--become",
# Names of variables.
"ansible_host", "ansible_connection", "vars", "hostvars", "environment", "omit", "name"
]""")

# Keys and values of an event.
EVENT_TEXTS: list[str] = yaml.safe_load(r"""[
# Paths in an event; no key may be empty.
"", "/", "//",
"meta/source/name", "server/id", "server.id", "..", "*", "**", "a[0]", "0", "-1",
# The hosts of a playbook, and what is known about the source.
"meta", "hosts", "meta.hosts", "web,db1", "m", "m_0",
"source", "name", "type", "received_at", "uuid",
# Variables of actions and playbooks.
"ansible_eda", "event", "events", "facts", "rule", "ruleset",
# Templates of a rulebook, which make Python values of text, and encrypted text.
"{{ 7 * 7 }}", "{{", "007e1", "0x10", "1, 2", "1_000", "True", "None",
"$ANSIBLE_VAULT;1.1;AES256\n6",
# Names in Java and in the rule engine.
"this", "class", "@class", "@type", "null"
]""")


def json_values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Return JSON values with these texts."""
    numbers = st.integers() | st.floats(-1e300, 1e300)
    values: st.SearchStrategy[Any] = st.none() | st.booleans() | numbers | texts
    for _level in range(2):
        lists = st.lists(values, max_size=3)
        values = values | lists | st.dictionaries(texts, values, max_size=3)
    return values


def texts_in(value: Any) -> list[str]:
    """Return all text in a value, including the keys of its objects."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [*value, *value.values()]
    texts: list[str] = []
    if isinstance(value, list):
        for item in value:
            texts += texts_in(item)
    return texts
