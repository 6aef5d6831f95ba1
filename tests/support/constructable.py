# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the collection's expressions with Ansible's own helpers on a real inventory.

Intended differences, which the reference takes into account:

- Extra vars also reach ``groups`` (and ``filters``), which Ansible's helper does not pass them to.
- Text that can't be a template is plain: it need not be marked as Ansible marks it. Expressions
  see it marked, so that what they decode from it is never a template.
- Before ansible-core 2.19, a result that is text and contains text from the API stays text, and
  does not become the value that Python would read from it. The templar of both sides does that.
- A composed value that JSON can't hold is a failure.
- What ends a source in Ansible even without ``strict`` (a key that is a number, for example) is a
  counted failure here.
- The message of an error is the reason, after the option and the host, and before a hint.

What these cases leave out: a number or boolean as an expression stands for itself; nothing is added
before all expressions succeed; host and group names never collide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import unified_diff
from pprint import pformat
from typing import Any
from unittest import mock

from ansible.errors import AnsibleError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.vars import combine_vars

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._text import (
    is_plain,
    one_line,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils import _pure
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
    is_trusted,
    mark,
    mark_all,
    reason_text,
    trust,
    trust_plain,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host

from .expression_cases import HOSTS, Case

# An account in which three servers each have the same values, but no two the same name.
WEB: list[dict[str, Any]] = [
    {
        "name": f"web-{number}",
        "region": f"eu-{number % 3}",
        "tags": [f"t{number % 3}", number % 3],
        "extra": {"team": f"t{number % 3}"},
        "number": number % 3,
        "flag": number % 2 == 0,
    }
    for number in range(90)
]
_loader = DataLoader()
# One for each side: to make one costs more than to evaluate many expressions.
_their_templar, _our_templar = Templar(loader=_loader), Templar(loader=_loader)
_play_templar = Templar(loader=_loader)
if not HAS_EXPRESSIONS:
    from ansible.module_utils.common.text.converters import to_text
    from ansible.utils.native_jinja import NativeJinjaText

    _finalize = _their_templar.environment.finalize

    def _with_text_kept(value: Any) -> Any:
        """Return a result as Ansible would, but text with text from the API as text."""
        value = _finalize(value)
        if getattr(_their_templar.cur_context, "unsafe", False) and isinstance(value, (str, bytes)):
            value = to_text(value)
            if value.startswith(("{", "[")) or value in ("True", "False"):
                return NativeJinjaText(value)
        return value

    _their_templar.environment.finalize = _with_text_kept


def load(value: Any) -> Any:
    """Load a value like an inventory file, so that its expressions are trusted."""
    return _loader.load(trust(json.dumps(value)))


def expressions_with(
    options: Mapping[str, Any],
    extra_vars: Mapping[str, Any] | None = None,
    templar: Templar | None = None,
    warn: Callable[[str], None] = print,
) -> Expressions:
    """Return the expressions of an inventory file with these options."""
    options = {"hostvars_prefix": "server_", **options}
    return Expressions(options.get, templar or _our_templar, extra_vars or {}, warn)


def hosts_of(servers: list[dict[str, Any]], names: tuple[str, ...] = HOSTS) -> list[Host]:
    """Return the hosts of an account with the plugin's variables."""
    hosts = []
    for number, (fields, name) in enumerate(zip(servers, names, strict=False)):
        variables = {f"server_{key}": mark(value) for key, value in fields.items()}
        variables["ansible_host"] = mark(f"192.0.2.{number}")
        server = Server(f"srv_{number}", {"id": f"srv_{number}", **fields})
        hosts.append(Host(server, variables, ["common_group"], name))
    return hosts


def hosts_with(servers: list[dict[str, Any]]) -> list[Host]:
    """Return hosts with the names h0.example, h1.example and so on."""
    return hosts_of(servers, tuple(f"h{number}.example" for number in range(len(servers))))


@dataclass
class Outcome:
    """The results of an inventory file, or an error.

    ``names`` and ``kept`` have, for each host, the results of hostnames and filters, in which
    "fails" is an error.
    """

    inventory: InventoryData
    names: list[list[str]] = field(default_factory=list)
    kept: list[bool | str] = field(default_factory=list)
    error: str = ""
    is_failure_counted: bool = False


def _inventory_with(others: Mapping[str, Any]) -> InventoryData:
    """Return an inventory with the hosts of another source."""
    inventory = InventoryData()
    for child, parent in others["parents"].items():
        _add_child(inventory, parent, child)
    for name, host in others["hosts"].items():
        _add(inventory, name, load(host["vars"]), host["groups"])
    inventory.current_source = "/inventories/fuzz.server_management.yml"
    return inventory


def _add_child(inventory: InventoryData, parent: str, child: str) -> None:
    inventory.add_group(parent)
    inventory.add_group(child)
    inventory.add_child(parent, child)


def _add(
    inventory: InventoryData, host: str, variables: Mapping[str, Any], groups: list[str]
) -> None:
    inventory.add_host(host)
    for name, value in variables.items():
        inventory.set_variable(host, name, value)
    for group in groups:
        inventory.add_group(group)
        inventory.add_child(group, host)


class Reference(BaseInventoryPlugin, Constructable):
    """Ansible's helpers, called for each host like in its own plugins."""

    def __init__(self, options: Mapping[str, Any], extra_vars: Mapping[str, Any]) -> None:
        super().__init__()
        self.options = options
        self.get_option = options.__getitem__
        self.templar = _their_templar
        self._vars = extra_vars
        self.extra_vars = extra_vars if options["use_extra_vars"] else {}
        self._is_composing = False

    def outcome(self, case: Case) -> Outcome:
        """Return the results of Ansible's helpers."""
        outcome = Outcome(_inventory_with(case.others))
        hosts = hosts_of(case.servers)
        for host in hosts:
            # As expressions see them.
            host.variables = mark_all(trust_plain(host.variables))
            outcome.names.append([self.name(it, host) for it in self.options["hostnames"]])
            outcome.kept.append(self.is_kept(host))
        try:
            for host in hosts:
                self.add(host, outcome.inventory)
        except Exception as error:  # noqa: BLE001
            outcome.error = reason_text(str(error.__context__ or error))
        return outcome

    def name(self, expression: Any, host: Host) -> str:
        """Return the host name that an expression gives, or an empty text."""
        try:
            value = self._compose(expression, host.variables)
        except Exception as error:  # noqa: BLE001  # Ansible's helpers let anything through
            is_omitted = type(error).__name__ == "AnsibleValueOmittedError"
            return "" if is_omitted or not self.options["strict"] else "fails"
        if isinstance(value, str):
            return str.__str__(value)
        return str(value) if isinstance(value, (bool, int, float)) else ""

    def is_kept(self, host: Host) -> bool | str:
        """Return whether the first condition that is true, if any, includes a host."""
        seen = combine_vars(host.variables, self.extra_vars)
        for entry in self.options["filters"]:
            ((verb, condition),) = entry.items()
            self.inventory = InventoryData()
            self.inventory.add_host("host")
            try:
                self._add_host_to_composed_groups(
                    {"it": condition}, seen, "host", strict=True, fetch_hostvars=False
                )
            except Exception:  # noqa: BLE001
                return "fails"
            if "it" in self.inventory.groups:
                return bool(verb == "include")
        return True

    def add(self, host: Host, inventory: InventoryData) -> None:
        """Add a host, and then the results of the expressions."""
        self.inventory, name, strict = inventory, host.name, self.options["strict"]
        _add(inventory, name, host.variables, host.groups)
        self._is_composing = True
        self._set_composite_vars(self.options["compose"], self.known(name), name, strict)
        self._is_composing = False
        known = combine_vars(self.known(name), self.extra_vars)
        self._add_host_to_composed_groups(
            self.options["groups"], known, name, strict, fetch_hostvars=False
        )
        for entry in self.options["keyed_groups"]:
            self._add_host_to_keyed_groups(
                [entry], self.known(name), name, strict, fetch_hostvars=False
            )

    def known(self, name: str) -> dict[str, Any]:
        """Return the variables of a host; its name and its groups can be text from the API."""
        known: dict[str, Any] = self.inventory.get_host(name).get_vars()
        magic = ("inventory_hostname", "inventory_hostname_short", "group_names")
        return {**known, **mark_all({key: known[key] for key in magic})}

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        value = super()._compose(template, variables, *args, **kwargs)
        if self._is_composing and not isinstance(value, str):
            json.dumps(value, allow_nan=False, default=_date_text)
        return value


def _date_text(value: Any) -> str:
    if isinstance(value, date):
        return str(value)
    raise TypeError(f"The result {value!r} can't be in JSON.")


def _our_outcome(expressions: Expressions, case: Case) -> Outcome:
    """Return the results of the collection, added to an inventory as the plugin adds them."""
    outcome = Outcome(_inventory_with(case.others))
    hosts = hosts_of(case.servers)
    for host in hosts:
        try:
            outcome.names.append(expressions.preferences(host))
        except OptionError:
            outcome.names.append(["fails"])
        try:
            outcome.kept.append(expressions.is_kept(host))
        except OptionError:
            outcome.kept.append("fails")
    try:
        added = expressions.compose_all(hosts, outcome.inventory)
        for host, extra in zip(hosts, added, strict=True):
            variables = trust_plain({**host.variables, **extra.variables})
            _add(outcome.inventory, host.name, variables, host.groups + extra.groups)
        for parent, child in expressions.parents:
            _add_child(outcome.inventory, parent, child)
    except Exception as error:  # noqa: BLE001  # with strict, or a group inside itself
        outcome.error = re.sub(
            r" \((did you mean|text needs|expressions have|only some) [^()]*\)$", "", str(error)
        )
    outcome.is_failure_counted = bool(expressions.failures)
    return outcome


def compare(case: Case) -> None:
    """Raise AssertionError if the collection's results differ from those of Ansible's helpers.

    Those of the collection are computed with and without a memory of results.
    """
    options, extra_vars = load(case.options), load(case.extra_vars)
    theirs = Reference(options, extra_vars).outcome(case)
    for is_used in (True, False):
        with mock.patch.object(_pure, "IS_USED", is_used):
            ours = _our_outcome(expressions_with(options, extra_vars), case)
            _expect_same([ours.names, ours.kept], [theirs.names, theirs.kept])
            if ours.error or theirs.error:
                _compare_errors(ours, theirs.error, case.options["strict"])
            else:
                found = (_content(it.inventory, case.options["compose"]) for it in (ours, theirs))
                _expect_same(*found)


def _compare_errors(ours: Outcome, reason: str, strict: bool) -> None:
    """Expect the reason of Ansible's error; without strict, a counted failure is enough."""
    if "would be inside itself" in ours.error:  # Ansible has other words
        assert "itself" in reason or "recursive" in reason, reason
    elif "can't be inside another group" in ours.error:
        pass  # Ansible fails only later
    elif "(" * 100 in reason:
        pass  # Ansible's text depends on the free depth of the stack
    elif ours.error or strict or not ours.is_failure_counted:
        # The collection passes text to Jinja without a mark.
        error, reason = (
            one_line(text).replace("_AnsibleTaggedStr", "str") for text in (ours.error, reason)
        )
        _expect_same(error[-len(reason) :], reason)


def _content(inventory: InventoryData, composed: Collection[str]) -> dict[str, Any]:
    """Return the hosts of an inventory, with their variables and groups, and all groups."""
    hosts = {
        name: {
            "variables": host.vars,
            "groups": sorted(_text(group.name) for group in host.groups),
            "in a play": {it: _rendered(it, host.vars) for it in composed if it in host.vars},
        }
        for name, host in inventory.hosts.items()
    }
    groups = {
        _text(name): sorted(_text(parent.name) for parent in group.parent_groups)
        for name, group in inventory.groups.items()
    }
    return {"hosts": hosts, "parents of groups": groups}


def _rendered(variable: str, variables: dict[str, Any]) -> Any:
    """Return what a variable is in a play."""
    _play_templar.available_variables = variables
    try:
        return _play_templar.template(trust("{{ " + variable + " }}"))
    except AnsibleError as error:
        return type(error).__name__


def _expect_same(ours: Any, theirs: Any) -> None:
    ours, theirs = _described(ours), _described(theirs)
    if ours != theirs:
        memory = "with memory" if _pure.IS_USED else "without memory"
        found, expected = (pformat(value).splitlines() for value in (ours, theirs))
        raise AssertionError(
            "\n".join(unified_diff(expected, found, "Ansible", memory, lineterm=""))
        )


def _described(value: Any) -> Any:
    """Return a value with its types, and for text whether it can be rendered and stays text."""
    if isinstance(value, str):
        is_renderable = bool(is_plain(value)) or is_trusted(value)
        return _text(value), is_renderable, "NativeJinja" in type(value).__name__
    if isinstance(value, Mapping):
        return {
            _text(key) if isinstance(key, str) else key: _described(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return "list" if isinstance(value, list) else "tuple", *map(_described, value)
    kind = next(kind for kind in type(value).__mro__ if not kind.__module__.startswith("ansible"))
    return kind, _text(repr(value))


def _text(value: str) -> str:
    """Return text without marks, and without the memory addresses of methods."""
    return re.sub("0x[0-9a-f]{6,}", "", str.__str__(value))
