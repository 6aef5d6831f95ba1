# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import os
import textwrap
from unittest.mock import Mock

import pytest
import yaml
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.plugins.loader import inventory_loader
from ansible.template import Templar
from yaml import Mark, MarkedYAMLError

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    RULES,
    Connection,
    unknown_names,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._config import (
    accepts_file,
    check_options,
    check_token_file,
    convert_options,
    load_content,
    read_options,
    shown_path,
)

PLUGIN = "server_management.cloud.servers"
DEFINITIONS = inventory_loader.get(PLUGIN).option_definitions
DEFAULTS = {option: definition.get("default") for option, definition in DEFINITIONS.items()}


def message_of(function, *arguments):
    """Return the message of the error that a function raises."""
    with pytest.raises(OptionError) as caught:
        function(*arguments)
    # Ansible prints the cause of an exception.
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_a_file_that_is_not_ours_is_refused():
    message = message_of(read_options, None, DEFINITIONS, None, {})
    assert message == "must be a mapping of options to values."
    content = {"plugin": "servers", "network": "x"}
    assert message_of(read_options, content, DEFINITIONS, None, {}) == f"plugin: must be {PLUGIN}."


UNKNOWN = yaml.safe_load(r"""
- [[base-url], 'base-url (did you mean base_url?)']
- [[5, "zz\e[1m", base_url], '5, zz']
- [['api_token:sekret'], api_token (a colon and a space must follow it)]
- [['api_tokn:sekret'], 'api_tokn (did you mean api_token?)']
- [[regoins, status], 'regoins (did you mean regions?), status (did you mean statuses?)']
- [[url, token], 'url (here: base_url), token (here: api_token)']
- - [hostname, projects]
  - 'hostname (here: hostnames or base_url), projects (the API has no such data, so this file has
     all servers)'
""")


@pytest.mark.parametrize(("keys", "names"), UNKNOWN)
def test_unknown_keys_are_named_with_the_options_that_they_may_mean(keys, names):
    assert ", ".join(unknown_names(keys, DEFINITIONS)) == names


# Options of other plugins. The last rows have no counterpart, or select servers by what the API
# does not have.
OTHERS = yaml.safe_load("""
' (here: api_token)': access_token api_key auth_token oauth_token private_token token token_secret
' (here: base_url)': api_endpoint api_host api_url endpoint_url host server_url uri url
' (here: ca_path)': ca_cert cacert_path ssl_ca_cert tls_ca_cert
' (here: compose)': hostvar_expressions variables
' (here: filters)': api_filters device_query_filters filter_expressions host_filter host_filters
  hostfilter
  include_filters include_host_filters label_selector label_selectors name_patterns query_filters
  server_filters simple_filters vm_query_filters
' (here: filters with exclude)': default_host_filters exclude_filters exclude_host_filters
' (here: groups)': conditional_groups
' (here: hostnames)': hostname_field inventory_hostname ovirt_hostname_preference
' (here: hostvars_prefix)': facts_prefix var_prefix variable_prefix vars_prefix
' (here: plans)': types
' (here: regions)': aws_region filter_by_zone locations zones
' (here: statuses)': include_stopped running_only running_required state vm_status_filter
' (here: timeout)': api_timeout connection_timeout request_timeout
' (here: validate_certs)': api_verify_ssl_cert tls_verify verify_ssl
'': access_key assume_role_arn attributes auth_kind auth_source cert_validation_mode connect_with
  fail_on_template_errors fetch_all group_prefix group_vars hostvars_suffix include_clusters
  include_metadata instance_type ip_style max_timeout name_suffix password plain_host_names plurals
  profile proxy_host regions_exclude retrieve_image_info scopes secret server service_account_file
  session_token site_data strict_permissions subscription_id tenant token_id use_names user username
  want_facts with_tags zone
' (the API has no such data, so this file has all servers)': folders images
  include_arc_resource_groups include_hcivm_resource_groups
  include_vm_resource_groups include_vmss_resource_groups namespaces network only_clouds project
  projects resources search_paths tags
""")


@pytest.mark.parametrize(("hint", "names"), OTHERS.items())
def test_an_option_of_another_plugin_has_its_counterpart_or_none(hint, names):
    expected = [f"{name}{hint}" for name in names.split()]
    assert unknown_names(names.split(), DEFINITIONS) == expected


