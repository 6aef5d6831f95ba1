# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import itertools
import os
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.parsing import vault
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.plugins.loader import inventory_loader
from ansible.template import Templar
from yaml import Mark, MarkedYAMLError

from ansible_collections.server_management.cloud.plugins.plugin_utils import _config
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import SINCE_2_19
from support.expressions import message_of
from support.modules import connection_to

PLUGIN = "server_management.cloud.servers"
DEFINITIONS = inventory_loader.get(PLUGIN).option_definitions
PASSWORD = VaultSecret(b"password")


def encrypted(text, password=PASSWORD):
    """Return a vault value for the text of a file."""
    ciphertext = VaultLib().encrypt(text, password).decode()
    return "!vault '{}'".format(ciphertext.replace("\n", "\n\n"))


# From ansible-core 2.22 on, Ansible hides what it has decrypted, so tests prove less there.
VALUE = encrypted("correct horse")


REFUSED = yaml.safe_load("""
- [null, must be a mapping of options to values.]
- [{plugin: servers, network: x}, 'plugin: must be server_management.cloud.servers.']
- - plugin: server_management.cloud.servers
    sudo: sekret
    keyed_groups: [{key: x, seperator: '', token: sekret}, {prefx: x}, x]
  - 'sudo, seperator of keyed_groups (did you mean separator?), token of keyed_groups, prefx of
     keyed_groups (did you mean prefix?): there is no such option. Remove or rename each;
     `ansible-doc -t inventory server_management.cloud.servers` shows all options.'
""")


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_a_file_that_is_not_ours_or_has_unknown_keys_is_refused(content, message):
    assert message_of(_config.read_written, content, DEFINITIONS, None, {}) == message


@pytest.fixture
def read_file(tmp_path, monkeypatch):
    """Return a function that returns the options in an inventory file, with the password."""
    path = tmp_path / "test.server_management.yml"
    loader = DataLoader()
    secrets = [("default", PASSWORD)]
    loader.set_vault_secrets(secrets)
    if SINCE_2_19:
        context = vault.VaultSecretsContext(secrets)
        monkeypatch.setattr(vault.VaultSecretsContext, "_current", context)

    def read_file(text, **extra_vars):
        path.write_text(text, encoding="utf-8")
        content = _config.load_content(loader, str(path))
        return _config.read_written(content, DEFINITIONS, Templar(loader=loader), extra_vars)

    return read_file


@pytest.fixture
def read(read_file):
    """Return a function that returns the options in the text of an inventory file."""

    def read(text, **extra_vars):
        return read_file(f"plugin: {PLUGIN}\n{text}", **extra_vars)

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
- ["a: !!bool sekret", 'invalid YAML: ']
- ["a: !!int ''", 'invalid YAML: ']
""")


@pytest.mark.parametrize(("text", "start"), MISTAKES)
def test_a_mistake_in_yaml_has_its_position_and_kind_without_text_of_the_file(
    text, start, tmp_path
):
    path = tmp_path / "test.server_management.yml"
    path.write_text(text)
    message = message_of(_config.load_content, DataLoader(), str(path))
    assert message.startswith(start)
    assert "sekret" not in message


def test_a_value_that_contains_itself_is_refused(read):
    message = message_of(read, "compose: &sekret {a: *sekret}")
    assert message == "a value contains itself. Remove the alias (*) that is inside its anchor."
    assert message_of(read, "api_token: &sekret {a: *sekret}") == message


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
    mark = Mark("", 0, 4, 2, "", 0)
    error.__context__ = MarkedYAMLError(problem=problem, problem_mark=mark)
    message = message_of(_config.load_content, loader, "x")
    assert message.startswith(f"invalid YAML in line 5, column 3: {kind}. ")


# Expressions are not rendered, and only what all hosts share of keyed_groups.
RENDERED = yaml.safe_load(r"""
- ["timeout: '{{ token }}'", {timeout: of extra vars}]
- ["timeout: '{{ none }}'", {timeout: ''}]
- ['timeout: 5', {timeout: 5}]
- ["timeout: [a, '{{ token }}']", {timeout: [a, of extra vars]}]
- ["timeout:\nfilters:\ncompose:", {}]  # Ansible resolves them
- ['api_token:', {api_token: ''}]  # refused later
- ["group_by: \"'region', 'plan'\"", {group_by: [region, plan]}]
- ['statuses:', {statuses: ['']}]  # refused later
- ["compose: ['{{ token }}']", {compose: ['{{ token }}']}]
- ["groups: ['{{ token }}']", {groups: ['{{ token }}']}]
- ["hostnames: ['{{ token }}']", {hostnames: ['{{ token }}']}]
- ["filters: ['{{ token }}']", {filters: ['{{ token }}']}]
- ["keyed_groups: ['{{ token }}', {key: a, prefix: 5}]",
   {keyed_groups: ['{{ token }}', {key: a, prefix: 5}]}]
