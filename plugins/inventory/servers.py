# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: servers
short_description: Lists the servers of an account and groups them by region, plan and status
version_added: 1.0.0
description:
  - Reads the servers of a hosting account through the provider's REST API and adds each of them as
    a host, in groups by region, plan and status, with its C(ipv4) as C(ansible_host).
  - The name of the inventory file must end with C(server_management.yml) or
    C(server_management.yaml), for example C(prod.server_management.yml).
  - The whole listing is read, checked, named and composed before the first host is added. A source
    that fails adds nothing, so set C(any_unparsed_is_failed) in the section C([inventory]) of
    C(ansible.cfg) to make Ansible stop there.
  - Two servers of one name both become C(<name>_<id>). Characters that a host name can't have are
    replaced by an underscore.
  - No text of the API is ever rendered as a template.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.connection
  - server_management.cloud.connection.plugin
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
notes:
  - Every text in the inventory file may be a Jinja template, which sees the extra vars, and
    O(api_token) may be an inline vault value. O(compose), O(groups), O(keyed_groups),
    O(hostnames) and O(filters) are expressions, without braces.
  - Expressions see the prefixed fields (see O(hostvars_prefix)) and C(ansible_host). Those of
    O(compose), O(groups) and O(keyed_groups) also see C(inventory_hostname) and what other sources
    say of the host; O(groups) and O(keyed_groups) see what O(compose) made as well.
  - An expression of O(compose), O(groups) or O(keyed_groups) that fails gives one warning with the
    number of hosts, or an error with O(strict=true). So does a name that had to be changed.
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [server_management.cloud.servers]
  group:
    description: The group that holds every host.
    type: str
    default: server_management
  group_by:
    description:
      - The fields to make groups of, named C(region_<value>), C(plan_<value>) and
        C(status_<value>). Characters that a group name can't have become underscores.
    type: list
    elements: str
    choices: [region, plan, status]
    default: [region, plan, status]
  hostnames:
    description:
      - Expressions for the name of a host, in order of preference. The first one that gives a
        usable name that no other server has wins; the id is always the last resort.
      - The default is the server's name.
    type: list
    elements: str
  hostvars_prefix:
    description:
      - What stands before each field of the API in the name of a host variable, as in
        C(server_id) and C(server_name). It holds for fields that the API adds later, too.
    type: str
    default: server_
  statuses:
    description: Keep only the servers with one of these statuses.
    type: list
    elements: str
  regions:
    description: Keep only the servers in one of these regions.
    type: list
    elements: str
  plans:
    description: Keep only the servers with one of these plans.
    type: list
    elements: str
  filters:
    description:
      - Conditions that choose servers. The first one that holds decides, and a server that none
        holds for is kept.
      - They are evaluated before hosts have names. An expression that fails is an error.
    type: list
    elements: dict
    suboptions:
      include:
        description: A condition under which a server is kept.
        type: raw
      exclude:
        description: A condition under which a server is left out.
        type: raw
  min_servers:
    description: Fewer servers than this in the account, before any filter, are an error.
    type: int
    default: 0
  host_key_alias:
    description:
      - Makes OpenSSH remember the host key of each server by its id instead of by its address, so
        that a new server at an old address is accepted as new, while another key of the same
        server is still refused.
      - Sets C(ansible_ssh_extra_args), C(ansible_sftp_extra_args) and C(ansible_scp_extra_args) of
        each host to C(-o HostKeyAlias=<id>), except those that O(compose) sets.
      - These variables take precedence over the same ones in C(group_vars), over the options
        C(--ssh-extra-args), C(--sftp-extra-args) and C(--scp-extra-args), and over the settings in
        C(ansible.cfg). Options for all servers belong in C(ansible_ssh_common_args).
      - Other connection plugins than P(ansible.builtin.ssh#connection) ignore these variables.
    type: bool
    default: false
  stale_cache_timeout:
    description:
      - For how many seconds beyond O(cache_timeout) the last good listing may stand in, with a
        warning, while the API can't be reached, throttles or fails.
      - It never stands in for a rejected token or a malformed answer. Needs O(cache=true).
    type: int
    default: 0
"""

EXAMPLES = r"""
# fmt: code
---
# A file whose name ends with server_management.yml, with the rest in the environment:
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN.
plugin: server_management.cloud.servers

---
# The token from a vault, an environment variable or a command: any Jinja template will do.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token: "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"

---
# Only what runs in two regions, in one group.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
statuses: [running]
regions: [eu-1, eu-2]
group: web_fleet
group_by: [plan]

---
# Variables and groups of your own.
plugin: server_management.cloud.servers
base_url: https://api.example.com
compose:
  ansible_user: "'admin'"
  ansible_port: 2222
  rack: server_region ~ '/' ~ server_plan
groups:
  webservers: inventory_hostname.startswith('web')
keyed_groups:
  - key: server_created_at[:4]
    prefix: created

---
# Leave out what is being built and all test servers, but for one.
plugin: server_management.cloud.servers
base_url: https://api.example.com
filters:
  - include: server_name == 'test-keep'
  - exclude: server_name.startswith('test')
  - exclude: server_status != 'running'

---
# Remember SSH host keys per server, since addresses are reused.
plugin: server_management.cloud.servers
base_url: https://api.example.com
host_key_alias: true

---
# Names with the region, and the id where that is not unique.
plugin: server_management.cloud.servers
base_url: https://api.example.com
hostnames:
  - server_name ~ '.' ~ server_region

---
# Cache the listing for ten minutes, and live with an old one for a day while the API is down.
plugin: server_management.cloud.servers
base_url: https://api.example.com
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/server_management
cache_timeout: 600
stale_cache_timeout: 86400

---
# An account with more servers than one answer holds, and a guard against an empty answer.
plugin: server_management.cloud.servers
base_url: https://api.example.com
pagination: cursor
pagination_parameter: starting_after
min_servers: 1
"""

import os
import re
from typing import Any
from weakref import WeakKeyDictionary

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.release import __version__ as ansible_version
from ansible.utils.vars import isidentifier

from ansible_collections.server_management.cloud.plugins.module_utils._connection import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    OptionError,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    Server,
    select,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    TOKEN_OPTIONS,
    connection_from,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import (
    one_line,
    summarise,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._cache import (
    entry_key,
    read_entry,
    write_entry,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._config import (
    EXPRESSION_OPTIONS,
    check_keys,
    check_tokens,
    check_values,
    render,
    resolve_paths,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    Host,
    check_parents,
    group_hosts,
    hosts_from,
    safe_group_name,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import (
    Naming,
    name_servers,
)

_FILE_NAMES = ("server_management.yml", "server_management.yaml")
_names_us = re.compile(
    rb"""^plugin:\s*['"]?server_management\.cloud\.servers['"]?\s*(#.*)?$""", re.MULTILINE
).search
# What reading an entry raises that is not what was written, from Ansible's own decoding on.
_ENTRY_ERRORS = (AnsibleError, AttributeError, LookupError, OSError, TypeError, ValueError)
_KEPT_TEXTS = 4096  # how many texts that hosts share are remembered while they are added
# The account and the id of the server that each host of an inventory is, whichever file listed it:
# the variables of a host don't tell, since each file has a prefix of its own.
_known_servers: WeakKeyDictionary[Any, dict[str, tuple[str, str]]] = WeakKeyDictionary()


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Read options, fetch or take from the cache, select, name, compose, and then add hosts."""

    NAME = "server_management.cloud.servers"

    def verify_file(self, path: str) -> bool:
        """Take files of our name; say so where a file asks for us under another one."""
        if not super().verify_file(path):
            return False
        if path.endswith(_FILE_NAMES):
            return True
        if path.endswith((".yml", ".yaml")) and os.path.isfile(path):
            with open(path, "rb") as file:
                if _names_us(file.read(65536)):
                    self.display.warning(
                        f"{path}: the name of an inventory file for {self.NAME} must end with "
                        f"{' or '.join(_FILE_NAMES)}; the file is not used."
                    )
        return False

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        self._source = os.path.basename(path)
        self._folder = os.path.dirname(os.path.abspath(path))
        try:
            self._read_config_data(path)
            hosts, parents = self._plan(cache)
        except CloudError as error:
            raise AnsibleParserError(str(error)) from error
        self._add(hosts, parents)

    def set_options(
        self, task_keys: Any = None, var_options: Any = None, direct: Any = None
    ) -> None:
        """Check and render the inventory file before Ansible gives its values their types."""
        if direct is not None:
            definitions = self.option_definitions
            check_keys(direct, definitions)
            direct = render(direct, self.templar, self._vars or {})
            check_tokens(direct)
            check_values(direct, definitions)
            resolve_paths(direct, self._folder)
            self._tokens = {option: direct.get(option) for option in TOKEN_OPTIONS}
            # Ansible's own message for a missing option doesn't name the environment variable.
            direct.setdefault("base_url", os.environ.get("SERVER_MANAGEMENT_BASE_URL", ""))
        super().set_options(task_keys=task_keys, var_options=var_options, direct=direct)

    def _plan(self, use_cache: bool) -> tuple[list[Host], list[tuple[str, str]]]:
        """Return the hosts in the order of their names, and (parent, child) pairs of groups."""
        self._check_options()
        connection = connection_from(self._connection_option, ansible_version)
        self._account = connection.base_url
        wanted = {option: self.get_option(option) for option in ("statuses", "regions", "plans")}
        servers = select(self._servers(connection, use_cache), wanted)
        expressions = self._expressions()
        hosts = hosts_from(servers, self.get_option("hostvars_prefix"), self._warn)
        filters = self.get_option("filters")
        if filters:
            hosts = [host for host in hosts if expressions.is_kept(host, filters)]
        group_hosts(hosts, self.get_option("group"), self.get_option("group_by"), self._warn)
        self._name_and_compose(hosts, expressions)
        if self.get_option("host_key_alias"):
            self._set_host_key_aliases(hosts)
        parents = list(expressions.parents) if expressions else []
        check_parents(parents, self.inventory.groups)
        return hosts, parents

    def _connection_option(self, option: str) -> Any:
        """Return an option; of the token, only what the file gives and not the environment."""
        return self._tokens[option] if option in self._tokens else self.get_option(option)

    def _expressions(self) -> Any:
        """Return what evaluates the expressions of the file, or None where it has none.

        The utility is imported only then: Ansible compiles a collection's code at each start.
        """
        if not any(self.get_option(option) for option in EXPRESSION_OPTIONS):
            return None
        from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
            Expressions,
        )

        return Expressions(self)

    def _check_options(self) -> None:
        prefix = self.get_option("hostvars_prefix")
        if prefix.startswith("ansible_") or not isidentifier(f"{prefix}id"):
            raise OptionError(
                f"hostvars_prefix: {prefix!r} makes no usable variable names.",
                "Use letters, digits and underscores, and do not start with ansible_.",
            )
        if not self.get_option("group"):
            raise OptionError("group: must not be empty.")
        for option in ("min_servers", "stale_cache_timeout"):
            if self.get_option(option) < 0:
                raise OptionError(f"{option}: must be 0 or more.")
        if self.get_option("stale_cache_timeout") and not self.get_option("cache"):
            raise OptionError("stale_cache_timeout: needs cache: true.")
        for entry in self.get_option("filters") or []:
            if not isinstance(entry, dict) or list(entry) not in (["include"], ["exclude"]):
                raise OptionError("filters: each entry must have one key, include or exclude.")

    def _servers(self, connection: Connection, use_cache: bool) -> list[Server]:
        """Return the listing, from the cache where that is wanted and the entry is fresh."""
        if not self.get_option("cache"):
            return self._fetch(connection)
        key = entry_key(connection)
        fresh, grace = self.get_option("cache_timeout"), self.get_option("stale_cache_timeout")
        if grace and fresh:
            # The cache plugin has to keep entries for longer than we call them fresh.
            self.set_option("cache_timeout", fresh + grace)
            self.load_cache_plugin()
        if use_cache:
            servers, age = self._cached(key)
            if servers is not None and _is_within(age, fresh):
                return self._enough(servers)
        try:
            fetched = self._fetch(connection)
        except CloudError as error:
            servers, age = self._cached(key) if grace and error.api_down else (None, 0.0)
            if servers is None or not _is_within(age, fresh and fresh + grace):
                raise
            self._warn(f"using a stale listing, {age:.0f} s old. {error.message}")
            return self._enough(servers)
        self._cache[key] = write_entry(fetched)
        self.update_cache_if_changed()  # now: a cache that fails must not do so after hosts
        return fetched

    def _cached(self, key: str) -> tuple[list[Server] | None, float]:
        """Return the listing of an entry and its age in seconds; no listing where there is none."""
        try:
            entry = self._cache.get(key)
            if entry is not None:
                return read_entry(entry)
        except _ENTRY_ERRORS as error:
            self._warn(f"the cache entry is damaged and not used: {one_line(str(error))}")
        return None, 0.0

    def _fetch(self, connection: Connection) -> list[Server]:
        # Not at the top: what comes out of the cache needs no client, and none of its code.
        from ansible_collections.server_management.cloud.plugins.module_utils._client import Client

        return self._enough(Client(connection, self._warn).list_servers())

    def _enough(self, servers: list[Server]) -> list[Server]:
        least = self.get_option("min_servers")
        if len(servers) < least:
            raise OptionError(f"min_servers: {least} expected, and the account has {len(servers)}.")
        return servers

    def _name_and_compose(self, hosts: list[Host], expressions: Any) -> None:
        """Name the hosts, sort them, and give them what the inventory file makes of them.

        A host must not have the name of a group, and only the composed hosts show all groups:
        where a name turns out to be taken, the naming starts again without it.
        """
        reserved = {"all", "ungrouped", *self.inventory.groups}
        reserved.update(group for host in hosts for group in host.groups)
        if expressions is None:
            self._tell_of_names(self._name(hosts, reserved, expressions))
            return
        reserved.update(expressions.group_names)
        # A new name can make an expression ask for another group: more than this is a chase.
        for is_last in (False, False, True):
            naming = self._name(hosts, reserved, expressions)
            composed = expressions.compose_all(hosts, self.inventory)
            made = {group for extra in composed for group in extra.groups}
            made.update(name for pair in expressions.parents for name in pair)
            clashing = made.intersection(host.name for host in hosts)
            if not clashing:
                break
            if is_last:
                raise OptionError(
                    f"keyed_groups: makes groups named as hosts: {summarise(clashing)}."
                )
            reserved |= made
        self._tell_of_names(naming)
        for label, (count, reason) in expressions.failures.items():
            self._warn(f"{label}: failed for {count} of {len(hosts)} hosts, first with: {reason}")
        for host, extra in zip(hosts, composed, strict=True):
            host.variables.update(extra.variables)
            host.groups += extra.groups

    def _name(self, hosts: list[Host], reserved: set[str], expressions: Any) -> Naming:
        by_id = {host.server.id: host for host in hosts}
        hostnames = self.get_option("hostnames")
        known = _known_servers.get(self.inventory, {})

        def preferences(server: Server) -> list[str]:
            if hostnames is None:
                return [server.text("name")]
            texts: list[str] = expressions.texts(hostnames, by_id[server.id])
            return texts

        def is_taken(name: str, server: Server) -> bool:
            ours = self._account, server.id
            return known.get(name, ours) != ours

        naming = name_servers([host.server for host in hosts], preferences, reserved, is_taken)
        for host in hosts:
            host.name = naming.names[host.server.id]
        hosts.sort(key=lambda host: host.name)
        return naming

    def _tell_of_names(self, naming: Naming) -> None:
        """Warn of the names that are not what was asked for, or fail with strict."""
        kinds = {
            "servers share a name, so that each has its id added": naming.shared,
            "server names have characters that a host name can't have, now _": naming.replaced,
            "servers have no name that can be used, and are named by their id": naming.unusable,
        }
        for kind, names in kinds.items():
            if names:
                problem = f"{len(names)} {kind}: {summarise(names)}"
                if self.get_option("strict"):
                    raise OptionError(f"hostnames: {problem}")
                self._warn(problem)

    def _set_host_key_aliases(self, hosts: list[Host]) -> None:
        # Imported only if the option is set: Ansible compiles a collection's code at each start.
        from ansible_collections.server_management.cloud.plugins.plugin_utils._ssh import (
            host_key_variables,
        )

        for host in hosts:
            for name, value in host_key_variables(host.server.id).items():
                host.variables.setdefault(name, value)

    def _add(self, hosts: list[Host], parents: list[tuple[str, str]]) -> None:
        """Add what was planned; nothing here can fail any more.

        Ansible checks the name of each variable that is set and notes where the text of its value
        is from. What many hosts have gets that once: the others have what it became for the first.
        """
        inventory = self.inventory
        # Looked up once: from ansible-core 2.19 on a proxy stands between, and takes its time.
        add_host, add_child, added_hosts = inventory.add_host, inventory.add_child, inventory.hosts
        set_variable = inventory.set_variable
        everybody = safe_group_name(self.get_option("group"))
        for group in sorted({everybody, *(group for host in hosts for group in host.groups)}):
            inventory.add_group(group)
        known = _known_servers.setdefault(inventory, {})
        kept: dict[tuple[type, str], Any] = {}
        accepted: set[str] = set()
        hosts.reverse()
        while hosts:  # each plan goes as its host comes, so that memory holds no account twice
            host = hosts.pop()
            name = host.name
            add_host(name, everybody)
            known[name] = self._account, host.server.id
            added = added_hosts[name]
            if len(kept) > _KEPT_TEXTS:
                kept.clear()
            for variable, value in host.variables.items():
                text = (value.__class__, value) if isinstance(value, str) else None
                if text in kept and variable in accepted:
                    added.vars[variable] = kept[text]
                    continue
                set_variable(name, variable, value)
                accepted.add(variable)
                if text is not None:
                    kept[text] = added.vars[variable]
            for group in host.groups:
                if group != everybody:
                    add_child(group, name)
        for parent, child in parents:
            inventory.add_group(parent)
            add_child(parent, child)

    def _warn(self, text: str) -> None:
        self.display.warning(f"{self._source}: {text}")


def _is_within(age: float, longest: int) -> bool:
    """Tell whether an entry may be used; ``longest`` is in seconds, and 0 is for ever.

    An entry of the future was written by another clock, or by somebody else.
    """
    return not longest or 0 <= age <= longest