def test_an_event_source_selects_no_servers():
    assert unknown_names(["types", "tags", "api_key"], RULES) == [
        "types",
        "tags",
        "api_key (here: api_token)",
    ]


SEVERAL_UNKNOWN = yaml.safe_load("""
plugin: server_management.cloud.servers
sudo: sekret
keyed_groups: [{key: x, seperator: '', token: sekret}, {prefx: x}, x]
""")


def test_one_error_has_all_unknown_keys():
    assert message_of(read_options, SEVERAL_UNKNOWN, DEFINITIONS, None, {}) == (
        "sudo, seperator of keyed_groups (did you mean separator?), token of keyed_groups, "
        "prefx of keyed_groups (did you mean prefix?): there is no such option. "
        f"`ansible-doc -t inventory {PLUGIN}` shows all options."
    )


@pytest.fixture
def read(tmp_path):
    """Return a function that returns the options in the text of an inventory file."""
    path = tmp_path / "test.server_management.yml"
    loader = DataLoader()

    def read(text, **extra_vars):
        path.write_text(f"plugin: {PLUGIN}\n{text}", encoding="utf-8")
        content = load_content(loader, str(path))
        return read_options(content, DEFINITIONS, Templar(loader=loader), extra_vars)

    return read


MISTAKES = yaml.safe_load(r"""
- ["group: 'sekret\n", "invalid YAML in line 2, column 1: found unexpected end of stream. Put text
    with special characters, such as `: ` or `{{`, in quotes."]
- ["a: sekret\n b: {", "invalid YAML in line 2, column 3: mapping values"]
- ["sekret\na: 5", "invalid YAML in line 2, column 2: "]
- ["a: *sekret", "invalid YAML in line 1, column 4: found undefined alias"]
- ["a: !sekret x", "invalid YAML in line 1, column 4: could not determine a constructor for the tag
    …. "]
- ["a: !!int sekret", "invalid YAML: a value can't be read. "]
- ["a: !!bool sekret", "invalid YAML: a value can't be read. "]
- ["a: !!int ''", "invalid YAML: a value can't be read. "]
""")


@pytest.mark.parametrize(("text", "start"), MISTAKES)
def test_a_mistake_in_yaml_has_its_position_and_kind_without_text_of_the_file(
    text, start, tmp_path
):
    path = tmp_path / "test.server_management.yml"
    path.write_text(text)
    message = message_of(load_content, DataLoader(), str(path))
    assert message.startswith(start)
    assert "sekret" not in message


@pytest.mark.parametrize("option", ["compose", "api_token"])
def test_a_value_that_contains_itself_is_refused(read, option):
    message = message_of(read, f"{option}: &sekret {{a: *sekret}}")
    assert message == "a value contains itself. Remove the alias (*) that is inside its anchor."


# From PyYAML without its library in C, and from Ansible.
PROBLEMS = yaml.safe_load(r"""
- ["did not find expected ',' or ']'", "did not find expected ',' or ']'"]
- ["found undefined alias 'sekret'", found undefined alias …]
- ["found duplicate anchor 'it's\n sekret'; first", found duplicate anchor …; first]
- ["Found duplicate mapping key \"it's sekret\".", Found duplicate mapping key ….]
""")


@pytest.mark.parametrize(("problem", "kind"), PROBLEMS)
def test_the_kind_of_a_mistake_quotes_nothing(problem, kind):
    loader = Mock()
    loader.load_from_file.side_effect = error = AnsibleParserError("sekret")
    error.__context__ = MarkedYAMLError(problem=problem, problem_mark=Mark("", 0, 4, 2, "", 0))
    message = message_of(load_content, loader, "x")
    assert message.startswith(f"invalid YAML in line 5, column 3: {kind}. ")


RENDERED = yaml.safe_load("""
- ["'{{ token }}'", of extra vars]
- ["'{{ none }}'", '']
- ['5', 5]
- ["[a, '{{ token }}']", [a, of extra vars]]
- ['', null]
""")


@pytest.mark.parametrize(("template", "value"), RENDERED)
def test_templates_are_rendered_with_the_extra_vars(read, template, value):
    options = read(f"timeout: {template}", token="of extra vars")
    assert options == {"plugin": PLUGIN, "timeout": value}


