# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the collection's expressions with Ansible's own helpers on a real inventory.

Intended differences, which the reference takes into account:

- Extra vars also reach ``groups`` (and ``filters``), which Ansible's helper does not pass them to.
- Text that can't be a template is plain: it need not be marked as Ansible marks it. Expressions
  see it marked, so that what they decode from it is never a template.
- Before ansible-core 2.19, a result that is text and contains text from the API stays text, and
  does not become the value that Python would read from it.
- A composed value that JSON can't hold is a failure.
- What ends a source in Ansible even without ``strict`` (a key that is a number, for example) is a
  counted failure here.
- The message of an error is the reason, after the option and the host, and before a hint.

What these cases leave out: a number or boolean as an expression stands for itself; nothing is added
before all expressions succeed; host and group names never collide.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

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
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    as_data,
    mark,
    reason_text,
    trust_plain,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host

from .expression_cases import HOSTS, Case

try:
    from ansible.template import is_trusted_as_template, trust_as_template
except ImportError:  # ansible-core before 2.19, where all text is trusted unless it is marked
    from ansible.module_utils.common.text.converters import to_text
    from ansible.utils.native_jinja import NativeJinjaText

    def with_text_kept(templar: Templar) -> Templar:
        """Return a templar that doesn't convert text with text from the API."""
        convert = templar.environment.finalize

        def finalize(value: Any) -> Any:
            value = convert(value)
            if templar.cur_context.unsafe and isinstance(value, (str, bytes)):
                value = to_text(value)
                if value.startswith(("{", "[")) or value in ("True", "False"):
                    value = NativeJinjaText(value)
            return value

        templar.environment.finalize = finalize
        return templar

    def is_trusted_as_template(value: object) -> bool:
        """Return whether Ansible would render a text."""
        return not hasattr(value, "__UNSAFE__")

    def trust_as_template(value: str) -> str:
        """Return text that Ansible renders."""
        return value

else:

    def with_text_kept(templar: Templar) -> Templar:
        """Return the templar: later versions never convert text."""
        return templar

    class NativeJinjaText(str):  # type: ignore[no-redef]
        """Text that stays text in a playbook, so that it needs no mark."""


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
SOURCE = "/inventories/fuzz.server_management.yml"
_loader = DataLoader()
# One for each side: to make one costs more than to evaluate many expressions.
_their_templar, _our_templar = with_text_kept(Templar(loader=_loader)), Templar(loader=_loader)
_play_templar = Templar(loader=_loader)


def load(value: Any) -> Any:
    """Load a value like an inventory file, so that its expressions are trusted."""
    return _loader.load(trust_as_template(json.dumps(value)))


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


def inventory_with(others: Mapping[str, Any]) -> InventoryData:
    """Return an inventory with the hosts of another source."""
    inventory = InventoryData()
    for child, parent in others["parents"].items():
        for group in (child, parent):
            inventory.add_group(group)
        inventory.add_child(parent, child)
    for name, host in others["hosts"].items():
        inventory.add_host(name)
        for group in host["groups"]:
            inventory.add_group(group)
            inventory.add_child(group, name)
        for variable, value in load(host["vars"]).items():
            inventory.set_variable(name, variable, value)
    inventory.current_source = SOURCE
    return inventory


def add(inventory: InventoryData, host: Host) -> None:
    """Add a host with its variables and groups."""
    inventory.add_host(host.name)
    for name, value in host.variables.items():
        inventory.set_variable(host.name, name, value)
    for group in host.groups:
        inventory.add_group(group)
        inventory.add_child(group, host.name)


def _known_variables(inventory: InventoryData, host: Host) -> dict[str, Any]:
    """Return the variables of a host; its name and its groups can be text from the API."""
    known = inventory.get_host(host.name).get_vars()
    magic = ("inventory_hostname", "inventory_hostname_short", "group_names")
    return {**known, **as_data({name: known[name] for name in magic})}


