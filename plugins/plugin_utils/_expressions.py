# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the expressions of an inventory file make of a server: variables, groups and choices.

This utility is private to the collection: it may change in any release.

Every answer is Ansible's own, or one that Ansible would give: see the utility _pure for where an
answer is remembered, or found without Ansible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.path import basedir
from ansible.utils.vars import combine_vars
from jinja2 import TemplateError

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._pure import analyse
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import (
    TEXT_TYPES,
    trust_plain,
)

try:
    from ansible.errors import AnsibleValueOmittedError
except ImportError:  # ansible-core before 2.19, where omit is not known to inventories

    class AnsibleValueOmittedError(AnsibleError):  # type: ignore[no-redef]
        """Never raised here."""


# What evaluating somebody's expression, with any filter or lookup in it, may raise.
EXPRESSION_ERRORS = (
    AnsibleError,
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


# From ansible-core 2.19 on, expressions are no templates between braces any more.
_HAS_EXPRESSIONS = hasattr(Templar, "evaluate_expression")
# Before, unsafe text is marked, and a template that gives one of these gives no text.
_HAS_MARKS = not _HAS_EXPRESSIONS
_CONVERTED = ("{", "[", "True", "False")
_SCALARS = (str, bool, int, float, type(None))
_REMEMBERED = 1024  # answers of an expression; one that is another for each host is not worth it


@dataclass
class Composed:
    """What the expressions add to one host."""

    variables: dict[str, Any] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)


class _Subject:
    """A host whose expressions are evaluated: ``own`` has the variables that are ours alone."""

    def __init__(self, host: Host, source: str | None = None, known: Any = None) -> None:
        self.host = host
        self.composed = Composed()
        self.own = host.variables
        self._source = source
        self._known = known
        if host.name:
            short = host.name.split(".")[0]
            self.own = {
                **host.variables,
                "inventory_hostname": host.name,
                "inventory_hostname_short": short,
            }

    def variables(self) -> dict[str, Any]:
        """Return all that an expression of the host may see."""
        if not self.host.name:
            return self.own
        known = self._known.get_vars() if self._known else {}
        folder = basedir(self._source) if self._source else None
        source = {"inventory_file": self._source, "inventory_dir": folder}
        variables: dict[str, Any] = combine_vars(
            {**source, **known, **self.own}, self.composed.variables
        )
        groups = {*self.host.groups, *self.composed.groups}
        if self._known:
            groups.update(group.name for group in self._known.groups)
        variables["group_names"] = sorted(groups - {"all"})
        return variables

    def texts(self, names: Iterable[str]) -> tuple[str, ...] | None:
        """Return the variables of these names, if all of them are texts of our own."""
        if self._known is not None:
            return None
        found: list[str] = []
        for name in names:
            value: Any = self.own.get(name)
            if type(value) not in TEXT_TYPES or name in self.composed.variables:
                return None
            found.append(value)
        return tuple(found)


class _Expression:
    """An expression, what is known of it, and the answers that it has given."""

    def __init__(self, expression: Any, extra_vars: Mapping[str, Any], native: bool) -> None:
        pure = analyse(expression)
        # An extra var may be a template, and then it may be another one each time.
        shadowed = pure is not None and any(name in extra_vars for name in pure.names)
        self._pure = None if shadowed else pure
        self._native = native
        self._answers: dict[tuple[str, ...], Any] = {}

    def answer(self, subject: _Subject, kind: type | None, ask: Callable[[], Any]) -> Any:
        """Return the answer for a host, from ``ask`` where it is not known; raise as ``ask`` does.

        ``kind`` is the type that an answer of plain Jinja must have; None if it can't be one.
        """
        texts = subject.texts(self._pure.names) if self._pure else None
        if texts is None:
            return ask()
        if texts in self._answers:
            answer = self._answers[texts]
            if isinstance(answer, Exception):
                raise answer.with_traceback(None)
            return answer
        answer = self._simple(subject, texts, kind)
        if answer is None:
            try:
                answer = ask()
            except EXPRESSION_ERRORS as error:
                self._remember(texts, error)
                raise
        self._remember(texts, answer)
        return answer

    def text(self, subject: _Subject) -> str | None:
        """Return the value for a host where it is certainly a text, without asking Ansible."""
        texts = subject.texts(self._pure.names) if self._pure else None
        answer: str | None = None if texts is None else self._simple(subject, texts, str)
        return answer

    def _simple(self, subject: _Subject, texts: tuple[str, ...], kind: type | None) -> Any:
        """Return the answer where plain Jinja can give it in the right type, else None."""
        pure = self._pure
        if self._native or pure is None or kind is None:
            return None
        if kind is str and pure.name:
            answer = subject.own[pure.name]
        elif _HAS_MARKS and any(hasattr(text, "__UNSAFE__") for text in texts):
            return None  # Ansible marks what it makes of marked text, and Jinja doesn't
        else:
            answer = pure.evaluate(subject.own)
            if answer.__class__ is not kind:
                return None
        if kind is str and (answer.startswith(_CONVERTED) or "\n" in answer):
            return None
        return answer

    def _remember(self, texts: tuple[str, ...], answer: Any) -> None:
        if len(self._answers) < _REMEMBERED and isinstance(answer, (*_SCALARS, tuple, Exception)):
            self._answers[texts] = answer


