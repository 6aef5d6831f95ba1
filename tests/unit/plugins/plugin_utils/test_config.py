# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import load_config
from ansible_collections.server_management.cloud.plugins.plugin_utils._config import (
    check_options,
    check_token_file,
    convert_options,
    is_ours,
    read_options,
    shown_path,
)

PLUGIN = "server_management.cloud.servers"
SECRET = "sekret-t0ken"
TEXTS = {"type": "list", "elements": "str"}
DEFINITIONS = {
    "plugin": {"type": "str"},
    "base_url": {"type": "str"},
    "api_token": {"type": "str"},
    "timeout": {"type": "float"},
    "min_hosts": {"type": "int"},
    "group_by": {**TEXTS, "choices": ["region", "plan"]},
    "statuses": TEXTS,
    "hostnames": TEXTS,
    "filters": {"type": "list", "elements": "dict"},
    "keyed_groups": {"type": "list", "elements": "dict"},
    "compose": {"type": "dict"},
    "groups": {"type": "dict"},
}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "must be a mapping of options to values."),
        ({}, f"plugin: must be {PLUGIN}."),
        ({"plugin": "servers", "network": "x"}, f"plugin: must be {PLUGIN}."),
    ],
)
def test_a_file_that_is_not_ours_is_refused(content, message):
    with pytest.raises(OptionError) as caught:
        read_options(content, DEFINITIONS, None, {})
    assert str(caught.value) == message


ALL_OPTIONS = f"`ansible-doc -t inventory {PLUGIN}` shows all options."


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("base-url", "base-url: there is no such option. Did you mean base_url?"),
        (5, f"5: there is no such option. {ALL_OPTIONS}"),
        ("zz\x1b[1m", f"zz: there is no such option. {ALL_OPTIONS}"),
        (f"api_token:{SECRET}", "api_token: must be followed by a colon and a space."),
        (f"api_tokn:{SECRET}", "api_tokn: there is no such option. Did you mean api_token?"),
        (f"api_token {SECRET}", "api_token: must be followed by a colon and a space."),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_option(key, message):
    with pytest.raises(OptionError) as caught:
        read_options({"plugin": PLUGIN, key: SECRET}, DEFINITIONS, None, {})
    assert str(caught.value) == message


def read(folder, text, **extra_vars):
    """Return the options in the text of an inventory file in a folder."""
    path = folder / "test.server_management.yml"
    path.write_text(f"plugin: {PLUGIN}\n{text}", encoding="utf-8")
    loader = DataLoader()
    content = load_config(loader, str(path))
    options = read_options(content, DEFINITIONS, Templar(loader=loader), extra_vars)
    assert options.pop("plugin") == PLUGIN
    return options


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ("'{{ token }}'", SECRET),
        ("'{{ none }}'", ""),
        ("5", 5),
        ("[a, '{{ token }}']", ["a", SECRET]),
        ("", None),
    ],
)
def test_templates_are_rendered_with_the_extra_vars(tmp_path, template, value):
    assert read(tmp_path, f"timeout: {template}", token=SECRET) == {"timeout": value}


@pytest.mark.parametrize("option", ["compose", "groups", "keyed_groups", "hostnames", "filters"])
def test_expressions_are_not_rendered(tmp_path, option):
    assert read(tmp_path, f"{option}: ['{{{{ token }}}}']") == {option: ["{{ token }}"]}


def test_a_file_is_read_again_after_it_has_changed(tmp_path):
    path = tmp_path / "test.server_management.yml"
    loader = DataLoader()
    path.write_text("timeout: 1")
    load_config(loader, str(path))
    path.write_text("timeout: 2")
    assert load_config(loader, str(path)) == {"timeout": 2}


def test_a_template_that_fails_is_named_with_the_reason(tmp_path):
    with pytest.raises(OptionError, match=r"^api_token: .*'undefined_one' is undefined"):
        read(tmp_path, "api_token: '{{ undefined_one }}'")


_VAULT = VaultLib().encrypt(SECRET, VaultSecret(b"password")).decode().splitlines()
VAULTED = "\n  ".join(["!vault |", *_VAULT])


