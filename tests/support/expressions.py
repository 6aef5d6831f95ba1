# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts, expressions and errors for the unit tests of plugin_utils."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from ansible import template
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _expressions
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host


def is_trusted(value: object) -> bool:
    """Return whether Ansible would render a text."""
    if _ansible.SINCE_2_19:
        return bool(template.is_trusted_as_template(value))
    return not hasattr(value, "__UNSAFE__")


def load(value: Any) -> Any:
    """Load a value like an inventory file, so that its expressions are trusted."""
    return DataLoader().load(_ansible.trust(json.dumps(value)))


def message_of(function: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """Return the message of the error about an option that a function raises."""
    with pytest.raises(OptionError) as caught:
        function(*arguments, **options)
    # Ansible prints the cause of an exception.
    assert caught.value.__cause__ is None
    return str(caught.value)


PREFIX = "server_management_"
DEFAULTS = {"hostvars_prefix": PREFIX, "compose": {}, "groups": {}, "keyed_groups": []}


def expressions_with(
    extra_vars: Any = None, fields: Iterable[str] = (), **options: Any
) -> _expressions.Expressions:
    """Return the expressions of an inventory file with these options, and fields of servers."""
    loaded = load({**DEFAULTS, **options})
    templar = Templar(loader=DataLoader())
    variables = {name: f"{loaded['hostvars_prefix']}{name}" for name in fields}
    return _expressions.Expressions(loaded.get, templar, load(extra_vars) or {}, variables)


def host_with(number: int = 0, prefix: str = PREFIX, **fields: Any) -> Host:
    """Return the host of a server with these fields, before it has a name."""
    variables = {"ansible_host": "192.0.2.1"}
    for name, value in fields.items():
        variables[f"{prefix}{name}"] = _ansible.mark(value)
    return Host(Server(f"srv_{number}", fields), variables)


def composed(
    *servers: dict[str, Any],
    inventory: InventoryData | None = None,
    extra_vars: Any = None,
    **options: Any,
) -> tuple[list[Host], list[str]]:
    """Evaluate these options for the hosts h0, h1 and so on of servers with these fields.

    Returns the hosts that the filters keep, with what the options add to them, and the warnings.
    """
    expressions = expressions_with(extra_vars, set[str]().union(*servers), **options)
    prefix = options.get("hostvars_prefix", PREFIX)
    hosts = []
    for number, fields in enumerate(servers):
        host = host_with(number, prefix, **fields)
        if expressions.excluding_filter(host):
            continue
        expressions.preferences(host)
        host.name = f"h{number}"
        hosts.append(host)
    expressions.apply(expressions.compose(hosts, inventory or InventoryData()))
    warnings: list[str] = []
    expressions.report(warnings.append)
    return hosts, warnings