class _KeyedGroup:
    """An entry of keyed_groups: its groups depend on its key alone, unless its parent differs."""

    def __init__(self, entry: dict[str, Any], expression: _Expression) -> None:
        self.entry = entry
        self._expression = expression
        self._is_fixed = "{" not in str(entry.get("parent_group"))
        self._groups: dict[str, tuple[str, ...]] = {}

    def groups(self, subject: _Subject, ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the groups of a host, from ``ask`` where they are not known."""
        if not self._is_fixed:
            return ask()
        key = self._expression.text(subject)
        if key is None:
            answer: tuple[str, ...] = self._expression.answer(subject, None, ask)
            return answer
        groups = self._groups.get(key)
        if groups is None:
            groups = ask()
            if len(self._groups) < _REMEMBERED:
                self._groups[key] = groups
        return groups


class _Recorder:
    """Stand where Ansible's helpers expect the inventory, and write down what they ask for."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.parents: list[tuple[str, str]] = []

    def add_group(self, group: str) -> str:
        if not group or not isinstance(group, str):
            raise AnsibleError(f"Invalid group name: {group!r}")
        return group

    def add_host(self, host: str, group: str) -> None:
        self.groups.append(group)

    def add_child(self, group: str, child: str) -> None:
        self.parents.append((group, child))


class Expressions(BaseInventoryPlugin, Constructable):
    """Evaluate expressions the way Ansible's own helpers do, and add nothing to an inventory.

    ``failures`` counts, for each expression, the hosts that it failed for, with the first error.
    ``parents`` has the (parent, child) pairs of groups that keyed_groups asks for, in order.
    """

    NAME = "server_management.cloud.servers"

    def __init__(self, plugin: Any) -> None:
        super().__init__()
        self.get_option: Callable[..., Any] = plugin.get_option
        self.templar = plugin.templar
        self._vars = plugin._vars
        self._strict = self.get_option("strict")
        self._extra_vars = self._vars if self.get_option("use_extra_vars") else {}
        # Up to 2.18 this setting turns texts into numbers; later ones keep it without a meaning.
        self._native = constants.DEFAULT_JINJA2_NATIVE and not _HAS_EXPRESSIONS
        self._expressions: dict[tuple[type, str], _Expression] = {}
        self._compose_option = self.get_option("compose") or {}
        self._groups_option = {
            self._sanitize_group_name(str(name)): condition
            for name, condition in (self.get_option("groups") or {}).items()
        }
        self._keyed_groups_option = [
            _KeyedGroup(entry, self._expression(entry["key"], list))
            for entry in map(_checked_keyed_group, self.get_option("keyed_groups") or [])
        ]
        self._key: Any = None
        self.failures: dict[str, tuple[int, str]] = {}
        self.parents: dict[tuple[str, str], None] = {}

    @property
    def group_names(self) -> set[str]:
        """The names of the groups that the option groups may make."""
        return set(self._groups_option)

    def is_kept(self, host: Host, filters: Iterable[Mapping[str, Any]]) -> bool:
        """Tell whether the first filter that holds, if any, includes the host.

        Raises OptionError where a condition fails: a host must not stay in by accident.
        """
        subject = _Subject(host)
        for entry in filters:
            ((verb, condition),) = entry.items()
            try:
                if self._holds(condition, subject):
                    return verb == "include"
            except EXPRESSION_ERRORS as error:
                server, reason = one_line(host.server.id), one_line(str(error))
                raise OptionError(
                    f"filters: {verb}: {condition}: failed for the server {server}: {reason}"
                ) from error
        return True

    def texts(self, expressions: Iterable[Any], host: Host) -> list[str]:
        """Return the text that each expression gives, empty where it fails or gives no text."""
        subject = _Subject(Host(host.server, host.variables))
        found = []
        for expression in expressions:
            try:
                value = self._value(expression, subject)
            except EXPRESSION_ERRORS:
                value = ""
            if isinstance(value, str):
                found.append(str.__str__(value))  # without any mark
            else:
                found.append(str(value) if isinstance(value, (bool, int, float)) else "")
        return found

    def compose_all(self, hosts: Iterable[Host], inventory: Any) -> list[Composed]:
        """Evaluate compose, groups and keyed_groups for hosts that have their names.

        The expressions see what other sources say of a host, too. With strict, the first failure
        raises AnsibleParserError; without it, ``failures`` counts them.
        """
        self.failures.clear()
        self.parents.clear()
        if not (self._compose_option or self._groups_option or self._keyed_groups_option):
            return [Composed() for host in hosts]
        source, known = inventory.current_source, inventory.hosts
        return [self._compose_host(_Subject(host, source, known.get(host.name))) for host in hosts]

    def _compose_host(self, subject: _Subject) -> Composed:
        host, composed, variables = subject.host.name, subject.composed, {}
        for name, expression in self._compose_option.items():
            try:
                variables[name] = trust_plain(self._value(expression, subject))
            except EXPRESSION_ERRORS as error:
                if self._strict or not isinstance(error, AnsibleValueOmittedError):
                    self._fail(f"compose: {name}", f"Could not set {name} for host {host}", error)
        # The entries of compose don't see each other; the groups see what they made.
        composed.variables = variables
        for group, condition in self._groups_option.items():
            try:
                if self._holds(condition, subject):
                    composed.groups.append(group)
            except EXPRESSION_ERRORS as error:
                self._fail(f"groups: {group}", f"Could not add host {host} to group {group}", error)
        for keyed in self._keyed_groups_option:
            try:
                composed.groups += keyed.groups(subject, partial(self._ask_groups, keyed, subject))
            except EXPRESSION_ERRORS as error:
                label = f"keyed_groups: {keyed.entry['key']}"
                self._fail(label, "", error)
        return composed

    def _expression(self, expression: Any, use: type) -> _Expression:
        """Return what is known of an expression that is to give a value of the type ``use``."""
        key = use, str(expression)
        if key not in self._expressions:
            known = _Expression(expression, self._extra_vars, self._native)
            self._expressions[key] = known
        return self._expressions[key]

    def _value(self, expression: Any, subject: _Subject) -> Any:
        """Return the value of an expression; a number or a boolean stands for itself."""
        if isinstance(expression, (bool, int, float)):
            return expression
        return self._expression(expression, str).answer(
            subject, str, lambda: self._compose(expression, subject.variables())
        )

    def _holds(self, condition: Any, subject: _Subject) -> bool:
        """Tell whether a condition is met; extra vars count where use_extra_vars says so."""
        if isinstance(condition, (bool, int, float)):
            return bool(condition)
        answer = self._expression(condition, bool).answer(
            subject, bool, lambda: self._ask_condition(condition, subject)
        )
        return bool(answer)

    def _ask_condition(self, condition: str, subject: _Subject) -> bool:
        self.templar.available_variables = combine_vars(subject.variables(), self._extra_vars)
        if _HAS_EXPRESSIONS:
            return bool(self.templar.evaluate_conditional(condition))
        template = f"{{% if {condition} %}} True {{% else %}} False {{% endif %}}"
        return bool(boolean(self.templar.template(template)))

    def _ask_groups(self, keyed: _KeyedGroup, subject: _Subject) -> tuple[str, ...]:
        self.inventory = recorder = _Recorder()
        self._key = keyed  # anything true: it stays where the key can't be evaluated
        name, variables = subject.host.name, subject.variables()
        try:
            self._add_host_to_keyed_groups(
                [keyed.entry], variables, name, strict=True, fetch_hostvars=False
            )
        except EXPRESSION_ERRORS:
            # Ansible's helper takes an empty key for a failure too, which is one with strict only.
            if self._key or self._strict:
                raise
            return ()
        self.parents.update(dict.fromkeys(recorder.parents))
        return tuple(recorder.groups)

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        """Note what the expression gave: the helper for keyed groups keeps it to itself."""
        if isinstance(template, (bool, int, float)):
            self._key = str(template)
        else:
            self._key = super()._compose(template, variables, *args, **kwargs)
        return self._key

    def _fail(self, label: str, message: str, error: BaseException) -> None:
        reason = one_line(str(error))
        if self._strict:
            raise AnsibleParserError(f"{message}: {reason}" if message else reason) from error
        count, first = self.failures.get(label, (0, reason))
        self.failures[label] = count + 1, first


def _checked_keyed_group(entry: Any) -> dict[str, Any]:
    """Return an entry of keyed_groups that Ansible's helper takes for any host."""
    if not isinstance(entry, dict) or entry.get("key") is None:
        raise OptionError("keyed_groups: each entry must be a mapping with a key.")
    if entry.get("default_value") is not None and entry.get("trailing_separator") is not None:
        raise OptionError("keyed_groups: default_value and trailing_separator exclude each other.")
    return entry
