# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names that are not options or fields, and what they may mean; many are from other plugins."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

from ._text import as_word

# The names that these options have in other inventory plugins.
_OTHER_NAMES = {
    "api_token": "access_token api_key auth_token oauth_token private_token token token_secret",
    "base_url": "api_endpoint api_host api_url endpoint_url host server_url uri url",
    "ca_path": "ca_cert cacert_path ssl_ca_cert tls_ca_cert",
    "compose": "hostvar_expressions variables vars",
    "filters": "api_filters device_query_filters filter_expressions host_filter host_filters "
    "hostfilter include_filters include_host_filters label_selector label_selectors name_patterns "
    "ovirt_query_filter query query_filters server_filters simple_filters sysparm_query "
    "vm_query_filters",
    "filters with exclude": "default_host_filters exclude_filters exclude_host_filters",
    "groups": "conditional_groups",
    "hostnames": "hostname_field hostname_format_preferences inventory_hostname "
    "ovirt_hostname_preference",
    "hostnames or base_url": "hostname",  # opennebula; vmware
    "hostvars_prefix": "facts_prefix var_prefix variable_prefix vars_prefix",
    "plans": "instance_types types",
    "regions": "aws_region filter_by_zone locations zones",
    "statuses": "include_stopped running_only running_required state states vm_status_filter",
    "timeout": "api_timeout connection_timeout request_timeout",
    "validate_certs": "api_verify_ssl_cert tls_verify verify_ssl",
}
# Options of other inventory plugins that select servers by what this API does not have.
_NARROWING = (
    "compartments exclude_mgmt_classes exclude_profiles extattrs filter_by_domain filter_by_label "
    "filter_by_project filter_by_vpc folders images include_arc_resource_groups "
    "include_hcivm_resource_groups include_mgmt_classes include_profiles "
    "include_vm_resource_groups include_vmss_resource_groups inventory_id "
    "meraki_org_id namespaces network ome_group_name only_clouds project projects resources "
    "search_base search_paths tags type_filter"
)


def unknown_name(key: object, valid: Collection[str], place: str = "") -> str:
    """Return a name that is not valid, and what it may mean, for a message.

    Only its start is shown: without a space after the colon, a value is part of it. ``place``
    follows the name.
    """
    name = re.split(r"[:=\s]", str(key).strip(), maxsplit=1)[0]
    return f"{as_word(name)}{place}{_hint(name, valid)}"


def _hint(name: str, valid: Collection[str]) -> str:
    """Return what a name may mean, for a message, or an empty text."""
    if name in valid:
        return " (a colon and a space must follow it)"
    for option, names in _OTHER_NAMES.items():
        if name in names.split() and option.split()[0] in valid:
            return f" (here: {option})"
    if name in _NARROWING.split() and "filters" in valid:
        return " (the API has no such data, so this file has all servers)"
    near = nearest(name, valid)
    return f" (did you mean {near}?)" if near else ""


def nearest(name: str, names: Collection[str]) -> str:
    """Return the name that is probably meant by another spelling, or an empty text.

    "regoin" is near to "region"; "tags" is not near to "status", nor "ipv6" to "ipv4".
    """
    return "".join(difflib.get_close_matches(name, names, n=1, cutoff=0.82))