def _expect_json(value: Any) -> None:
    """Raise TypeError if JSON can't hold a value, with the message of the collection."""
    scalars = (str, int, float, date, type(None))
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, (str, int, float, type(None))):
                raise TypeError(f"The key {key!r} can't be in JSON.")
            _expect_json(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            _expect_json(item)
    elif not isinstance(value, scalars) or (value.__class__ is float and not math.isfinite(value)):
        raise TypeError(f"The result {value!r} can't be in JSON.")


def _seen(variables: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of an inventory as expressions see them."""
    seen: dict[str, Any] = as_data(trust_plain(variables))
    return seen


@dataclass
class Outcome:
    """The results of an inventory file, or an error.

    ``names`` and ``kept`` have, for each host, the results of hostnames and filters, in which
    "fails" is an error.
    """

    names: list[list[str]] = field(default_factory=list)
    kept: list[bool | str] = field(default_factory=list)
    inventory: InventoryData = field(default_factory=InventoryData)
    error: str = ""
    is_failure_counted: bool = False


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
        outcome = Outcome(inventory=inventory_with(case.others))
        hosts = hosts_of(case.servers)
        for host in hosts:
            variables = _seen(host.variables)
            outcome.names.append([self.name(it, variables) for it in self.options["hostnames"]])
            outcome.kept.append(self.is_kept(variables))
        self.inventory = outcome.inventory
        try:
            for host in hosts:
                self.add(replace(host, variables=_seen(host.variables)))
        except Exception as error:  # noqa: BLE001
            outcome.error = reason_text(str(error.__context__ or error))
        return outcome

    def add(self, host: Host) -> None:
        """Add a host, and then the results of the expressions."""
        inventory, strict = self.inventory, self.options["strict"]
        add(inventory, host)
        self._is_composing = True
        known = _known_variables(inventory, host)
        self._set_composite_vars(self.options["compose"], known, host.name, strict)
        self._is_composing = False
        known = combine_vars(_known_variables(inventory, host), self.extra_vars)
        self._add_host_to_composed_groups(
            self.options["groups"], known, host.name, strict, fetch_hostvars=False
        )
        for entry in self.options["keyed_groups"]:
            known = _known_variables(inventory, host)
            self._add_host_to_keyed_groups([entry], known, host.name, strict, fetch_hostvars=False)

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        value = super()._compose(template, variables, *args, **kwargs)
        if self._is_composing:
            _expect_json(value)
        return value

    def name(self, expression: Any, variables: dict[str, Any]) -> str:
        """Return the host name that an expression gives, or an empty text."""
        try:
            value = self._compose(expression, variables)
        except Exception as error:  # noqa: BLE001  # Ansible's helpers let anything through
            is_omitted = type(error).__name__ == "AnsibleValueOmittedError"
            return "" if is_omitted or not self.options["strict"] else "fails"
        if isinstance(value, str):
            return str.__str__(value)
        return str(value) if isinstance(value, (bool, int, float)) else ""

    def is_kept(self, variables: dict[str, Any]) -> bool | str:
        """Return whether the first condition that is true, if any, includes a host."""
        for entry in self.options["filters"]:
            ((verb, condition),) = entry.items()
            self.inventory = InventoryData()
            self.inventory.add_host("host")
            seen = combine_vars(variables, self.extra_vars)
            try:
                self._add_host_to_composed_groups(
                    {"it": condition}, seen, "host", strict=True, fetch_hostvars=False
                )
            except Exception:  # noqa: BLE001
                return "fails"
            if "it" in self.inventory.groups:
                return bool(verb == "include")
        return True


def outcome_of(expressions: Expressions, case: Case) -> Outcome:
    """Return the results of the collection, added to an inventory as the plugin adds them."""
    outcome = Outcome(inventory=inventory_with(case.others))
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
    inventory = outcome.inventory
    try:
        for host, added in zip(hosts, expressions.compose_all(hosts, inventory), strict=True):
            variables = trust_plain({**host.variables, **added.variables})
            add(inventory, replace(host, variables=variables, groups=host.groups + added.groups))
        for parent, child in expressions.parents:
            inventory.add_group(parent)
            inventory.add_child(parent, child)
    except Exception as error:  # noqa: BLE001  # with strict, or a group inside itself
        outcome.error = re.sub(r" \((did you mean|text needs) [^()]*\)$", "", str(error))
    outcome.is_failure_counted = bool(expressions.failures)
    return outcome


def compare(case: Case) -> None:
    """Raise AssertionError if the collection's results differ from those of Ansible's helpers."""
    options, extra_vars = load(case.options), load(case.extra_vars)
    theirs = Reference(options, extra_vars).outcome(case)
    ours = outcome_of(expressions_with(options, extra_vars), case)
    _same("hostnames", ours.names, theirs.names)
    _same("filters", ours.kept, theirs.kept)
    if re.search("the group .* (would be inside itself|can't be inside another group)", ours.error):
        # Ansible has other words for the first, and fails for the second only later.
        assert "itself" in theirs.error or "recursive" in theirs.error or "another" in ours.error
        return
    if theirs.error:
        _compare_errors(ours, theirs.error, case.options["strict"])
        return
    _same("error", ours.error, "")
    for name in theirs.inventory.hosts:
        _compare_hosts(ours.inventory, theirs.inventory, name, options["compose"])
    _same("parents", _tree(ours.inventory), _tree(theirs.inventory))


def _compare_errors(ours: Outcome, reason: str, strict: bool) -> None:
    """Expect the reason of Ansible's error; without strict, a counted failure is enough."""
    if not ours.error and ours.is_failure_counted and not strict:
        return
    if "(" * 100 not in reason:  # Ansible's text depends on the free depth of the stack
        # The collection passes text to Jinja without a mark.
        error, reason = (
            one_line(text).replace("_AnsibleTaggedStr", "str") for text in (ours.error, reason)
        )
        _same("error", error[-len(reason) :], reason)


def _compare_hosts(
    ours: InventoryData, theirs: InventoryData, name: str, composed: Iterable[str]
) -> None:
    our_host, their_host = ours.get_host(name), theirs.get_host(name)
    _same("variables", _described(our_host.vars), _described(their_host.vars))
    _same(
        "groups",
        {group.name for group in our_host.groups},
        {group.name for group in their_host.groups},
    )
    for variable in our_host.vars.keys() & composed:
        template = trust_as_template("{{ " + variable + " }}")
        _same(template, _rendered(template, our_host.vars), _rendered(template, their_host.vars))


def _same(what: str, ours: Any, theirs: Any) -> None:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in ours.keys() | theirs.keys():
            _same(f"{what}: {key}", ours.get(key, "missing"), theirs.get(key, "missing"))
    elif ours != theirs and _without_addresses(ours) != _without_addresses(theirs):
        raise AssertionError(
            f"{what}:\n  the collection gives {ours!r}\n  Ansible gives {theirs!r}"
        )


def _without_addresses(value: Any) -> list[str]:
    """Return a value as text, without the memory addresses of methods."""
    shown = sorted(map(repr, value)) if isinstance(value, set) else [repr(value)]
    return list(map(_without_address, shown))


def _without_address(text: str) -> str:
    return re.sub("0x[0-9a-f]{6,}", "", text)


def _rendered(template: str, variables: dict[str, Any]) -> Any:
    """Return the result of a template in a play."""
    try:
        _play_templar.available_variables = variables
        return _described(_play_templar.template(template))
    except AnsibleError as error:
        return type(error)


def _described(value: Any) -> Any:
    """Return a value with its types, and with the rendered form of its text."""
    if isinstance(value, str):
        text = str.__str__(value)
        is_renderable = bool(is_plain(text)) or is_trusted_as_template(value)
        return "text", text, is_renderable, isinstance(value, NativeJinjaText)
    if isinstance(value, Mapping):
        return {
            str.__str__(key) if isinstance(key, str) else key: _described(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return ("list" if isinstance(value, list) else "tuple"), [
            _described(item) for item in value
        ]
    kind = next(kind for kind in type(value).__mro__ if not kind.__module__.startswith("ansible"))
    return kind, repr(value)


def _tree(inventory: InventoryData) -> dict[str, set[str]]:
    return {
        _without_address(name): {_without_address(parent.name) for parent in group.parent_groups}
        for name, group in inventory.groups.items()
    }