@pytest.mark.parametrize(
    "value",
    [
        f"\"{{{{ '{SECRET}' | no_such_filter }}}}\"",
        f"\"{{{{ '{SECRET}' + }}}}\"",
        f"\"{{{{ ('{SECRET}' | length) // 0 }}}}\"",
        f"\"{{% if '{SECRET}' %}}\"",
        "\"{{ lookup('ansible.builtin.file', '/nowhere/token') }}\"",
        VAULTED,
    ],
)
def test_a_value_that_cannot_be_read_names_the_option_and_no_secret(tmp_path, value):
    with pytest.raises(OptionError, match=r"^api_token: .") as caught:
        read(tmp_path, f"api_token: {value}")
    assert SECRET not in str(caught.value)
    assert str(caught.value).isprintable()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("min_hosts", "3", 3),
        ("group_by", ["region", " plan"], ["region", "plan"]),
        ("group_by", "'region', \"plan\"", ["region", "plan"]),
        ("hostnames", [" x ", 5, True], [" x ", 5, True]),
        ("hostnames", "'a, b' | lower", ["'a, b' | lower"]),
        ("filters", [{"include": 1}, 5], [{"include": 1}, 5]),
        ("compose", {5: 5}, {5: 5}),
        ("statuses", None, []),
        ("statuses", "", [""]),
    ],
)
def test_a_valid_value_is_converted(option, value, expected):
    assert convert_options({option: value}, DEFINITIONS) == {option: expected}


def test_ansible_finds_the_values_of_options_that_are_null():
    written = dict.fromkeys(("min_hosts", "filters", "group_by"))
    assert convert_options(written, DEFINITIONS) == {}


NOT_TEXTS = "must be a list of text values. Put each value in quotes."


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("min_hosts", "many", "must be a whole number, but is many."),
        ("group_by", ["region", "size"], "must be one of region, plan, but is size."),
        ("group_by", 5, "must be a list."),
        ("statuses", [5], NOT_TEXTS),
        ("hostnames", [None], NOT_TEXTS),
        ("filters", "x", "must be a list."),
        ("compose", "x", "must be a mapping."),
    ],
)
def test_an_invalid_value_names_its_option(option, value, problem):
    with pytest.raises(OptionError) as caught:
        convert_options({option: value}, DEFINITIONS)
    assert str(caught.value) == f"{option}: {problem}"


USABLE = {
    "hostvars_prefix": "",
    "group": "x",
    "min_servers": 0,
    "min_hosts": 0,
    "cache": False,
    "cache_timeout": 0,
    "stale_cache_timeout": 0,
    "statuses": [" running "],
    "filters": [{"include": True}, {"exclude": "x"}],
    "compose": {"ansible_host": 5},
}
NO_PREFIX = "does not make usable variable names. Use letters"
NO_ENTRY = "filters: each entry must have one key, include or exclude."
NO_CONDITION = "filters: exclude: must be a condition that is not empty."
NO_EFFECT = (
    "filters: an include that no exclude follows has no effect, because servers that match no "
    "condition are kept. To leave out all other servers, end the list with `exclude: true`."
)
NO_NAME = "hostnames: must not be empty or contain an empty expression."
NO_KEY = "keyed_groups: each entry must be a mapping with a key."


def test_usable_options_are_accepted():
    check_options(USABLE.get, [])


