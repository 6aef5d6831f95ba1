# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expressions of an inventory file, and what they add to hosts.

Ansible evaluates every expression, one at a time: its method ``_compose`` returns values, the
function ``holds`` asks for conditions, and its helper for keyed_groups works on a recorder instead
of an inventory. So nothing is added to the inventory before all expressions of all hosts have been
evaluated. An expression sees the variables that its host would have, with what other sources say
about the host and what the expressions before it have added.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.inventory.host import Host as AnsibleHost
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.path import basedir
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ..module_utils._models import FIELDS
from ..module_utils._options import GetOption
from ..module_utils._text import Show, count_of, first_of, is_plain, one_line
from ._ansible import OMITTED_ERRORS, TEMPLATE_GLOBALS, compile_once, holds, reason_text, trust
from ._composed import ComposedHost, Composition, GroupTree, Recorder, UnnamedHost
from ._expression import Expression
from ._groups import safe_group_name
from ._hints import ONLY_FIELDS, Hints, Mistake, asks_for_tags, is_address, misuse_of
from ._hosts import Host, HostVars, replace_addresses
from ._inventory import variables_of

# Asks Ansible for the result of an expression, or of an entry of keyed_groups, with variables.
_Ask = Callable[[Any, HostVars], Any]
_NO_RESULT = object()  # of an expression that failed, or is omitted
_NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
# An attribute, a text as a key, or a filter that returns the characters of a text. An element of a
# text, and `first`, can be meant.
_is_never_of_text = re.compile(
    r"""(?s)\.[A-Za-z_]|\[['"]|.*\|\s*(?:list|map|reject|select)$"""
).match
# Variables of each host with a name, beside those of new hosts.
_MAGIC = frozenset({"group_names", "inventory_hostname", "inventory_hostname_short"})
_UNKNOWN = (
    "These expressions read variables that no host has, or fields that no server has, so that "
    "`default` and `is defined` give all hosts the same result: "
)
_WITHOUT_DEFAULT = (
    "Leave the default or the test out, or, for compose, groups and keyed_groups, give the "
    "variable to hosts in a source that is read before. group_vars are not known here, and filters "
    "and hostnames see only the fields of servers."
)


