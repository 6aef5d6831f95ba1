# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hold the expressions to Ansible's own helpers: same groups, variables, failures and texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    EXPRESSION_ERRORS,
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import mark

try:
    from ansible.template import is_trusted_as_template
except ImportError:  # ansible-core before 2.19

    def is_trusted_as_template(value: object) -> bool:
        """Tell whether Ansible would render a text."""
        return isinstance(value, str) and not hasattr(value, "__UNSAFE__")


# What may come of it: a text, a number, a flag, a list, a mapping, nothing, or a failure.
EXPRESSIONS = Path(__file__).with_name("expressions.txt").read_text().splitlines()
TEXTS = st.sampled_from(
    [
        "web-1",
        "web-2",
        "db-1",
        "eu-1",
        "eu-2",
        "small",
        "",
        "0",
        "True",
        "[1]",
        "a b",
        "w\u00e9b-9",
        "{{ 1 }}",
        "{% raw %}",
        "{# x",
        "#jinja2: x",
        "\\1",
        "a'b",
        "x\ny",
        "None",
        "{'a': 1}",
    ]
)
ACCOUNT: list[dict[str, Any]] = [
    {"name": "web-1", "region": "web-1", "plan": "web-1"},
    {
        "name": "db-2",
        "region": "eu-1",
        "plan": "{{ 1 }}",
        "created_at": "2026-01-01T00:00:00Z",
        "tags": ["a", "{{ 2 }}"],
        "extra": {"team": "x"},
        "number": 3,
        "flag": True,
        "null": None,
    },
    {"name": "[1, 2]", "region": "True", "plan": "", "nope": "now it is there"},
]
SERVERS = st.fixed_dictionaries(
    {"name": TEXTS, "region": TEXTS, "plan": TEXTS},
    optional={
        "created_at": st.sampled_from(["2026-01-01T00:00:00Z", "2025-06-01T00:00:00Z"]),
        "empty": st.just(""),
        "extra": st.fixed_dictionaries({"team": TEXTS}),
        "tags": st.lists(TEXTS, max_size=2),
        "number": st.integers(0, 3),
        "flag": st.booleans(),
        "null": st.none(),
        "nope": st.just("now it is there"),
    },
)
KEYED = [
    {},
    {"prefix": "p"},
    {"prefix": "p", "separator": ""},
    {"prefix": "", "separator": "-"},
    {"prefix": "p", "parent_group": "above"},
    {"prefix": "p", "parent_group": "{{ server_region | default('none') }}"},
    {"prefix": "p", "parent_group": "{{ server_nope }}"},
    {"prefix": "p", "default_value": "none"},
    {"prefix": "p", "trailing_separator": False},
]


