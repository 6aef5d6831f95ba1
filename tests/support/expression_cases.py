# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Generate inventory files with expressions, accounts, other sources and extra vars."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

# Plain, empty, like a number or a value of Python, like a template, hostile, and not ASCII.
TEXTS = (
    "web-1", "db-prod", "eu-1", "small", "a.b.example", "web 1", "", "0", "42", "1.5", "True",
    "none", "None", "[1]", "[1, 2]", "{'a': 1}", "{}", "{{ 1 }}", "{{ server_name }}", "{% raw %}",
    "{# x", "#jinja2: x", "\\1", "a'b", "x\ny", "x\n", "wéb-9", "{{ lookup('pipe', 'id') }}", "{0}",
    "[1j]", "[...]", "{(1, 2): 3}", "['a', 'prod']", "False", "nan", "'", "(", "web[1]", "-",
    "203.0.113.9",
)  # fmt: skip
HOSTS = ("web-1.example", "203.0.113.9", "db-2", "db-3.example")
NAMES = (
    "server_name", "server_name", "server_region", "server_region", "server_plan", "server_nope",
    "server_empty", "server_number", "server_float", "server_flag", "server_null", "server_tags",
    "server_extra", "server_some", "ansible_host", "inventory_hostname", "inventory_hostname_short",
    "group_names", "inventory_dir", "other_text", "other_template", "extra_text", "extra_template",
    "composed", "omit", "self",
)  # fmt: skip
COMPOSED = (
    "composed", "second", "server_region", "inventory_hostname", "inventory_dir", "group_names",
)  # fmt: skip
CONSTANTS = (
    "'x'", "'-'", "''", "'web'", "'eu-1'", "'True'", "'[1]'", "'{1}'", "'a b'", "'\\\\d'", "'x\ny'",
    "'{{ 1 }}'", "'('", '"web-1"', "0", "1", "-1", "2.5", "true", "false", "none", "[]", "{}", "()",
    "['eu-1', 'eu-2']", "['a', server_name]", "('web-1', 'x')", "{'a': server_name}",
    "{server_region: '', 'plan': none}", "[server_region, '', none]", "[1, server_region]",
)  # fmt: skip
FILTERS = (
    "upper", "lower", "title", "capitalize", "trim", "length", "first", "last", "join", "join('-')",
    "replace('-', '_')", "replace('-', '{')", "default('x')", "default(server_region)", "d('')",
    "default(omit)", "default('x', true)", "string", "int", "float", "bool", "list", "reverse",
    "sort", "unique", "split('-')", "regex_replace('^(w)', '[\\1]')", "regex_replace('(', 'x')",
    "regex_search('[0-9]+')", "regex_findall('[a-z]')", "hash('sha1')", "b64encode", "b64decode",
    "to_json", "to_yaml", "from_json", "from_yaml", "to_nice_json", "ternary('a', 'b')", "basename",
    "combine({'b': 1})", "dict2items", "items2dict", "flatten", "abs", "round", "type_debug",
    "map('upper')", "select('match', 'w')", "map(attribute='a')", "selectattr('a')", "batch(2)",
    "comment", "quote", "mandatory", "ansible.builtin.upper", "ansible.builtin.regex_escape",
    "ansible.builtin.to_json", "nope", "format(1)", "center(9)", "attr('upper')", "escape",
    "tojson", "slice(2)", "groupby('a')", "max", "min", "sum", "xmlattr", "urlencode", "wordcount",
    "zip('ab')",
)  # fmt: skip
TESTS = (
    "defined", "undefined", "string", "none", "number", "mapping", "iterable", "sequence",
    "boolean", "true", "false", "truthy", "falsy", "even", "odd", "match('web')", "search('1')",
    "regex('^w')", "eq('web-1')", "ne('x')", "in(['web-1', 'x'])", "in(server_name)",
    "contains('w')", "gt(1)", "version('1.0', '>')", "subset(['a'])", "nope", "file",
    "ansible.builtin.match('db')", "upper", "ansible.builtin.defined", "sameas(none)", "callable",
    "filter", "eq(server_name.split('-')[5])",
)  # fmt: skip
METHODS = (
    "upper()", "lower()", "split('-')", "split('-')[0]", "split('-')[-1]", "split('-')[5]",
    "split()", "rsplit('-', 1)", "startswith('web')", "startswith(server_region)", "endswith('1')",
    "replace('web', 'x')", "replace('-', server_region)", "zfill(9)", "zfill(1000000000000000)",
    "partition('-')", "partition('-')[2]", "find('-')", "count('w')", "title()", "strip('w')",
    "removeprefix('web')", "isdigit()", "isalpha()", "encode()", "format(1)", "join(['a', 'b'])",
    "upper", "__class__", "team", "a", "items()", "keys()", "append(1)", "pop()", "get('a', 'x')",
    "startswith()", "split('-', maxsplit=1)", "split(*['-'])", "splitlines()", "center(9)",
)  # fmt: skip
INDEXES = (
    "[0]", "[-1]", "[99]", "[:4]", "[1:]", "[-3:-1]", "[::-1]", "[0:4:2]", "['a']", "['team']",
    "['upper']", "['encode']", "['__class__']", "[none]", "[true]", "[server_number]", "['x':]",
)  # fmt: skip
OPERATORS = (
    "~", "~", "~", "+", "-", "*", "/", "//", "%", "==", "==", "!=", "<", ">=", "in", "in", "not in",
    "and", "or",
)  # fmt: skip
CALLS = (
    "lookup('ansible.builtin.vars', 'server_name')", "query('ansible.builtin.vars', 'server_name')",
    "range(3)", "range(3) | list", "dict(a=server_name)", "namespace(a=1).a", "undef(hint='x')",
    "cycler('a', 'b').next()", "vars['server_name']", "joiner()()", "nope()", "server_name()",
)  # fmt: skip
# What must never be remembered, in any position.
CHANGING = (
    "[server_name, 'x'] | random", "server_name | random", "range(9) | random", "now()",
    "now().microsecond", "lookup('pipe', 'date')", "query('pipe', 'date')", "lookup('env', 'HOME')",
    "q('pipe', 'date')", "['a', server_name] | shuffle", "server_name | password_hash",
    "lookup('password', '/dev/null')", "server_name | map('random')",
    "lookup('file', '/etc/hostname')",
)  # fmt: skip
ODD = (
    "server_name }} {{ server_plan", "server_name %} {% raw", "server_name #", "server_name |",
    "server_name -", "- server_name", "+server_name", "-1 ~ server_name",
    "server_name, server_plan", "", " ", "((((server_name))))",
    "(" * 400 + "server_name" + ")" * 400, "not " * 40 + "server_flag",
    "server_name" + " ~ server_name" * 40, "server_name" + " | upper" * 60, "none[0] ~ server_name",
    "server_name or ''[0] ~ 'x'", "server_name or (none[0][1] ~ 'x')", "'x' if '' | first else 'y'",
    "1 / 0", "server_name if server_name", "{{ server_name }}", "server_name\n~ 'x'", "None",
    "null", "#jinja2: variable_start_string:'['\n[server_name]", "%}", "server_name{# x #}",
)  # fmt: skip