class Expressions(BaseInventoryPlugin, Constructable):
    """The expressions of an inventory file.

    It is not a second inventory plugin: Ansible's helpers are methods of these base classes.
    ``fields`` has the variable of each field of the API.
    """

    composition: Composition  # that has been applied

    def __init__(
        self,
        get_option: GetOption,
        templar: Templar,
        extra_vars: Mapping[str, Any],
        fields: Mapping[str, str],
    ):
        super().__init__()
        self.get_option = get_option
        self.templar = templar
        self._vars = extra_vars if get_option("use_extra_vars") else {}
        compile_once(templar)
        self._fields = fields
        self._hints = Hints(get_option, fields, extra_vars.keys() - self._vars.keys())
        # By option, in the order in which failures are reported.
        self._of: dict[str, list[Expression]] = defaultdict(list)
        for entry in get_option("filters") or []:
            for verb, source in entry.items():
                self._add("filters", f"{verb}: {source}", source)
        for source in get_option("hostnames") or []:
            self._add("hostnames", source, source)
        for option in ("compose", "groups"):
            for name, source in get_option(option).items():
                self._add(option, name, source)
        for entry in get_option("keyed_groups"):
            key = entry["key"]
            expression = self._add("keyed_groups", key, key)
            if isinstance(key, _NUMBERS):
                # As text, which Ansible up to 2.18 would convert back if it were not in a list.
                key = trust(f"['{key}']")
            expression.content = {**entry, "key": key}
            # A parent that is a template can depend on the host.
            if not is_plain(str(entry.get("parent_group", ""))):
                expression.is_remembered = False

    def _add(self, option: str, entry: Any, source: Any) -> Expression:
        # An extra var can be a template that has another value each time.
        expression = Expression(option, entry, source, self._vars)
        self._of[option].append(expression)
        return expression

    def excluding_filter(self, host: Host) -> str:
        """Return the first condition that is true, with its number, if it excludes the host.

        Raises OptionError if a condition fails: a host must not be kept by accident.
        """
        unnamed = UnnamedHost(host)
        for number, expression in enumerate(self._of["filters"], 1):
            is_true = self._try(expression, unnamed, self._holds)
            if is_true is _NO_RESULT:
                raise OptionError(self._failure([self._mistake(expression)]))
            if is_true and expression.entry.startswith("include"):
                return ""
            if is_true:
                return one_line(f"filters: {number}: {expression.entry}")
        return ""

    def filtered_fields(self) -> list[str]:
        """Return the documented fields that filters read."""
        names = set[str]().union(*(expression.names for expression in self._of["filters"]))
        return [field for field in FIELDS if self._fields.get(field) in names]

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        If no result is usable because an expression failed, there are none, and the failure alone
        explains the name.
        """
        unnamed = UnnamedHost(host)
        names = []
        for expression in self._of["hostnames"]:
            value = self._try(expression, unnamed, self._compose)
            name = ""
            if isinstance(value, (str, *_NUMBERS)):
                name = str.__str__(str(value))  # without any mark
            names.append(name)
        failed = [each for each in self._of["hostnames"] if host in each.failures]
        if failed and not any(names):
            return []
        return names

    def compose(self, hosts: Iterable[Host], inventory: InventoryData) -> Composition:
        """Evaluate compose, groups and keyed_groups for hosts that have names."""
        tree = GroupTree(inventory.groups.values())
        source = inventory.current_source
        of_all = inventory.groups["all"].get_vars()
        of_new_hosts = {**of_all, "inventory_file": source, "inventory_dir": basedir(source)}
        groups = [group for group in inventory.groups.values() if group.get_hosts()]
        of_others = [each.vars for each in (*inventory.hosts.values(), *groups)]
        composed_hosts = []
        made = set[str]()
        for host in hosts:
            base = inventory.hosts.get(host.name)
            inherited = variables_of(base, of_all) if base else of_new_hosts
            base = base or AnsibleHost(host.name, gen_uuid=False)
            composed = ComposedHost(host, base, tree, inherited)
            self._add_results(composed)
            composed_hosts.append(composed)
            made.update(composed.groups)
        seen = _MAGIC.union(of_new_hosts, *of_others)
        return Composition(composed_hosts, tree, made.union(*tree.added), seen)

    def apply(self, composition: Composition) -> None:
        """Add the results to the hosts, and note them for the report.

        Raises OptionError if a group would be inside itself.
        """
        composition.tree.check_added()
        self.composition = composition
        for composed in composition.hosts:
            host = composed.host
            host.variables = combine_vars(host.variables, composed.variables)
            host.groups += composed.groups

    def report(self, warn: Show) -> None:
        """Warn of expressions that fail for some hosts, or that have no effect.

        Those that fail for the same undefined name share a warning, and so do those that read names
        that no host has. With strict, one OptionError has each failure.
        """
        is_strict = self.get_option("strict")
        total = len(self.composition.hosts)
        alike: dict[object, list[Mistake]] = {}
        unknown: list[Mistake] = []
        for expression in chain(*self._of.values()):
            if expression.failures:
                mistake = self._mistake(expression)
                cause = expression if is_strict else mistake.name or expression
                alike.setdefault(cause, []).append(mistake)
            elif misuse := misuse_of(expression):
                warn(f"{expression.label}: {misuse}.")
            elif total or expression.option == "filters":
                unknown += self._unknown(expression)
        shown = 0 if is_strict else total
        failures = [self._failure(mistakes, shown) for mistakes in alike.values()]
        if failures and is_strict:
            raise OptionError(first_of(failures, 10))
        for line in failures:
            warn(line)
        if unknown and self._fields:
            labels = [mistake.label for mistake in unknown]
            hints = self._hints.explain(unknown)
            warn(f"{_UNKNOWN}{first_of(labels, 10)}{hints}. {_WITHOUT_DEFAULT}")

    def _mistake(self, expression: Expression) -> Mistake:
        """Return why an expression failed for the first of its hosts."""
        first = min(expression.failures, key=lambda host: host.label)
        reason = reason_text(expression.failures[first])
        name = _undefined_name(reason)
        hosts = [] if expression.option in ONLY_FIELDS else self.composition.hosts
        is_known = name in self._fields.values() or any(name in host.seen for host in hosts)
        return Mistake(expression.label, expression, name, reason, is_known)

    def _failure(self, mistakes: list[Mistake], total: int = 0) -> str:
        """Return which expressions failed, for which hosts, why, and what is probably meant.

        Without a total, only the first host is named.
        """
        labels = [mistake.label for mistake in mistakes]
        failing = set[Host]().union(*(each.expression.failures for each in mistakes))
        hosts = sorted(host.label for host in failing)
        shown = hosts[0]
        if total:
            shown = f"{len(hosts):,} of {count_of(total, 'host')} ({first_of(hosts, 3)})"
        text = f"{first_of(labels, 3)}: failed for {shown}: {mistakes[0].reason}"
        return text + self._hints.explain(mistakes)

    def _unknown(self, expression: Expression) -> Iterator[Mistake]:
        """Yield names that no host has: a ``default`` hides a typing error, for example."""
        composed = self.get_option("compose")
        known = TEMPLATE_GLOBALS.union(self._fields.values(), self._vars, ["ansible_host"])
        if expression.option not in ONLY_FIELDS:
            known |= self.composition.seen
        if expression.option in ("groups", "keyed_groups"):
            known = known.union(composed)
        shown = {name: name for name in expression.names - known}
        texts = self._hints.texts.difference(composed, self._vars)
        for variable, item in expression.taken():
            if variable in texts and _is_never_of_text(item):
                shown[one_line(f"{variable}{item}")] = ""
        # Otherwise, a name can be an extra var of another run.
        is_certain = is_address(expression) or not self.get_option("use_extra_vars")
        for text, name in sorted(shown.items()):
            if is_certain or asks_for_tags(name):
                yield Mistake(f"{expression.label} ({text})", expression, name)

    def _add_results(self, composed: ComposedHost) -> None:
        """Add what expressions give to a host that has a name."""
        for expression in self._of["compose"]:  # these don't see each other
            value = self._try(expression, composed, self._compose)
            if value is not _NO_RESULT:
                composed.variables[expression.entry] = value
        composed.host.replaced = replace_addresses(composed.host, composed.variables)
        composed.seen = combine_vars(composed.seen, composed.variables)
        groups = []
        for expression in self._of["groups"]:  # nor do these
            is_true = self._try(expression, composed, self._holds)
            if is_true and is_true is not _NO_RESULT:
                groups.append(safe_group_name(expression.entry))
        composed.groups = groups
        for expression in self._of["keyed_groups"]:  # these see the groups of those before them
            made = self._try(expression, composed, self._group)
            if made is _NO_RESULT:
                continue
            composed.groups += made.groups
            for parent, child in made.parents:
                composed.tree.add(parent, child)

    def _try(self, expression: Expression, host: UnnamedHost, ask: _Ask) -> Any:
        """Return the result of an expression for a host: remembered, or what ``ask`` returns.

        Notes a failure, and returns _NO_RESULT.
        """
        expression.failures.pop(host.host, None)  # of an attempt with another name
        content = expression.content
        if isinstance(content, _NUMBERS):
            return content
        try:
            return expression.result(host.seen, lambda: ask(content, host.all_variables()))
        except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
            # If a name is omitted, the next one is used, also with strict.
            is_strict = self.get_option("strict") and expression.option != "hostnames"
            is_omitted = isinstance(error, OMITTED_ERRORS) and expression.option != "filters"
            missing = [each.entry for each in self._of["compose"] if host.host in each.failures]
            # A group without a variable of compose that failed is a consequence.
            name = _undefined_name(str(error))
            is_consequence = expression.option != "compose" and name and name in missing
            if (is_strict or not is_omitted) and not is_consequence:
                expression.failures[host.host] = str(error)
            return _NO_RESULT

    def _holds(self, condition: str, variables: HostVars) -> bool:
        return holds(self.templar, condition, combine_vars(variables, self._vars))

    def _group(self, entry: dict[str, Any], variables: HostVars) -> Recorder:
        """Let Ansible's helper add the groups of an entry to a recorder."""
        self.inventory = recorder = Recorder()
        host = variables["inventory_hostname"]
        try:
            self._add_host_to_keyed_groups(
                [entry], variables, host, strict=True, fetch_hostvars=False
            )
        except AnsibleParserError as error:
            # For a key that fails, the helper raises "Could not generate group for host web from
            # tags entry: 'tags' is undefined" while it handles the shorter "'tags' is undefined".
            cause = error.__context__
            if cause:
                raise cause from cause.__cause__
            # For an empty key, it raises "No key or key resulted empty for …" alone, which is a
            # failure only with strict. "Invalid group name format, …" for a number is always one.
            if self.get_option("strict") or self._compose(entry["key"], variables):
                raise
        return recorder


def _undefined_name(error: str) -> str:
    """Return the name that is undefined, if that is the error."""
    found = re.search(r"'(\w+)' is undefined", error)
    return found[1] if found else ""