class Reference(BaseInventoryPlugin, Constructable):
    """Ansible's helpers, called for each host as the usual plugin calls them."""

    def __init__(self, plugin: Any) -> None:
        super().__init__()
        self.get_option = plugin.get_option
        self.templar = plugin.templar
        self._vars = plugin._vars
        self.inventory = InventoryData()

    def run(self, hosts: list[Host]) -> None:
        strict = self.get_option("strict")
        for host in hosts:
            self.inventory.add_host(host.name)
            for name, value in host.variables.items():
                self.inventory.set_variable(host.name, name, value)
            for group in host.groups:
                self.inventory.add_group(group)
                self.inventory.add_child(group, host.name)
            known = self.inventory.get_host(host.name).get_vars()
            self._set_composite_vars(self.get_option("compose"), known, host.name, strict)
            for option, helper in (
                ("groups", self._add_host_to_composed_groups),
                ("keyed_groups", self._add_host_to_keyed_groups),
            ):
                helper(self.get_option(option), {}, host.name, strict)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Load values as Ansible loads an inventory file, which makes their expressions trusted."""
    folder = tmp_path_factory.mktemp("options")
    cache: dict[str, Any] = {}

    def load(value: Mapping[str, Any]) -> Any:
        text = repr(value)
        if text not in cache:
            path = Path(folder) / f"{len(cache)}.yml"
            loader = DataLoader()
            path.write_text(json.dumps(value))
            try:
                cache[text] = loader.load_from_file(
                    str(path), cache="none", trusted_as_template=True
                )
            except TypeError:  # ansible-core before 2.19, where all is trusted
                cache[text] = loader.load_from_file(str(path), cache=False)
        return cache[text]

    return load


def plugin_with(options: Mapping[str, Any], extra_vars: Mapping[str, Any]) -> Any:
    defaults = {"strict": False, "use_extra_vars": False, "leading_separator": True}
    values = {"compose": {}, "groups": {}, "keyed_groups": []} | defaults | dict(options)
    return SimpleNamespace(
        get_option=lambda option, hostvars=None: values[option],
        templar=Templar(loader=DataLoader()),
        _vars=dict(extra_vars),
    )


def hosts_of(servers: list[dict[str, Any]]) -> list[Host]:
    hosts = []
    for number, fields in enumerate(servers):
        variables = {f"server_{key}": mark(value) for key, value in fields.items()}
        variables["ansible_host"] = mark(f"192.0.2.{number}")
        server = Server(f"srv_{number}", {"id": f"srv_{number}", **fields})
        hosts.append(Host(server, variables, ["everybody"], f"h{number}.example"))
    return hosts


def compare(options: Mapping[str, Any], servers: list[dict[str, Any]], extra: Any) -> None:
    reference = Reference(plugin_with(options, extra or {}))
    expressions = Expressions(plugin_with(options, extra or {}))
    hosts = hosts_of(servers)
    try:
        reference.run(hosts)
    except EXPRESSION_ERRORS as error:
        expect_failure(expressions, hosts, options, error)
        return
    composed = expressions.compose_all(hosts, InventoryData())
    inventory = reference.inventory
    for host, ours in zip(hosts, composed, strict=True):
        theirs = inventory.get_host(host.name)
        for name in options.get("compose", ()):
            assert (name in theirs.vars) == (name in ours.variables)
            if name in ours.variables:
                same_value(name, ours.variables[name], theirs.vars[name])
        groups = {*host.groups, *ours.groups, *parents_of(ours.groups, expressions.parents)}
        assert groups == {group.name for group in theirs.groups} - {"all"}
    for parent, child in expressions.parents:
        assert inventory.groups[parent] in inventory.groups[child].parent_groups


def expect_failure(
    expressions: Expressions, hosts: list[Host], options: Mapping[str, Any], error: BaseException
) -> None:
    """Fail with strict as Ansible does; without it, what Ansible dies of is a counted failure."""
    if not options.get("strict"):
        expressions.compose_all(hosts, InventoryData())
        assert expressions.failures
        return
    with pytest.raises(AnsibleError) as ours:
        expressions.compose_all(hosts, InventoryData())
    assert one_line(str(ours.value)) == one_line(str(error))


def parents_of(groups: list[str], pairs: Mapping[tuple[str, str], None]) -> set[str]:
    found: set[str] = set()
    pending = set(groups)
    while pending:
        above = {parent for parent, child in pairs if child in pending} - found
        found |= above
        pending = above
    return found


def same_value(name: str, ours: Any, theirs: Any) -> None:
    assert ours == theirs, name
    assert isinstance(ours, type(theirs).__mro__[-2]) or isinstance(theirs, type(ours).__mro__[-2])
    if isinstance(ours, str) and is_trusted_as_template(ours):
        assert is_trusted_as_template(theirs) or not set(ours) & set("{}#%")


def options_for(expression: str, use: str) -> dict[str, Any]:
    if use == "compose":
        return {
            "compose": {"composed": expression, "then": "server_name"},
            "groups": {"seen": "composed"},
        }
    return {"groups": {"chosen": expression}} if use == "groups" else keyed({"key": expression})


def keyed(entry: dict[str, Any]) -> dict[str, Any]:
    return {"keyed_groups": [entry]}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("use", ["compose", "groups", "keyed_groups"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_gives_what_ansible_gives(
    loaded: Any, expression: str, use: str, strict: bool
) -> None:
    compare(loaded(options_for(expression, use)) | {"strict": strict}, ACCOUNT, {})


@pytest.mark.parametrize("use", ["compose", "keyed_groups"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_extra_vars_shadow_what_the_api_says(loaded: Any, expression: str, use: str) -> None:
    extra = loaded({"extra_var": "x", "server_region": "{{ 1 + 1 }}", "server_plan": "fixed"})
    options = loaded(options_for(expression, use)) | {"use_extra_vars": True, "groups": {}}
    compare(options, ACCOUNT, extra)


@pytest.mark.parametrize("leading_separator", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("key", ["server_region", "server_nope", "server_tags", "server_extra"])
@pytest.mark.parametrize("entry", KEYED, ids=str)
def test_an_entry_of_keyed_groups_makes_the_groups_that_ansible_makes(
    loaded: Any, entry: dict[str, Any], key: str, strict: bool, leading_separator: bool
) -> None:
    options = {"strict": strict, "leading_separator": leading_separator}
    compare(loaded(keyed({"key": key, **entry})) | options, ACCOUNT, {})


# A failure shows a whole account, and making that smaller would take minutes.
@settings(
    max_examples=3,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(servers=st.lists(SERVERS, min_size=2, max_size=4))
@pytest.mark.parametrize("use", ["compose", "groups", "keyed_groups"])
def test_any_account_gives_what_ansible_gives(
    loaded: Any, use: str, servers: list[dict[str, Any]]
) -> None:
    for expression in EXPRESSIONS:
        compare(loaded(options_for(expression, use)), servers, {})


@pytest.mark.parametrize(
    ("option", "most"),
    [
        ({"compose": {"a": "server_name"}}, 0),
        ({"compose": {"a": "server_name ~ '.' ~ server_region"}}, 0),
        ({"compose": {"a": "server_region | hash('sha1')"}}, 3),
        ({"compose": {"a": "server_nope"}}, 90),
        ({"compose": {"a": "server_name ~ now().year"}}, 90),
        ({"keyed_groups": [{"key": "server_region"}]}, 3),
        ({"keyed_groups": [{"key": "server_region.split('-')"}]}, 3),
        ({"keyed_groups": [{"key": "server_name[:2]"}]}, 1),
        ({"keyed_groups": [{"key": "server_region", "parent_group": "{{ server_name }}"}]}, 90),
    ],
)
def test_ansible_is_asked_no_more_often_than_it_must_be(
    loaded: Any, option: dict[str, Any], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    compose = Constructable._compose

    def counting(self: Any, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(template)
        return compose(self, template, variables, *args, **kwargs)

    monkeypatch.setattr(Constructable, "_compose", counting)
    servers = [{"name": f"web-{number}", "region": f"eu-{number % 3}"} for number in range(90)]
    Expressions(plugin_with(loaded(option), {})).compose_all(hosts_of(servers), InventoryData())
    assert len(asked) == most


@pytest.mark.parametrize("value", [22, 2.5, True, False])
def test_a_number_or_a_flag_stands_for_itself(loaded: Any, value: Any) -> None:
    options = {
        "compose": {"ansible_port": value},
        "groups": {"chosen": value},
        "keyed_groups": [{"key": value, "prefix": "is"}],
    }
    expressions = Expressions(plugin_with(loaded(options), {}))
    (composed,) = expressions.compose_all(hosts_of([{"name": "web-1"}]), InventoryData())
    assert composed.variables == {"ansible_port": value}
    expected = ["is_" + str(value).replace(".", "_")]
    assert composed.groups == (["chosen"] if value else []) + expected
    assert not expressions.failures


@pytest.mark.promise("silent")
def test_a_failure_is_counted_with_its_first_reason(loaded: Any) -> None:
    options = loaded({"compose": {"a": "server_nope"}, "groups": {"b": "server_nope == 1"}})
    expressions = Expressions(plugin_with(options, {}))
    expressions.compose_all(hosts_of([{"name": "x"}, {"name": "y", "nope": "1"}]), InventoryData())
    assert list(expressions.failures) == ["compose: a", "groups: b"]
    for count, reason in expressions.failures.values():
        assert count == 1
        assert "'server_nope' is undefined" in reason


@pytest.mark.parametrize("entry", [{}, {"prefix": "x"}, "server_name", {"key": None}])
def test_an_entry_of_keyed_groups_needs_a_key(entry: Any) -> None:
    with pytest.raises(OptionError, match="keyed_groups: each entry must be a mapping with a key"):
        Expressions(plugin_with({"keyed_groups": [entry]}, {}))
