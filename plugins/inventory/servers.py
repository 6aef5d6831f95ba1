# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: servers
short_description: Lists the servers of an account as hosts and groups them, for example by region
version_added: 1.0.0
description:
  - Reads the servers of a hosting account through the provider's REST API. Each server becomes a
    host with its C(ipv4) as C(ansible_host), in groups for its fields (see O(group_by)).
  - The name of the inventory file must end with C(server_management.yml) or
    C(server_management.yaml), for example C(prod.server_management.yml).
  - Nothing is added to the inventory before the whole listing has been read, validated, named and
    composed. A source that fails adds nothing. To make Ansible stop in that case, set
    C(any_unparsed_is_failed) in the section C([inventory]) of C(ansible.cfg).
  - Text from the API is never rendered as a template.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.connection
  - server_management.cloud.connection.plugin
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
notes:
  - Any text in the inventory file can be a Jinja template, which can use extra vars, and
    O(api_token) can be an inline vault value. The values of O(compose), O(groups),
    O(keyed_groups), O(hostnames) and O(filters) are expressions without braces, except C(prefix),
    C(separator) and C(default_value) of O(keyed_groups).
  - Expressions can use the prefixed fields (see O(hostvars_prefix)) and C(ansible_host). The
    section R(Expressions,
    ansible_collections.server_management.cloud.docsite.guide_inventory.expressions) lists other
    variables, and describes what happens if an expression fails.
  - A server without a usable IPv4 address gets C(no-usable-ipv4.invalid.) as C(ansible_host), which
    never resolves. Otherwise, Ansible would connect to whatever the server's name resolves to.
    O(compose) can set another address.
  - Servers with the same IPv4 address cause a warning, because a task for one of them can change
    another one.
  - No field of the API becomes a variable that starts with C(ansible_) or that has a meaning for
    Ansible, such as C(name) or C(environment). This matters if O(hostvars_prefix) is empty. C(-v)
    shows the fields that can't become variables.
  - With O(cache_timeout=0), an entry of the cache never expires, as with all cache plugins of
    Ansible. If O(cache=true), a V(0) from C(ansible.cfg) or the environment is an error, and so is
    a V(0) with O(stale_cache_timeout). To ask the API at each run, and use an old listing only
    while it is down, set O(cache_timeout=1) and O(stale_cache_timeout).
  - The hosts of a file are in the order of their names, in its groups and in C(all).
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [server_management.cloud.servers]
  group:
    description:
      - The name of the group of all hosts, which can't be V(all) or V(ungrouped). Characters that a
        group name can't have become underscores, and you get a warning.
    type: str
    default: server_management
  group_by:
    description:
      - The fields that make groups, with names such as C(region_<value>). Characters that a group
        name can't have become underscores.
    type: list
    elements: str
    choices: [region, plan, status]
    default: [region, plan, status]
  hostnames:
    description:
      - Expressions for the name of a host, in order of preference. The default is the server's
        name. The first usable name that no other server has is used. If there is none, the id is
        added to the first name that is not empty, as in C(web-01_srv_4f2a91c07d). The last resort
        is the id alone.
      - Several servers with the same name all become C(<name>_<id>). Underscores replace characters
        that a host name can't have, and the last dot of a name that ends like a file of variables,
        such as C(db1.yml).
      - A name can't be used if it is longer than 253 characters, starts with a hyphen or a dot, is
        a loopback name or address, is an IPv4 address that no field of the server but its name has,
        or is the name of a group, unless another source has a host with this name. Names of
        letters, digits and underscores that start like a group that this source could make, such
        as C(status_stopped), count as names of groups.
      - A name is not used if a server of another account has it, or a host for which another source
        sets an address, a connection plugin or a password. If all these addresses are plain text
        and the usable C(ipv4) of the server, they are one host, whatever its connection and
        password are.
      - You get one warning for each reason why hosts do not have their first name, or an error if
        O(strict=true). A server for which no name is left is always an error.
    type: list
    elements: str
  hostvars_prefix:
    description:
      - The prefix of each field of the API in the name of its host variable, as in
        C(server_management_id) and C(server_management_name). Fields that the API adds later also
        get it.
      - The default is long, because host variables of an inventory override C(group_vars) and the
        defaults of roles, in which names such as C(server_name) are common.
    type: str
    default: server_management_
  statuses:
    description:
      - Keep only servers with one of these values. An empty list, an empty value and null are
        errors.
      - If no server is left, a warning lists values that the account has. With O(strict=true), a
        value that no server of the account has is an error.
    type: list
    elements: str
  regions:
    description: Keep only servers in one of these regions, with the rules of O(statuses).
    type: list
    elements: str
  plans:
    description: Keep only servers with one of these plans, with the rules of O(statuses).
    type: list
    elements: str
  filters:
    description:
      - Conditions that select servers. The first condition that is true decides. Servers that match
        no condition are kept. An C(include) that no C(exclude) follows would have no effect, and is
        an error. To keep no other servers, end the list with C(exclude) and the condition V(true).
      - Conditions are evaluated before hosts have names. A condition that fails is an error.
      - If no host is left, you get a warning. O(min_hosts) makes this an error.
    type: list
    elements: dict
    suboptions:
      include:
        description: Keep the server if this condition is true.
        type: raw
      exclude:
        description: Leave out the server if this condition is true.
        type: raw
  min_servers:
    description: The source fails if the account has fewer servers than this, before filtering.
    type: int
    default: 0
  min_hosts:
    description:
      - The source fails if fewer hosts than this are left after all options that select servers.
    type: int
    default: 0
  host_key_alias:
    description:
      - Makes OpenSSH remember the host key of each server by its id instead of by its address. A
        new server at an old address is then accepted as new, while another key of the same server
        is still refused.
      - Sets C(ansible_ssh_extra_args), C(ansible_sftp_extra_args) and C(ansible_scp_extra_args) of
        each host to C(-o HostKeyAlias=<id>), except those that O(compose) sets.
      - Sets C(ansible_control_path), unless O(compose) sets it. A connection that is kept for later
        tasks then belongs to one server, even if another one has the same address by then, or
        behind another jump host. This has no effect if the ssh arguments contain C(ControlPath).
      - These variables take precedence over the same ones in C(group_vars) and in sources that are
        read earlier, over the options C(--ssh-extra-args), C(--sftp-extra-args) and
        C(--scp-extra-args), and over the settings in C(ansible.cfg). Options for all servers belong
        in C(ansible_ssh_common_args).
      - The variables are for the connection plugin P(ansible.builtin.ssh#connection).
    type: bool
    default: false
  stale_cache_timeout:
    description:
      - The number of seconds beyond O(cache_timeout) during which the last good listing can be used
        while the API is unreachable, throttles requests or fails. A warning contains its age.
      - It is never used after HTTP 401 or 403, or a malformed response.
      - Requires O(cache=true), and another O(cache_timeout) than V(0).
    type: int
    default: 0
"""

EXAMPLES = r"""
---
# Each example is a file whose name ends with server_management.yml. In this one, the
# environment has the rest: SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN_FILE.
plugin: server_management.cloud.servers

---
# A Jinja template can read the token from a vault, a variable or a command.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token: "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"

---
# Only the running servers of two regions, grouped by plan. With strict, a region or
# status that no server has is an error.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
statuses: [running]
regions: [eu-1, eu-2]
strict: true
group: production
group_by: [plan]

---
# Your own variables and groups. The last groups are for names without their numbers.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
compose:
  ansible_user: "'admin'"
  ansible_port: 2222
  rack: server_management_region ~ '/' ~ server_management_plan
groups:
  webservers: inventory_hostname.startswith('web')
keyed_groups:
  - key: server_management_name | regex_replace('-[0-9]+$', '')
    prefix: role

---
# Keep the server test-keep, and leave out other test servers and all that are not running.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
filters:
  - include: server_management_name == 'test-keep'
  - exclude: server_management_name.startswith('test')
  - exclude: server_management_status != 'running'

---
# Keep only the web servers.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
filters:
  - include: server_management_name.startswith('web')
  - exclude: true

---
# Remember SSH host keys per server, since addresses are reused.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
host_key_alias: true

---
# Host names with the region. Names that are not unique get the server's id.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
hostnames:
  - server_management_name ~ '.' ~ server_management_region

---
# Cache the listing for ten minutes. Use an old one for up to a day while the API
# is down.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/server_management
cache_timeout: 600
stale_cache_timeout: 86400

---
# An account with more servers than one response has. An empty account is an error.
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
pagination: last_id
pagination_parameter: starting_after
min_servers: 1
"""

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible import context
from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.release import __version__ as ansible_version

from ..module_utils._errors import CloudError, OptionError
from ..module_utils._models import Listing, Server, check_min_servers
from ..module_utils._options import Connection, Options, connection_from
from ..module_utils._selection import (
    describe_values,
    explain,
    explain_unknown,
    select,
    wanted_values,
)
from ..module_utils._text import count_of, redact, summarise
from ..module_utils._url import is_loopback
from ..plugin_utils._ansible import variable_files
from ..plugin_utils._config import (
    PLUGIN,
    accepts_file,
    check_options,
    check_token_file,
    load_content,
    read_written,
    resolve_written,
    shown_path,
)
from ..plugin_utils._config_expressions import EXPRESSION_OPTIONS
from ..plugin_utils._groups import (
    group_hosts,
    leave_out_groups,
    reserved_names,
    safe_group_name,
)
from ..plugin_utils._hosts import (
    Host,
    hosts_from,
    set_host_key_aliases,
    variable_names,
    warn_of_faults,
)
from ..plugin_utils._inventory import add_hosts, obstacle
from ..plugin_utils._names import KEYED_GROUPS, VARIABLE_FILES, NameRules, Naming, assign_names

if TYPE_CHECKING:
    from ..plugin_utils._expressions import Expressions

# Verbosities: -vv shows requests, retries and decisions of the cache.
_DETAILS = 2
_EACH_SERVER = 3


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """The way of a source: read its options, list the servers, select, name, compose, and add.

    Ansible calls ``verify_file`` and ``parse``; the steps follow in their order.
    """

    NAME = PLUGIN

    def verify_file(self, path: str) -> bool:
        """Accept files with the name of a source file."""
        is_file: bool = super().verify_file(path) and os.path.isfile(path)
        return is_file and accepts_file(path, self.display.warning)

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        self._shown_path = shown_path(path)
        self._token = ""  # for redaction, until the file or the connection gives it
        self._expressions: Expressions | None = None  # those of the file, if it has any
        self._excluding: dict[str, str] = {}  # the filter that excludes a server, by its id
        try:
            options = self._read_config_data(path)
            connection = connection_from(options, ansible_version)
            self._token = connection.api_token
            self._add_servers(connection, cache)
        except CloudError as error:
            # With the cause, Ansible would print its message, too, in which the token may be.
            raise AnsibleParserError(self._line(str(error))) from None

    def _read_config_data(self, path: str) -> Options:
        """Read, check and set the options of the file; return those of the connection.

        Ansible's method fails with an AttributeError if the file is a list, and loads the cache
        plugin, without an explanation of its errors.
        """
        definitions = self.option_definitions
        content = load_content(self.loader, path)
        written = read_written(content, definitions, self.templar, self._vars or {})
        self._token = str(written.get("api_token") or "").strip()
        options = resolve_written(written, definitions, os.path.dirname(os.path.abspath(path)))
        # Ansible resolves each option that is not given here. For those of the connection, it would
        # fail at an empty variable.
        self.set_options(var_options=self._vars, direct=options.values)
        check_options(self.get_option, options)
        return options

    def _add_servers(self, connection: Connection, use_cache: bool) -> None:
        """Prepare all hosts and groups, then add them; adding can't fail."""
        get_option = self.get_option
        inventory = self.inventory
        self._show(f"token: {connection.token_label}", _DETAILS)
        if connection.token_path:
            check_token_file(connection, context.CLIARGS.get("inventory") or (), self._warn)
        # Before anything is requested: a group of the file may have a name that it can't have.
        groups, prefixes = reserved_names(get_option, inventory, self._warn)
        listing = self._list(connection, use_cache)
        hosts = self._select(listing, connection)
        group_hosts(hosts, safe_group_name(get_option("group")), get_option("group_by"))
        addresses = {host.server.id: host.address for host in hosts}
        obstacle_to = partial(obstacle, inventory.hosts, connection.root_url, addresses)
        files = (*VARIABLE_FILES, *variable_files())
        rules = NameRules(groups, prefixes, inventory.hosts, obstacle_to, files)
        naming = self._name_and_compose(hosts, rules)
        self._report_hosts(listing, hosts, naming)
        self._add(hosts, connection.root_url)

    def _list(self, connection: Connection, use_cache: bool) -> Listing:
        """Return all servers of the account, from a fresh cache entry if that is allowed.

        A listing with too few servers is neither used nor cached.
        """
        fetch = partial(self._fetch, connection)
        entry = None
        if self.get_option("cache"):
            from ..plugin_utils._cache import open_entry

            entry = open_entry(
                self, connection, self._warn, partial(self._show, verbosity=_DETAILS)
            )
        listing = entry.listing(fetch, use_cache) if entry else fetch()
        check_min_servers(listing.servers, self.get_option("min_servers"))
        if entry:
            entry.store(listing)
        return listing

    def _fetch(self, connection: Connection) -> Listing:
        from ..module_utils._client import Client

        client = Client(connection, self._report)
        started = time.monotonic()
        servers = client.list_servers()
        seconds = time.monotonic() - started
        requests = count_of(client.requests, "request")
        how_read = f"from {connection.root_url} in {seconds:.1f} s ({requests})"
        return Listing(servers, how_read, client.is_partial)

    def _select(self, listing: Listing, connection: Connection) -> list[Host]:
        """Return a host, without name and groups, for each server that the options keep."""
        account = listing.servers
        count = count_of(len(account), "server")
        wanted = wanted_values(self.get_option)
        unknown = explain_unknown(account, wanted)
        if unknown and self.get_option("strict"):
            raise OptionError(unknown[0])
        servers = select(account, wanted)
        if wanted:
            report = self._show if servers else self._warn
            for message in explain(account, wanted):
                report(message)
        fields = variable_names(servers, self.get_option("hostvars_prefix"), self._show)
        hosts = hosts_from(servers, fields, is_loopback(connection.base_url))
        if any(map(self.get_option, EXPRESSION_OPTIONS)):
            # Only if needed: Ansible compiles collections at each start.
            from ..plugin_utils._expressions import Expressions

            self._expressions = Expressions(self.get_option, self.templar, self._vars, fields)
            for host in hosts:
                excluding = self._expressions.excluding_filter(host)
                if excluding:
                    self._excluding[host.server.id] = excluding
            hosts = [host for host in hosts if host.server.id not in self._excluding]
            if servers and not hosts:
                values = describe_values(account, self._expressions.filtered_fields())
                found = "; ".join([count, *values])
                self._warn(f"filters: no host is left; the account has {found}; -vvv shows why.")
        kept = count_of(len(hosts), "host")
        self._show(f"{count} {listing.how_read}; {kept}")
        least = self.get_option("min_hosts")
        if len(hosts) < least:
            raise OptionError(
                f"min_hosts: {least} or more expected, but {count} of the account gave {kept}.",
                "Check filters and the options that select servers.",
            )
        return hosts

    def _name_and_compose(self, hosts: list[Host], rules: NameRules) -> Naming:
        """Name the hosts, sort them, and add what the expressions of the file, if any, give.

        Expressions depend on the names of hosts, and can make groups with these names. Such an
        attempt is thrown away, and the next one takes these names for groups. For example, the
        server web is in the group web of keyed_groups, so it becomes the host web_srv_1. Other
        names can make other groups, so the number of attempts is limited.
        """
        expressions = self._expressions
        servers = [host.server for host in hosts]
        preferences = {}
        if expressions and self.get_option("hostnames"):
            preferences = {host.server.id: expressions.preferences(host) for host in hosts}
        for _attempt in range(3):
            naming = assign_names(servers, rules, preferences)
            for host in hosts:
                host.name = naming.names[host.server.id]
            hosts.sort(key=lambda host: host.name)
            if expressions is None:
                return naming
            composition = expressions.compose(hosts, self.inventory)
            # A group with the name of another source's host is left out later.
            clashing = composition.groups.intersection(naming.names.values()) - set(rules.hosts)
            if not clashing:
                expressions.apply(composition)
                return naming
            groups = {**dict.fromkeys(composition.groups, KEYED_GROUPS), **rules.groups}
            rules = rules._replace(groups=groups)
        raise OptionError(
            f"keyed_groups: creates groups with the names of hosts: {summarise(clashing)}.",
            "Change prefix or parent_group, which renames the groups.",
        )

    def _report_hosts(self, listing: Listing, hosts: list[Host], naming: Naming) -> None:
        """Report what has become of the servers, and what is wrong with their hosts."""
        if self.display.verbosity >= _EACH_SERVER:
            self._show_servers(listing.servers, naming)
        if self._expressions:
            self._expressions.report(self._warn)
        for problem in naming.explain_renamed(host.server for host in hosts):
            self._complain(f"hostnames: {problem}")
        warn_of_faults(hosts, self._warn)

    def _show_servers(self, account: list[Server], naming: Naming) -> None:
        """Show what each server has become, and why, or what has left it out."""
        for server in sorted(account, key=lambda server: server.label):
            if server.id in naming.names:
                line = f"{server.label} is {naming.names[server.id]}"
            else:
                line = f"{server.label} is left out by {self._leaves_out(server)}"
            if server.id in naming.reasons:
                line += f", because {naming.reasons[server.id]}"
            self._show(line, _EACH_SERVER)

    def _leaves_out(self, server: Server) -> str:
        """Return the first option that does not select a server, or the filter that excludes it."""
        for option, values in wanted_values(self.get_option).items():
            if not select([server], {option: values}):
                return option
        return self._excluding[server.id]

    def _add(self, hosts: list[Host], root_url: str) -> None:
        """Add the hosts and their groups."""
        if self.get_option("host_key_alias"):
            set_host_key_aliases(hosts, root_url)
        inventory = self.inventory
        parents = self._expressions.composition.tree.added if self._expressions else ()
        kept_parents = leave_out_groups(hosts, parents, inventory.hosts, self._complain)
        merged = add_hosts(inventory, hosts, kept_parents, root_url)
        inventory.add_group(safe_group_name(self.get_option("group")))  # also without hosts
        if merged:
            count = count_of(len(merged), "host")
            self._show(f"merged with {count} of other sources: {summarise(merged)}")

    def _complain(self, problem: str) -> None:
        """Warn of a problem that is an error with strict."""
        if self.get_option("strict"):
            raise OptionError(problem)
        self._warn(problem)

    def _warn(self, text: str) -> None:
        self.display.warning(self._line(text))

    def _report(self, level: str, text: str) -> None:
        """Show what the client does."""
        if level == "warning":
            self._warn(text)
        else:
            self._show(text, _DETAILS if level == "trace" else 0)

    def _show(self, text: str, verbosity: int = 1) -> None:
        """Show a line at this verbosity, always on standard error."""
        if self.display.verbosity >= verbosity:
            self.display.display(self._line(text), stderr=True)

    def _line(self, text: str) -> str:
        return f"{self._shown_path}: {redact(text, self._token)}"