def test_keyed_groups_that_are_not_a_list_are_refused_later(read):
    assert read("keyed_groups: 5")["keyed_groups"] == 5


@pytest.mark.parametrize("option", ["compose", "groups", "keyed_groups", "hostnames", "filters"])
def test_expressions_are_not_rendered(read, option):
    options = read(option + ": ['{{ token }}']")
    assert options[option] == ["{{ token }}"]


TEXTS = """
keyed_groups:
  - {key: '{{ env }}', prefix: '{{ env }}', separator: '{{ env }}', default_value: '{{ env }}',
     parent_group: '{{ env }}'}
  - {key: a, prefix: 5}
"""
RENDERED_TEXTS = yaml.safe_load("""
- {key: '{{ env }}', prefix: prod, separator: prod, default_value: prod, parent_group: '{{ env }}'}
- {key: a, prefix: 5}
""")


def test_texts_of_keyed_groups_that_all_hosts_share_are_rendered(read):
    assert read(TEXTS, env="prod")["keyed_groups"] == RENDERED_TEXTS


def test_a_file_is_read_again_after_it_has_changed(read):
    read("timeout: 1")
    assert read("timeout: 2") == {"plugin": PLUGIN, "timeout": 2}


UNDEFINED = yaml.safe_load("""
- ["base_url: '{{ undefined_one }}'", "base_url: 'undefined_one' is undefined. Only extra vars can
    be used here."]
- ["api_token: '{{ undefined_one }}'", "api_token: 'undefined_one' is undefined. Only extra vars can
    be used here. Write the token as an inline `!vault` value, or use a lookup."]
- ["keyed_groups: [{key: a, prefix: '{{ env }}'}]", "keyed_groups: prefix: 'env' is undefined. Only
    extra vars can be used here."]
""")


@pytest.mark.parametrize(("text", "message"), UNDEFINED)
def test_an_undefined_variable_of_a_template_says_which_variables_there_are(read, text, message):
    assert message_of(read, text) == message


class QuotingTemplar:
    """Fail as Ansible before 2.19, which quotes the template."""

    def template(self, text):
        raise AnsibleError(f"template error: no filter. String: {text}")


def test_a_template_that_ansible_quotes_is_not_shown():
    content = {"timeout": "{{ 'sekret' | x }}", "plugin": PLUGIN}
    message = message_of(read_options, content, DEFINITIONS, QuotingTemplar(), {})
    assert message == "timeout: template error: no filter. String: the template."


ENCRYPTED = VaultLib().encrypt("sekret", VaultSecret(b"password")).decode()
VAULTED = f"!vault |\n{textwrap.indent(ENCRYPTED, '  ')}"


UNREADABLE = [
    *"""
"{{ 'sekret' | no_such_filter }}"
"{{ 'sekret' + }}"
"{{ ('sekret' | length) // 0 }}"
""".strip().split("\n"),
    VAULTED,
]


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_value_that_cannot_be_read_names_the_option_and_no_secret(read, value):
    message = message_of(read, f"api_token: {value}")
    assert message.startswith("api_token: ")
    assert "sekret" not in message


CONVERTED = yaml.safe_load("""
- [min_hosts, '3', 3]
- [group_by, [region, plan], [region, plan]]
- [group_by, '''region'', "plan"', [region, plan]]
- [hostnames, [' x ', 5], [' x ', 5]]
- [hostnames, "'a, b' | lower", ["'a, b' | lower"]]
- [filters, [include: true, exclude: x], [include: true, exclude: x]]
- [keyed_groups, [{key: x, parent_group: y}], [{key: x, parent_group: y}]]
- [compose, {ansible_host: 5, class: x}, {ansible_host: 5, class: x}]
- [statuses, null, []]
""")


@pytest.mark.parametrize(("option", "value", "expected"), CONVERTED)
def test_a_valid_value_is_converted(option, value, expected):
    assert convert_options({option: value}, DEFINITIONS) == {option: expected}


def test_null_options_are_left_out():
    written = {"min_hosts": None, "filters": None}
    assert convert_options(written, DEFINITIONS) == {}


