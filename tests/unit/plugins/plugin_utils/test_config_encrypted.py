# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Encrypted values in an inventory file: only those of a connection are not refused.

From ansible-core 2.22 on, Ansible hides what it has decrypted, so these tests prove less there.
"""

import pytest
import yaml
from ansible.parsing import vault
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.plugins.loader import inventory_loader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    SINCE_2_19,
    load_config,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._config import read_options

PLUGIN = "server_management.cloud.servers"
DEFINITIONS = inventory_loader.get(PLUGIN).option_definitions
PASSWORD = VaultSecret(b"password")


def encrypted(text):
    return VaultLib().encrypt(text, PASSWORD).decode()


VALUE = "!vault '{}'".format(encrypted("correct horse").replace("\n", "\n\n"))


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads the text of an inventory file with the password."""
    path = tmp_path / "test.server_management.yml"
    loader = DataLoader()
    secrets = [("default", PASSWORD)]
    loader.set_vault_secrets(secrets)
    if SINCE_2_19:
        monkeypatch.setattr(
            vault.VaultSecretsContext, "_current", vault.VaultSecretsContext(secrets)
        )

    def read(text):
        path.write_text(text)
        content = load_config(loader, str(path))
        return read_options(content, DEFINITIONS, Templar(loader=loader), {})

    return read


def refusal(read, text):
    """Return the message about a file with a value that can't be encrypted."""
    with pytest.raises(OptionError) as caught:
        read(f"plugin: {PLUGIN}\n{text}")
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_an_encrypted_name_of_an_option_is_not_shown(read):
    assert refusal(read, f"? {VALUE}\n: x") == (
        "the name of an option is encrypted. Write it as it is."
    )


ENTRIES = yaml.safe_load("""
- ['compose: {a: x, ansible_become_password: VALUE}', 'compose: ansible_become_password']
- ['compose: VALUE', compose]
- ['compose: {? VALUE : x, ? VALUE : VALUE}', compose]
- ['groups: {web: [VALUE]}', 'groups: web']
- ['filters: [{exclude: x}, {exclude: VALUE}]', 'filters: 2']
- ['hostnames: [VALUE, VALUE]', 'hostnames: 1']
- ['keyed_groups: [{key: VALUE}]', 'keyed_groups: 1']
- ['keyed_groups: [{key: x}, {key: x, prefix: VALUE}]', 'keyed_groups: 2']
""")


@pytest.mark.parametrize(("text", "entry"), ENTRIES)
def test_an_encrypted_value_is_not_an_expression(read, text, entry):
    assert refusal(read, text.replace("VALUE", VALUE)) == (
        f"{entry}: an encrypted value is not an expression. Put it into a file in group_vars or "
        "host_vars."
    )


@pytest.mark.parametrize("option", ["timeout", "min_servers", "regions", "group_by", "group"])
def test_options_that_are_shown_must_not_be_encrypted(read, option):
    message = f"{option}: must not be an encrypted value. Write it as it is."
    assert refusal(read, f"{option}: {VALUE}") == message
    assert refusal(read, f"{option}: [{VALUE}]") == message


CONNECTION = "base_url api_token api_token_file ca_path cache_connection"


@pytest.mark.parametrize("option", CONNECTION.split())
def test_options_of_a_connection_can_be_encrypted(read, option):
    options = read(f"plugin: {PLUGIN}\n{option}: {VALUE}")
    assert options[option] == "correct horse"


def test_a_file_can_be_encrypted_as_a_whole(read):
    text = f"plugin: {PLUGIN}\nregions: [eu-1]\ncompose: {{a: b}}"
    assert read(encrypted(text)) == read(text)
