# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _unknown_names
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    SELECTING_OPTIONS,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import RULES

# The options of the inventory plugin that names can mean.
VALID = [
    *RULES,
    *("compose", "filters", "group_by", "groups", "hostnames", "hostvars_prefix", "keyed_groups"),
    *(*SELECTING_OPTIONS, "strict", "min_hosts", "cache_timeout"),
]

UNKNOWN = yaml.safe_load(r"""
- [base-url, 'base-url (did you mean base_url?)']
- [5, '5']
- ["zz\e[1m", '"zz\u001b[1m"']
- ["strict\u200b", '"strict\u200b" (did you mean strict?)']
- ['api_token:sekret', api_token (a colon and a space must follow it)]
- ['api_tokn:sekret', 'api_tokn (did you mean api_token?)']
- [regoins, 'regoins (did you mean regions?)']
- [status, 'status (did you mean statuses?)']
""")


@pytest.mark.parametrize(("key", "shown"), UNKNOWN)
def test_an_unknown_key_is_named_with_the_option_that_it_may_mean(key, shown):
    assert _unknown_names.unknown_name(key, VALID) == shown


# Some options of other plugins. The last rows have no counterpart, or select servers by what the
# API does not have.
OTHERS = yaml.safe_load("""
' (here: api_token)': access_token token_secret
' (here: base_url)': api_endpoint url
' (here: ca_path)': ca_cert tls_ca_cert
' (here: compose)': hostvar_expressions vars
' (here: filters)': api_filters hostfilter include_filters label_selector query vm_query_filters
' (here: filters with exclude)': default_host_filters exclude_host_filters
' (here: groups)': conditional_groups
' (here: hostnames or base_url)': hostname
' (here: hostnames)': hostname_field inventory_hostname
' (here: hostvars_prefix)': facts_prefix vars_prefix
' (here: plans)': types
' (here: regions)': aws_region zones
' (here: statuses)': include_stopped running_only state vm_status_filter
' (here: timeout)': api_timeout request_timeout
' (here: validate_certs)': api_verify_ssl_cert verify_ssl
'': group_names_raw group_vars hostvars_suffix instance_type max_timeout plain_host_names plurals
  proxy_host regions_exclude server session_token use_names user zone
' (the API has no such data, so this file has all servers)': folders network projects
""")


@pytest.mark.parametrize(("hint", "names"), OTHERS.items())
def test_an_option_of_another_plugin_has_its_counterpart_or_none(hint, names):
    for name in names.split():
        assert _unknown_names.unknown_name(name, VALID) == f"{name}{hint}"


def test_an_event_source_selects_no_servers():
    assert _unknown_names.unknown_name("network", RULES) == "network"
    assert _unknown_names.unknown_name("api_key", RULES) == "api_key (here: api_token)"