- - "keyed_groups: [{key: '{{ token }}', prefix: '{{ token }}', separator: '{{ token }}',
     default_value: '{{ token }}', parent_group: '{{ token }}'}]"
  - keyed_groups:
      [{key: '{{ token }}', prefix: of extra vars, separator: of extra vars,
        default_value: of extra vars, parent_group: '{{ token }}'}]
- - 'keyed_groups: [{key: "a\n", prefix: "b \n", separator: "\r\n", parent_group: " c\n"}]'
  - keyed_groups: [{key: "a\n", prefix: 'b ', separator: '', parent_group: c}]
- ['keyed_groups: 5', {keyed_groups: 5}]  # refused later
""")


@pytest.mark.parametrize(("text", "options"), RENDERED)
def test_templates_are_rendered_with_the_extra_vars(read, text, options):
    assert read(text, token="of extra vars") == {"plugin": PLUGIN, **options}


def test_a_file_is_read_again_after_it_has_changed(read):
    read("timeout: 1")
    assert read("timeout: 2") == {"plugin": PLUGIN, "timeout": 2}


UNDEFINED = yaml.safe_load("""
- ["base_url: '{{ undefined_one }}'", "base_url: 'undefined_one' is undefined. Only extra vars can
    be used here."]
- ["api_token: '{{ x }}'", 'here. Write the token as an inline `!vault` value, or use a lookup.']
- ["keyed_groups: [{key: a, prefix: '{{ env }}'}]", "keyed_groups: prefix: 'env' is undefined. "]
""")


@pytest.mark.parametrize(("text", "part"), UNDEFINED)
def test_an_undefined_variable_of_a_template_says_which_variables_there_are(read, text, part):
    assert part in message_of(read, text)


def test_a_template_that_ansible_quotes_is_not_shown():
    content = {"timeout": "{{ 'sekret' | x }}", "plugin": PLUGIN}
    templar = Mock()
    # As before ansible-core 2.19.
    templar.template.side_effect = AnsibleError("no filter. String: {{ 'sekret' | x }}")
    message = message_of(_config.read_written, content, DEFINITIONS, templar, {})
    assert message == "timeout: no filter. String: the template."


UNREADABLE = """
"{{ 'sekret' | no_such_filter }}"
"{{ 'sekret' + }}"
"{{ ('sekret' | length) // 0 }}"
""".strip().split("\n")
UNREADABLE.append(encrypted("sekret", VaultSecret(b"another password")))


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_value_that_cannot_be_read_names_the_option_and_no_secret(read, value):
    message = message_of(read, f"api_token: {value}")
    assert message.startswith("api_token: ")
    assert "sekret" not in message


def test_an_encrypted_name_of_an_option_is_not_shown(read):
    message = message_of(read, f"? {VALUE}\n: x")
    assert message == "the name of an option is encrypted. Write it as it is."


ENTRIES = yaml.safe_load("""
- ['compose: {a: x, ansible_become_password: VALUE}', 'compose: ansible_become_password']
- ['compose: VALUE', compose]
- ['compose: {? VALUE : x, ? VALUE : VALUE}', compose]
- ['groups: {web: [VALUE]}', 'groups: web']
- ['filters: [{exclude: x}, {exclude: VALUE}]', 'filters: 2']
- ['hostnames: [VALUE, VALUE]', 'hostnames: 1']
- ['keyed_groups: [{key: VALUE}]', 'keyed_groups: 1']
- ['keyed_groups: [{key: x}, {key: x, prefix: VALUE}]', 'keyed_groups: 2']
- ['timeout: VALUE', timeout]
- ['regions: [x, VALUE]', 'regions: 2']
""")


def test_expressions_and_options_that_are_shown_must_not_be_encrypted(read):
    for text, entry in ENTRIES:
        assert message_of(read, text.replace("VALUE", VALUE)) == (
            f"{entry}: must not be an encrypted value. Put secrets into a file in group_vars or "
            "host_vars, and write other values as they are."
        )


CONNECTION = "base_url api_token api_token_file ca_path cache_connection"


@pytest.mark.parametrize("option", CONNECTION.split())
def test_options_of_a_connection_can_be_encrypted(read, option):
    assert read(f"{option}: {VALUE}")[option] == "correct horse"


def test_a_file_can_be_encrypted_as_a_whole(read_file):
    text = f"plugin: {PLUGIN}\nregions: [eu-1]\ncompose: {{a: b}}"
    ciphertext = VaultLib().encrypt(text, PASSWORD).decode()
    assert read_file(ciphertext) == read_file(text)


def warnings_about_token(path, folder):
    source = {"token_label": f"api_token_file ({path})", "token_path": path}
    connection = connection_to("https://h", **source)
    warnings = []
    _config.check_token_file(connection, [str(folder)], warnings.append)
    return warnings


@pytest.mark.parametrize("place", [".token", ".secrets/token", "group_vars/token", "../token"])
def test_a_token_that_ansible_does_not_read_as_a_source_is_not_reported(place, tmp_path):
    assert warnings_about_token(f"{tmp_path}/{place}", tmp_path) == []


def test_a_link_to_a_token_in_an_inventory_directory_is_reported(tmp_path):
    folder = tmp_path / "inventory"
    folder.mkdir()
    (folder / "token").symlink_to(tmp_path / "token")
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    for place, source in itertools.product((folder, linked), repeat=2):
        assert warnings_about_token(f"{place}/token", source) == [
            f"api_token_file ({place}/token): Ansible reads each file of an inventory directory, "
            "so the token becomes the name of a host. Move the file, or let its name start with a "
            "dot."
        ]


def test_a_file_with_another_name_is_named_and_not_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The key need not be at the beginning.
    text = "# A comment\n" * 100 + f"plugin: {PLUGIN}\n"
    for name in ("fleet.yml", ".SERVER_MANAGEMENT.YML", "server_management.yml~"):
        Path(name).write_text(text)
        warnings = []
        assert not _config.accepts_file(name, warnings.append)
        assert warnings == [
            f"{name}: The name of an inventory file for {PLUGIN} must end with "
            "server_management.yml or server_management.yaml; the file is not used."
        ]


def test_the_name_decides_whether_a_file_is_used(tmp_path):
    path = tmp_path / "aws.yml"
    path.write_text("plugin: amazon.aws.aws_ec2\n")
    assert not _config.accepts_file(str(path), pytest.fail)  # without a warning
    assert _config.accepts_file("prod.server_management.yaml", pytest.fail)


def test_a_source_is_named_by_its_path_from_the_working_directory(monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: "/inventory")
    assert _config.shown_path("/inventory/prod/a.yml") == "prod/a.yml"
    assert _config.shown_path("/inventory/..a.yml") == "..a.yml"
    assert _config.shown_path("/other/a.yml") == "/other/a.yml"
