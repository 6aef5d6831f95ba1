# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    SELECTING_OPTIONS,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import TOKEN_OPTIONS
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._config import (
    check_options,
    convert_values,
    is_ours,
    read_options,
    render,
    source_label,
)

SECRET = "sekret-t0ken"
ALL_OPTIONS = "`ansible-doc -t inventory server_management.cloud.servers` shows all options."
KNOWN = ["plugin", "base_url", "api_token", "hostnames", "validate_certs", "keyed_groups"]


@pytest.mark.promise("silent")
@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("base-url", "base-url: there is no such option. Did you mean base_url?"),
        ("Base_Url", "Base_Url: there is no such option. Did you mean base_url?"),
        (5, f"5: there is no such option. {ALL_OPTIONS}"),
        ("zz\x1b[1m", f"zz: there is no such option. {ALL_OPTIONS}"),
        # Options of other collections.
        *((key, f"{key}: there is no such option. {ALL_OPTIONS}") for key in ("network", "query")),
        (f"api_token:{SECRET}", "api_token: must be followed by a colon and a space."),
        (f"api_tokn:{SECRET}", "api_tokn: there is no such option. Did you mean api_token?"),
        (f"api_token {SECRET}", "api_token: must be followed by a colon and a space."),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_option(key: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_options({"plugin": "x", key: SECRET}, KNOWN, None, {})
    assert str(caught.value) == message


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that reads an inventory file like an inventory plugin, and renders it."""

    def read(text: str, password: str = "", **extra_vars: Any) -> dict[str, Any]:
        path = tmp_path / "test.server_management.yml"
        path.write_text(text, encoding="utf-8")
        loader = DataLoader()
        if password:
            loader.set_vault_secrets([("default", VaultSecret(password.encode()))])
        trust = {"trusted_as_template": True} if HAS_EXPRESSIONS else {}
        config = loader.load_from_file(str(path), cache="none", **trust)
        return render(config, Templar(loader=loader), extra_vars)

    return read


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ("'{{ token }}'", SECRET),
        ("\"{{ lookup('ansible.builtin.env', 'NO_SUCH_VARIABLE') }}\"", ""),
        ("'{{ none }}'", ""),
        ("5", 5),
        ("[a, '{{ token }}']", ["a", SECRET]),
    ],
)
def test_templates_are_rendered_with_the_extra_vars(
    rendered: Any, template: str, value: Any
) -> None:
    assert rendered(f"timeout: {template}", token=SECRET) == {"timeout": value}


def test_null_is_an_empty_value_only_where_no_default_may_replace_it(rendered: Any) -> None:
    empty = dict.fromkeys((*TOKEN_OPTIONS, *SELECTING_OPTIONS), "")
    absent = dict.fromkeys(("base_url", "ca_path", "timeout", "filters"))
    text = "".join(f"{option}:\n" for option in (*empty, *absent))
    assert rendered(text) == {**empty, **absent}


@pytest.mark.parametrize("option", ["compose", "groups", "keyed_groups", "hostnames", "filters"])
def test_expressions_are_not_rendered(rendered: Any, option: str) -> None:
    assert rendered(f"{option}: ['{{{{ token }}}}', 'a, b']") == {option: ["{{ token }}", "a, b"]}
    assert rendered("hostnames: \"'a, b' | lower\"") == {"hostnames": ["'a, b' | lower"]}


def test_a_template_that_fails_is_named_with_the_reason(rendered: Any) -> None:
    with pytest.raises(OptionError, match=r"^api_token: .*'undefined_one' is undefined"):
        rendered("api_token: '{{ undefined_one }}'")


_VAULT = VaultLib().encrypt(SECRET, VaultSecret(b"password")).decode().splitlines()
VAULTED = "\n  ".join(["!vault |", *_VAULT])


@pytest.mark.promise("secret")
@pytest.mark.parametrize(
    ("value", "password"),
    [
        (f"\"{{{{ '{SECRET}' | no_such_filter }}}}\"", ""),
        (f"\"{{{{ '{SECRET}' + }}}}\"", ""),
        (f"\"{{{{ ('{SECRET}' | length) // 0 }}}}\"", ""),
        (f"\"{{% if '{SECRET}' %}}\"", ""),
        ("\"{{ lookup('ansible.builtin.file', '/nowhere/token') }}\"", ""),
        (VAULTED, ""),
        (VAULTED, "wrong"),
    ],
)
def test_a_value_that_cannot_be_read_names_the_option_and_no_secret(
    rendered: Any, value: str, password: str
) -> None:
    with pytest.raises(OptionError, match=r"^api_token: .") as caught:
        rendered(f"api_token: {value}", password)
    assert SECRET not in str(caught.value)
    assert str(caught.value).isprintable()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


DEFINITIONS = {
    "validate_certs": {"type": "bool"},
    "strict": {"type": "boolean"},
    "timeout": {"type": "float"},
    "retries": {"type": "int"},
    "pagination": {"type": "str", "choices": ["none", "link"]},
    "group_by": {"type": "list", "elements": "str", "choices": ["region", "plan"]},
    "api_token": {"type": "str"},
    "ca_path": {"type": "path"},
    "hostnames": {"type": "list", "elements": "str"},
    "filters": {"type": "list", "elements": "dict"},
    "compose": {"type": "dict"},
    **{option: {"type": "list", "elements": "str"} for option in SELECTING_OPTIONS},
}


FLAG = "must be true or false."
QUOTES = "YAML reads this value as a number, a boolean or a date. Put it in quotes."
TEXTS = "must be a list of text values. Put each value in quotes."
WHOLE, NUMBER = "must be a whole number, but is ", "must be a number, but is "


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("timeout", "0.5", 0.5),
        ("timeout", None, 30.0),
        ("retries", "3.0", 3),
        ("validate_certs", "1.0", True),
        ("strict", "no", False),
        ("pagination", None, None),
        ("group_by", ["region", " plan"], ["region", "plan"]),
        ("group_by", "'region', \"plan\"", ["region", "plan"]),
        ("hostnames", [" x ", 5, True], [" x ", 5, True]),
        ("filters", [{"include": 1}, 5], [{"include": 1}, 5]),
        ("compose", {5: 5}, {5: 5}),
        ("api_token", "0123456", "0123456"),
    ],
)
def test_a_valid_value_is_converted(option: str, value: Any, expected: Any) -> None:
    converted = convert_values({option: value}, DEFINITIONS)[option]
    assert (converted, type(converted)) == (expected, type(expected))


@pytest.mark.promise("silent")
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        *(("strict", value, FLAG) for value in ("maybe", "", 2, [True], 0.5)),
        ("timeout", "soon", NUMBER + "soon."),
        ("timeout", [5], NUMBER + "[5]."),
        ("retries", True, WHOLE + "True."),
        ("retries", "1\x1b[2J\n" * 100, WHOLE + "1 [2J 1 [2J"),
        ("retries", 1.5, WHOLE + "1.5."),
        ("retries", float("inf"), WHOLE + "inf."),
        ("retries", "", WHOLE + "empty."),
        ("pagination", "links", "must be one of none, link, but is links."),
        ("pagination", ["link"], "must be text, not a list or a mapping."),
        ("group_by", ["region", "size"], "must be one of region, plan, but is size."),
        ("group_by", 5, "must be a list."),
        ("group_by", [["region"]], TEXTS),
        ("hostnames", [None], TEXTS),
        ("filters", "x", "must be a list."),
        ("compose", "x", "must be a mapping."),
        ("api_token", [SECRET], "must be text, not a list or a mapping."),
        ("api_token", {SECRET: SECRET}, "must be text, not a list or a mapping."),
        ("api_token", 42798, QUOTES),
        ("ca_path", 5, QUOTES),
    ],
)
def test_an_invalid_value_names_its_option(option: str, value: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        convert_values({option: value}, DEFINITIONS)
    assert str(caught.value).startswith(f"{option}: {message}")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 120


def test_the_environment_is_used_if_the_file_sets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVER_MANAGEMENT_VALIDATE_CERTS", "maybe")
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "soon")
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", " ")

    converted = convert_values({"validate_certs": "no", "timeout": 3}, DEFINITIONS)
    assert converted["retries"] == 3
    with pytest.raises(OptionError, match=rf"^validate_certs \(SERVER_\w+_CERTS\): {FLAG}"):
        convert_values({"timeout": 3}, DEFINITIONS)
    with pytest.raises(OptionError, match=rf"^timeout \(SERVER_\w+_TIMEOUT\): {NUMBER}soon"):
        convert_values({"validate_certs": "no", "timeout": None}, DEFINITIONS)


# The end-to-end tests have the other unusable options.
@pytest.mark.promise("silent")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hostvars_prefix": "ansible_"}, "hostvars_prefix: 'ansible_' does not make usable"),
        ({"hostvars_prefix": "a-"}, "hostvars_prefix: 'a-' does not make usable"),
        ({"group": ""}, "group: must not be empty."),
        ({"min_hosts": -1}, "min_hosts: must be 0 or more."),
        ({"stale_cache_timeout": 5}, "stale_cache_timeout: requires cache: true."),
        ({"hostnames": []}, "hostnames: must not be empty"),
        ({"hostnames": ["x", " "]}, "hostnames: must not be empty"),
        ({"filters": [None]}, "filters: each entry must have one key, include or exclude."),
        ({"filters": [{"inclde": "x"}]}, "filters: each entry must have one key"),
        ({"filters": [{"exclude": " "}]}, "filters: exclude: must be a condition"),
        ({"filters": [{"exclude": ["x"]}]}, "filters: exclude: must be a condition"),
        ({"filters": [{"include": "x"}]}, "filters: an include that no exclude follows has no"),
        (
            {"filters": [{"exclude": "x"}, {"include": "y"}]},
            "filters: an include that no exclude follows has no effect, because servers that match "
            "no condition are kept. To leave out all other servers, end the list with `exclude: "
            "true`.",
        ),
        ({"compose": {5: "x"}}, "compose: 5 can't be the name of a variable."),
        ({"compose": {"class": "x"}}, "compose: class can't be the name of a variable."),
        ({"groups": {"": "x"}}, "groups: a group must have a name."),
        ({"keyed_groups": ["x"]}, "keyed_groups: each entry must be a mapping with a key."),
        ({"keyed_groups": [{"prefix": "x"}]}, "keyed_groups: each entry must be a mapping with a"),
        (
            {"keyed_groups": [{"key": "x", "seperator": ""}]},
            "keyed_groups: seperator: there is no such key. Did you mean separator?",
        ),
    ],
    ids=str,
)
def test_an_unusable_option_is_named(options: dict[str, Any], message: str) -> None:
    usable = {
        "hostvars_prefix": "",
        "group": "x",
        "min_servers": 0,
        "min_hosts": 0,
        "stale_cache_timeout": 0,
        "filters": [{"include": True}, {"exclude": "x"}],
        "compose": {"ansible_host": 5},
    }
    check_options(usable.get)
    with pytest.raises(OptionError) as caught:
        check_options({**usable, **options}.get)
    assert str(caught.value).startswith(message)


@pytest.mark.promise("silent")
def test_a_file_with_another_name_is_not_used_and_named(tmp_path: Path) -> None:
    warnings: list[str] = []
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


@pytest.mark.promise("silent")
def test_a_source_is_named_by_its_path_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "prod" / "server_management.yml")
    monkeypatch.chdir(tmp_path)
    assert source_label(path) == "prod/server_management.yml"
    assert source_label(str(tmp_path / "..a.yml")) == "..a.yml"
    assert source_label(str(tmp_path.parent / "a.yml")) == str(tmp_path.parent / "a.yml")