INVALID = yaml.safe_load("""
- [min_hosts, many, 'must be a whole number, but is many.']
- [group_by, [region, size], 'must be one of region, plan, status, but is size.']
- [group_by, 5, must be a list.]
- [statuses, [5], &not_text 'YAML reads this value as a number, a boolean, a date or null. Put it in
    quotes.']
- [plans, [null], *not_text]
- - filters
  - {status: running}
  - "must be a list. Write entries such as `- exclude: vm_status != 'running'`, or use an option
     such as statuses."
- - keyed_groups
  - {key: x}
  - 'must be a list. Write entries such as `- {key: vm_region, prefix: zone}`.'
- [compose, x, "must be a mapping. Write entries such as `rack: vm_region ~ '-1'`."]
- [groups, [web], "must be a mapping. Write entries such as `small: vm_plan == 'small'`."]
- [hostnames, [], "must not be empty. To use the servers' names, leave it out."]
- - hostnames
  - [x, ' ']
  - 'must be an expression that is not empty. Leave out entries without an expression.'
- - hostnames
  - [{name: x, prefix: y}]
  - "must be an expression, not a mapping. Write entries such as `- vm_id ~ '.example.com'`."
- - filters
  - [null]
  - &entry "each entry must have one key, include or exclude. Write entries such as `- exclude:
     vm_status != 'running'`, or use an option such as statuses."
- [filters, [{inclde: x}], *entry]
- [filters, [{exclude: x, include: x}], *entry]
- - filters
  - "a == 'b'\n"
  - "each entry must have one key, include or exclude. Write a condition that servers must meet as
     `- exclude: not (a == 'b')`, and others without `not`."
- - filters
  - [{exclude: ' '}]
  - 'exclude: must be an expression that is not empty. Leave out entries without an expression.'
- - filters
  - [{exclude: [x]}]
  - "exclude: must be an expression, not a list. Write one condition; join several with `and`
     or `or`."
- - filters
  - [{exclude: x}, {include: y}]
  - "an include that no exclude follows has no effect, because servers that match no condition are
     kept. To leave out all other servers, end the list with `exclude: true`. If all conditions must
     hold, write each as `- exclude: not (…)` instead."
- [compose, {5: x}, 5 can't be the name of a variable.]
- - compose
  - {net: {zone: x}}
  - 'net: must be an expression, not a mapping. Write a text in quotes: "[vm_region]" or
     "{''zone'': vm_region}".'
- - groups
  - {a: [x]}
  - 'a: must be an expression, not a list. Write one condition; join several with `and` or `or`.'
- - groups
  - {a: {children: [b]}}
  - 'a: must be an expression, not a mapping. Use parent_group of keyed_groups, or repeat the
     condition for each group.'
- - compose
  - {c: x, b: null, a: ' '}
  - 'b: must be an expression that is not empty. Leave out entries without an expression.'
- - groups
  - {a: ' '}
  - 'a: must be an expression that is not empty. Leave out entries without an expression.'
- [groups, {'': x}, a group must have a name.]
- - keyed_groups
  - x, y
  - &key 'each entry must be a mapping with a key. Write entries such as `- {key: vm_region, prefix:
     zone}`.'
- [keyed_groups, [{prefix: x}], *key]
- - keyed_groups
  - [{key: x, parent_group: 1}]
  - "parent_group: YAML reads this value as a number, a boolean, a date or null. Put it in quotes."
""")


@pytest.mark.parametrize(("option", "value", "problem"), INVALID)
def test_an_invalid_value_names_its_option(option, value, problem):
    written = {option: value, "hostvars_prefix": "vm_"}
    assert message_of(convert_options, written, DEFINITIONS) == f"{option}: {problem}"


@pytest.mark.parametrize("written", [{}, {"hostvars_prefix": None}])
def test_a_form_has_the_default_prefix_if_there_is_no_other(written):
    written["keyed_groups"] = "x"
    assert "key: server_management_region" in message_of(convert_options, written, DEFINITIONS)


USABLE = {**DEFAULTS, "statuses": [" running "]}


@pytest.mark.parametrize("prefix", ["", "vm_"])
def test_usable_options_are_accepted(prefix):
    check_options({**USABLE, "hostvars_prefix": prefix}.get, [])


UNUSABLE = yaml.safe_load("""
- - hostvars_prefix
  - ansible_
  - "'ansible_' does not make usable variable names. Use letters, digits and underscores, and do
     not start with ansible_."
- - hostvars_prefix
  - a-
  - "'a-' does not make usable variable names. Use letters, digits and underscores, and do not
     start with ansible_."
- [stale_cache_timeout, 5, 'requires cache: true.']
""")