_PARTS = {
    name: st.sampled_from(values)
    for name, values in {
        "filter": FILTERS, "test": TESTS, "method": METHODS, "index": INDEXES,
        "operator": OPERATORS, "changing": CHANGING,
    }.items()
}  # fmt: skip
# Expressions that contain others, as {}, and parts.
_COMBINED = (
    "{} {operator} {}", "{} | {filter}", "({}) | {filter}", "{} is {test}", "{} is not {test}",
    "{}.{method}", "({}).{method}", "{}{index}", "{} if {} else {}", "({} if {})", "({})",
    "not {}", "-{}", "[{}, {}]", "{} | replace({}, {})", "{} | default({})", "{}.replace({}, {})",
)  # fmt: skip
_CHANGING = (
    "{changing}", "{} ~ ({changing})", "({changing}) | {filter}", "{} if ({changing}) else {}",
    "{} | default({changing})",
)  # fmt: skip


def _filled(shapes: tuple[str, ...], inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts of these shapes with other expressions and parts."""
    return st.one_of(
        [
            st.builds(
                shape.format,
                *[inner] * shape.count("{}"),
                **{name: part for name, part in _PARTS.items() if f"{{{name}}}" in shape},
            )
            for shape in shapes
        ]
    )


ATOMS = st.sampled_from(NAMES) | st.sampled_from(CONSTANTS)
EXPRESSIONS = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(CALLS),
    st.sampled_from(ODD),
    *[st.recursive(ATOMS, partial(_filled, _COMBINED), max_leaves=size) for size in (2, 3, 5)],
)
CHANGING_EXPRESSIONS = _filled(_CHANGING, ATOMS)
_TEXT = st.sampled_from(TEXTS[:6]) | st.sampled_from(TEXTS)
SERVERS = st.fixed_dictionaries(
    {"name": _TEXT, "region": _TEXT, "plan": _TEXT},
    optional={
        "some": _TEXT,
        "empty": st.just(""),
        "extra": st.dictionaries(st.sampled_from(["a", "team"]), _TEXT | st.integers(0, 3)),
        "flag": st.booleans(),
        "float": st.sampled_from([0.0, 2.5, 1e30]),
        "null": st.none(),
        "number": st.integers(-1, 3),
        "tags": st.lists(_TEXT | st.integers(0, 1), max_size=2),
    },
)
_PARENTS = (
    None, "above", "over there", "", "{{ server_region }}", "{{ server_region | default('none') }}",
    "{{ server_nope }}", "{{ omit }}",
    "#jinja2: variable_start_string:'[', variable_end_string:']'\n[server_plan]",
    "{{ group_names | join('_') }}", "{{ server_tags }}",
)  # fmt: skip
_EMPTY_KEYS: list[dict[str, Any]] = [
    {},
    {},
    {"default_value": "none"},
    {"trailing_separator": False},
]
KEYED_GROUPS = st.builds(
    lambda entry, more: {**entry, **more},
    st.fixed_dictionaries(
        {"key": EXPRESSIONS},
        optional={
            "prefix": st.sampled_from(["", "p", "dc"]),
            "separator": st.sampled_from(["", "-", "_"]),
            "parent_group": st.sampled_from(_PARENTS),
        },
    ),
    st.sampled_from(_EMPTY_KEYS),
)
_VALUES = st.one_of(
    EXPRESSIONS,
    EXPRESSIONS,
    EXPRESSIONS,
    st.none(),
    EXPRESSIONS.map(lambda it: {"__ansible_unsafe": it}),
)
_VERBS = st.sampled_from(["include", "exclude"])
OPTIONS = st.fixed_dictionaries(
    {
        "compose": st.dictionaries(st.sampled_from(COMPOSED), _VALUES, max_size=3),
        "groups": st.dictionaries(
            st.sampled_from(["a-b", "a_b", "webservers", "over there"]), _VALUES, max_size=3
        ),
        "keyed_groups": st.lists(KEYED_GROUPS, max_size=2),
        "hostnames": st.lists(EXPRESSIONS, max_size=1),
        "filters": st.lists(
            st.dictionaries(_VERBS, EXPRESSIONS, min_size=1, max_size=1), max_size=1
        ),
        "strict": st.sampled_from([False, False, False, True]),
        "use_extra_vars": st.booleans(),
        "leading_separator": st.booleans(),
    }
)
# What another source says: groups with their parents, and the variables and groups of a host.
_PARENTS_OF_OTHERS: list[dict[str, str]] = [
    {},
    {"common_group": "whole"},
    {"p_eu_1": "far", "far": "whole"},
]
_TEXT_OF_OTHERS = {"other_text": "x", "server_name": "y"}
_HOSTS_OF_OTHERS: list[dict[str, Any]] = [
    {},
    {},
    {"db-2": {"groups": ["static"], "vars": _TEXT_OF_OTHERS}},
    {"web-1.example": {"groups": ["a_b"], "vars": {"other_template": "{{ server_name }}!"}}},
]
OTHERS = st.fixed_dictionaries(
    {"parents": st.sampled_from(_PARENTS_OF_OTHERS), "hosts": st.sampled_from(_HOSTS_OF_OTHERS)}
)
_EXTRA_VARS: list[dict[str, str]] = [
    {},
    {},
    {"extra_text": "x"},
    {"extra_template": "{{ server_name }}"},
    {"server_region": "{{ 1 + 1 }}"},
]


@dataclass(frozen=True)
class Case:
    """An inventory file, an account, the hosts of another source, and extra vars."""

    options: dict[str, Any]
    servers: list[dict[str, Any]]
    others: dict[str, Any]
    extra_vars: dict[str, Any]


CASES = st.builds(
    Case, OPTIONS, st.lists(SERVERS, min_size=1, max_size=4), OTHERS, st.sampled_from(_EXTRA_VARS)
)