# The end-to-end tests have the other unusable options.
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("hostvars_prefix", "ansible_", f"hostvars_prefix: 'ansible_' {NO_PREFIX}"),
        ("hostvars_prefix", "a-", f"hostvars_prefix: 'a-' {NO_PREFIX}"),
        ("group", "", "group: must not be empty."),
        ("min_servers", -1, "min_servers: must be 0 or more."),
        ("min_hosts", -1, "min_hosts: must be 0 or more."),
        ("stale_cache_timeout", -1, "stale_cache_timeout: must be 0 or more."),
        ("stale_cache_timeout", 5, "stale_cache_timeout: requires cache: true."),
        ("statuses", [], "statuses: the list is empty. Leave the option out to keep all."),
        ("regions", ["eu", " "], "regions: has an empty value."),
        ("hostnames", [], NO_NAME),
        ("hostnames", ["x", " "], NO_NAME),
        ("filters", [None], NO_ENTRY),
        ("filters", [{"inclde": "x"}], NO_ENTRY),
        ("filters", [{"exclude": "x", "include": "x"}], NO_ENTRY),
        ("filters", [{"exclude": " "}], NO_CONDITION),
        ("filters", [{"exclude": ["x"]}], NO_CONDITION),
        ("filters", [{"exclude": "x"}, {"include": "y"}], NO_EFFECT),
        ("compose", {5: "x"}, "compose: 5 can't be the name of a variable."),
        ("compose", {"class": "x"}, "compose: class can't be the name of a variable."),
        ("groups", {"": "x"}, "groups: a group must have a name."),
        ("keyed_groups", ["x"], NO_KEY),
        ("keyed_groups", [{"prefix": "x"}], NO_KEY),
        (
            "keyed_groups",
            [{"key": "x", "default_value": "y", "trailing_separator": False}],
            "keyed_groups: default_value and trailing_separator exclude each other.",
        ),
        (
            "keyed_groups",
            [{"key": "x", "seperator": ""}],
            "keyed_groups: seperator: there is no such key. Did you mean separator?",
        ),
    ],
    ids=str,
)
def test_an_unusable_option_is_named(option, value, message):
    with pytest.raises(OptionError) as caught:
        check_options({**USABLE, option: value}.get, [])
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("timeout", "stale", "written", "message"),
    [
        (0, 9, [], "cache_timeout: with 0, an entry of the cache never expires, so"),
        (0, 0, [], "cache_timeout: is 0 in ansible.cfg or in the environment, so that an entry"),
        (-1, 0, ["cache_timeout"], "cache_timeout: must be 0 or more."),
    ],
)
def test_a_cache_that_never_expires_must_be_written_in_the_file_alone(
    timeout, stale, written, message
):
    options = {**USABLE, "cache": True, "cache_timeout": timeout, "stale_cache_timeout": stale}
    with pytest.raises(OptionError) as caught:
        check_options(options.get, written)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("timeout", "stale", "written"), [(0, 0, ["cache_timeout"]), (1, 9, [])])
def test_a_cache_that_expires_or_is_said_not_to_is_accepted(timeout, stale, written):
    options = {**USABLE, "cache": True, "cache_timeout": timeout, "stale_cache_timeout": stale}
    check_options(options.get, written)


@pytest.mark.parametrize("place", ["inventory/token", "linked/token"])
def test_a_link_to_a_token_in_an_inventory_directory_is_reported(place, tmp_path):
    (tmp_path / "inventory").mkdir()
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "inventory" / "token").symlink_to(tmp_path / "token")
    (tmp_path / "linked").symlink_to(tmp_path / "inventory")
    path = str(tmp_path / place)
    warnings = []
    connection = Connection("https://h/api/v1", SECRET, "api_token_file", path)
    check_token_file(connection, [str(tmp_path / "inventory")], warnings.append)
    (warning,) = warnings
    assert warning.startswith(f"api_token_file ({path}): Ansible reads each file of an inventory")


def test_a_file_with_another_name_is_not_used_and_named(tmp_path):
    warnings = []
    path = tmp_path / "fleet.yml"
    # The key need not be at the beginning.
    path.write_text("# A comment\n" * 100 + "plugin: server_management.cloud.servers\n")
    assert is_ours(str(path), warnings.append) is False
    path.write_text("plugin: amazon.aws.aws_ec2\n")
    assert is_ours(str(path), warnings.append) is False
    assert is_ours(str(tmp_path / "prod.server_management.yml"), warnings.append)
    (warning,) = warnings
    assert "fleet.yml: The name of an inventory file for" in warning
    assert "server_management.yml or server_management.yaml; the file is not used." in warning


def test_a_source_is_named_by_its_path_from_the_working_directory(tmp_path, monkeypatch):
    path = str(tmp_path / "prod" / "server_management.yml")
    monkeypatch.chdir(tmp_path)
    assert shown_path(path) == "prod/server_management.yml"
    assert shown_path(str(tmp_path / "..a.yml")) == "..a.yml"
    assert shown_path(str(tmp_path.parent / "a.yml")) == str(tmp_path.parent / "a.yml")
