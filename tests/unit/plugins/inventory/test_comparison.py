# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expressions give what Ansible's own plugin gives; support.comparison lists the differences.

The environment variable FUZZ_CASES sets the number of random inventory files. They are the same in
each run, unless FUZZ_SEED is set. One that fails is printed, and can become a row of the table in
comparison.yml.
"""

import os
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml
from ansible.plugins.inventory import Constructable
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine

from sandbox import Sandbox
from support.comparison import SERVERS, Comparison

FILES = yaml.safe_load(Path(__file__).with_name("comparison.yml").read_text(encoding="utf-8"))
# What must be evaluated for each host, in any position.
CHANGING = (
    "range(9) | random", "server_management_region | random",
    "['a', server_management_region] | shuffle", "now()",
    "server_management_region | map('random') | list",
    "server_management_region ~ now().year", "namespace(a=1).a",
    "'x' if now() else server_management_region", "lookup('env', 'HOME')", "query('env', 'HOME')",
    "server_management_region | default(lookup('env', 'HOME'))", "server_management_region is file",
    "server_management_region is nope", "server_management_region | nope",
    "server_management_region | nope.nope.nope",
)  # fmt: skip

# Parts of random expressions; {} is another expression.
ATOMS = (
    "server_management_name", "server_management_region", "server_management_note",
    "server_management_value", "server_management_parts", "server_management_nope",
    "server_management_plan", "inventory_hostname", "inventory_hostname_short", "group_names",
    "ansible_host", "other_text", "other_template", "extra", "composed", "omit", "'x'", "''", "1",
    "true", "none", "[]", "'{1}'", "'a b'", "{'a': server_management_value}", "range(3)",
    "inventory_dir",
)  # fmt: skip
FILTERS = (
    "upper", "lower", "length", "first", "last", "join('-')", "replace('-', '_')", "default('x')",
    "default(omit)", "default('', true)", "string", "int", "float", "bool", "list", "sort", "trim",
    "unique", "split('-')", "regex_replace('^(a)', '[\\1]')", "regex_search('[0-9]+')", "to_json",
    "from_json", "from_yaml", "hash('sha1')", "b64encode", "b64decode", "ternary('a', 'b')",
    "combine({'b': 1})", "dict2items", "flatten", "map('upper')", "nope", "ansible.builtin.upper",
    "title", "abs", "max", "select('match', 'w')", "type_debug", "mandatory",
)  # fmt: skip
TESTS = (
    "defined", "undefined", "string", "none", "number", "mapping", "sequence", "boolean", "truthy",
    "match('web')", "search('1')", "eq(1)", "in(['eu-1', 1])", "contains('a')", "gt(1)", "nope",
    "version('1.0', '>')", "subset(['a'])", "even", "callable", "sameas(none)",
)  # fmt: skip
METHODS = (
    "upper()", "split('-')", "split('-')[-1]", "split('-')[5]", "startswith('eu')", "zfill(9)",
    "partition('-')[2]", "removeprefix('eu')", "encode()", "pop()", "upper", "__class__", "team",
    "get('a', 'x')", "append(1)", "format(1)", "items()", "join(['a', 'b'])",
)  # fmt: skip
SHAPES = (
    "{} | {filter}", "({}) | {filter}", "({}) is {test}", "{} is not {test}", "({}).{method}",
    "{}[0]", "{}['team']", "{}[1:]", "{} ~ {}", "{} + {}", "{} == {}", "{} < {}", "{} in {}",
    "{} and {}", "{} or {}", "not {}", "-{}", "{} if {} else {}", "({} if {})", "[{}, {}]",
    "{} | default({})", "{} }}}} {{{{ {}", "{} #",
)  # fmt: skip
PARENTS = (
    "above",
    "",
    "{{ server_management_region }}",
    "{{ extra }}",
    "{{ group_names | join('_') }}",
)
EXTRA_VARS = [
    {},
    {"extra": "x", "server_management_region": "{{ server_management_value }}"},
    {
        "extra": "{{ server_management_name }}",
        "server_management_value": 1,
        "composed": "{{ server_management_note }}",
    },
]
one_of = st.sampled_from
PARTS = {"filter": one_of(FILTERS), "test": one_of(TESTS), "method": one_of(METHODS)}
EXPRESSIONS = st.recursive(
    one_of(ATOMS),
    lambda inner: st.one_of(
        [st.builds(shape.format, *[inner] * shape.count("{}"), **PARTS) for shape in SHAPES]
    ),
    max_leaves=4,
)
KEYED_GROUPS = st.fixed_dictionaries(
    {"key": EXPRESSIONS},
    optional={
        "prefix": one_of(["", "p"]),
        "separator": one_of(["", "-"]),
        "parent_group": one_of(PARENTS),
        "default_value": st.just("none"),
    },
) | st.fixed_dictionaries({"key": EXPRESSIONS, "trailing_separator": st.booleans()})
COMPOSED = one_of(["composed", "second", "server_management_region"])
RANDOM_FILES = st.fixed_dictionaries(
    {
        "compose": st.dictionaries(COMPOSED, EXPRESSIONS, max_size=2),
        "groups": st.dictionaries(one_of(["a-b", "a_b", "c"]), EXPRESSIONS, max_size=2),
        "keyed_groups": st.lists(KEYED_GROUPS, max_size=2),
        "strict": one_of([False, False, False, True]),
        "use_extra_vars": st.booleans(),
        "leading_separator": st.booleans(),
        "extra_vars": one_of(EXTRA_VARS),
    }
)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    # Without a limit, Hypothesis would look for a smaller failing file for five minutes.
    with Sandbox(SERVERS) as sandbox, patch.object(engine, "MAX_SHRINKING_SECONDS", 30):
        yield Comparison(tmp_path_factory.mktemp("sources"), sandbox)


@pytest.mark.parametrize("is_set", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_what_ansible_gives(comparison, name, is_set):
    file = FILES[name]
    option = "use_extra_vars" if "extra_vars" in file else "strict"
    comparison.compare({**file, option: is_set})


@seed(os.environ.get("FUZZ_SEED", ""))
@settings(
    max_examples=int(os.environ.get("FUZZ_CASES", "60")),
    database=None,
    report_multiple_bugs=False,
)
@given(RANDOM_FILES)
def test_random_files_give_what_ansible_gives(comparison, file):
    comparison.compare(file)


@pytest.mark.parametrize(("use_extra_vars", "number"), [(True, 1), (False, 4)])
def test_extra_vars_reach_filters_as_they_reach_groups(comparison, use_extra_vars, number):
    condition = "extra is defined or server_management_region == 'eu-1'"
    extra_vars = {"server_management_region": "{{ server_management_value | default('eu-1') }}"}
    file = {"use_extra_vars": use_extra_vars, "extra_vars": extra_vars}
    theirs = comparison.theirs({"groups": {"kept": condition}, **file})
    ours = comparison.ours({"filters": [{"include": condition}, {"exclude": "true"}], **file})
    kept = theirs.groups["kept"].hosts
    assert len(kept) == number
    assert str(ours.groups["server_management"].hosts) == str(kept)


def test_a_result_that_may_change_is_never_remembered(comparison):
    stable = "server_management_region ~ ''"
    expressions = {f"a{number}": text for number, text in enumerate([*CHANGING, stable])}
    compose = Constructable._compose
    with patch.object(Constructable, "_compose", autospec=True, side_effect=compose) as ask:
        comparison.ours({"compose": expressions})
    asked = Counter(call.args[1] for call in ask.call_args_list)
    assert asked.pop(stable) < len(SERVERS)
    assert asked == dict.fromkeys(CHANGING, len(SERVERS))