@pytest.mark.parametrize(("option", "value", "problem"), UNUSABLE, ids=str)
def test_an_unusable_option_is_named(option, value, problem):
    options = {**USABLE, option: value}
    assert message_of(check_options, options.get, []) == f"{option}: {problem}"


@pytest.mark.parametrize(("option", "value"), [("group", ""), ("statuses", []), ("plans", [" "])])
def test_an_empty_value_is_an_error(option, value):
    options = {**USABLE, option: value}
    assert message_of(check_options, options.get, []).startswith(f"{option}: must not be empty.")


TIMEOUTS = yaml.safe_load("""
- [0, 9, 'with 0, an entry of the cache never expires, so that stale_cache_timeout has no effect.
     Set cache_timeout to 1 to ask the API at each run, or leave stale_cache_timeout out.']
- [0, 0, 'is 0 in ansible.cfg (there also as fact_caching_timeout) or in the environment, so that an
     entry of the cache never expires. Write cache_timeout in this file: 1 asks the API at each run,
     0 never expires.']
- [-1, 0, must be 0 or more.]
""")


@pytest.mark.parametrize(("timeout", "stale", "problem"), TIMEOUTS)
def test_cache_timeout_0_must_be_in_the_file_and_without_a_stale_cache(timeout, stale, problem):
    options = USABLE | {"cache": True, "cache_timeout": timeout, "stale_cache_timeout": stale}
    assert message_of(check_options, options.get, []) == f"cache_timeout: {problem}"


def test_other_timeouts_of_a_cache_are_accepted():
    options = {**USABLE, "cache": True, "cache_timeout": 0}
    check_options(options.get, ["cache_timeout"])
    options |= {"cache_timeout": 1, "stale_cache_timeout": 9}
    check_options(options.get, [])


def warnings_about_token(path, folder):
    connection = Connection("https://h/api/v1", "sekret", "api_token_file", path)
    warnings = []
    check_token_file(connection, [str(folder)], warnings.append)
    return warnings


@pytest.mark.parametrize("place", [".token", ".secrets/token", "group_vars/token", "../token"])
def test_a_token_that_ansible_does_not_read_as_a_source_is_not_reported(place, tmp_path):
    assert warnings_about_token(f"{tmp_path}/{place}", tmp_path) == []


@pytest.mark.parametrize("source", ["inventory", "linked"])
@pytest.mark.parametrize("place", ["inventory/token", "linked/token"])
def test_a_link_to_a_token_in_an_inventory_directory_is_reported(place, source, tmp_path):
    folder = tmp_path / "inventory"
    folder.mkdir()
    (folder / "token").symlink_to(tmp_path / "token")
    (tmp_path / "linked").symlink_to(folder)
    path = f"{tmp_path}/{place}"
    assert warnings_about_token(path, tmp_path / source) == [
        f"api_token_file ({path}): Ansible reads each file of an inventory directory, so the token "
        "becomes the name of a host. Move the file, or let its name start with a dot."
    ]


@pytest.mark.parametrize("name", ["fleet.yml", ".SERVER_MANAGEMENT.YML", "server_management.yml~"])
def test_a_file_with_another_name_is_named_and_not_used(name, tmp_path):
    path = tmp_path / name
    # The key need not be at the beginning.
    path.write_text("# A comment\n" * 100 + "plugin: server_management.cloud.servers\n")
    warnings = []
    assert not accepts_file(str(path), warnings.append)
    (warning,) = warnings
    assert warning.endswith(
        f"{name}: The name of an inventory file for server_management.cloud.servers must end "
        "with server_management.yml or server_management.yaml; the file is not used."
    )


def test_the_name_decides_whether_a_file_is_used(tmp_path):
    path = tmp_path / "aws.yml"
    path.write_text("plugin: amazon.aws.aws_ec2\n")
    assert not accepts_file(str(path), pytest.fail)  # without a warning
    assert accepts_file("prod.server_management.yaml", pytest.fail)


def test_a_source_is_named_by_its_path_from_the_working_directory(monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: "/inventory")
    assert shown_path("/inventory/prod/server_management.yml") == "prod/server_management.yml"
    assert shown_path("/inventory/..a.yml") == "..a.yml"
    assert shown_path("/other/a.yml") == "/other/a.yml"
