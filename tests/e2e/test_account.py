# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory of a known account is, and what each option makes of it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import Sandbox
from support.run import Result, Runner, write_inventory

from .conftest import KNOWN, Source, failures, hosts, members


def test_the_whole_inventory_of_a_known_account(source: Source) -> None:
    listing = source.list()
    hostvars = listing.pop("_meta")["hostvars"]
    assert hostvars == {
        server["name"]: {
            "ansible_host": server["ipv4"],
            **{f"server_{key}": value for key, value in server.items()},
        }
        for server in KNOWN
    }
    groups = {name: group["hosts"] for name, group in listing.items() if name != "all"}
    assert groups == {
        "server_management": ["db-1", "web-1", "web-2"],
        "region_eu_1": ["db-1", "web-1"],
        "region_eu_2": ["web-2"],
        "plan_small": ["web-1", "web-2"],
        "plan_large": ["db-1"],
        "status_running": ["db-1", "web-1"],
        "status_stopped": ["web-2"],
    }
    assert set(listing["all"]["children"]) == {"ungrouped", *groups}


@pytest.mark.promise("stable")
def test_the_order_of_the_response_does_not_matter(source: Source) -> None:
    source.sandbox.servers.append({**KNOWN[0], "id": "srv_9", "ipv4": "203.0.113.9"})
    options: dict[str, Any] = {"keyed_groups": [{"key": "server_plan", "parent_group": "plans"}]}
    first = source.run(**options)
    random.Random(1).shuffle(source.sandbox.servers)
    second = source.run(**options)
    assert first.stdout == second.stdout
    assert hosts(first.json()) == ["db-1", "web-1_srv_1", "web-1_srv_9", "web-2"]
    assert first.says("2 servers share a name")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"group": "my fleet"}, {"my_fleet": ["db-1", "web-1", "web-2"]}),
        ({"group_by": ["plan"]}, {"region_eu_1": [], "plan_large": ["db-1"]}),
        ({"group_by": []}, {"region_eu_1": [], "server_management": ["db-1", "web-1", "web-2"]}),
        ({"statuses": ["stopped"]}, {"server_management": ["web-2"]}),
        ({"regions": ["eu-1"], "plans": ["small"]}, {"server_management": ["web-1"]}),
        (
            {
                "filters": [
                    {"include": "server_name == 'web-2'"},
                    {"exclude": "'web' in server_name"},
                ]
            },
            {"server_management": ["db-1", "web-2"]},
        ),
        ({"hostnames": ["server_nope", "server_name ~ '.x'"]}, {"plan_large": ["db-1.x"]}),
        (
            {"hostnames": ["server_region", "server_name"]},
            {"server_management": ["db-1", "eu-2", "web-1"]},
        ),
        (
            {"groups": {"web": "inventory_hostname.startswith('web')", "no": False}},
            {"web": ["web-1", "web-2"], "no": []},
        ),
        (
            {"keyed_groups": [{"key": "server_region", "prefix": "in", "parent_group": "europe"}]},
            {"in_eu_1": ["db-1", "web-1"]},
        ),
        (
            {"keyed_groups": [{"key": "server_plan"}], "leading_separator": False},
            {"large": ["db-1"]},
        ),
        ({"min_servers": 3}, {"plan_large": ["db-1"]}),
    ],
    ids=str,
)
def test_an_option_chooses_names_or_groups(
    source: Source, options: dict[str, Any], expected: dict[str, list[str]]
) -> None:
    listing = source.list(**options)
    assert {group: members(listing, group) for group in expected} == expected


def test_variables(source: Source) -> None:
    listing = source.list(
        "-e",
        "domain=example.com",
        hostvars_prefix="vm_",
        use_extra_vars=True,
        compose={
            "ansible_port": 2222,
            "ansible_user": "'admin'",
            "fqdn": "vm_name ~ '.' ~ domain",
            "ansible_host": "vm_name",
        },
        groups={"ours": "domain == 'example.com' and fqdn is defined"},
    )
    found = listing["_meta"]["hostvars"]["web-1"]
    assert found.pop("domain", "example.com") == "example.com"
    assert found == {
        "ansible_host": "web-1",
        "ansible_port": 2222,
        "ansible_user": "admin",
        "fqdn": "web-1.example.com",
        **{f"vm_{key}": value for key, value in KNOWN[0].items()},
    }
    assert members(listing, "ours") == ["db-1", "web-1", "web-2"]


@pytest.mark.promise("silent")
def test_a_failing_expression_is_one_warning_or_with_strict_an_error(source: Source) -> None:
    options: dict[str, Any] = {
        "compose": {"a": "server_nope"},
        "groups": {"b": "server_nope == 1"},
        "keyed_groups": [{"key": "server_nope"}],
    }
    result = source.run(**options).ok()
    for label in ("compose: a", "groups: b", "keyed_groups: server_nope"):
        assert result.says(f"{label}: failed for 3 of 3 hosts")
    assert hosts(result.json()) == ["db-1", "web-1", "web-2"]
    for name, value in options.items():
        source.refused("'server_nope' is undefined", strict=True, **{name: value})
    source.refused("filters: exclude: server_nope: failed", filters=[{"exclude": "server_nope"}])


@pytest.mark.promise("silent")
def test_values_that_share_a_group_and_changed_names_cause_warnings(source: Source) -> None:
    source.sandbox.servers[1].update(region="eu_1", name="w b")
    result = source.run().ok()
    assert result.says("Several values become the group region_eu_1: region eu-1, region eu_1")
    assert result.says("1 server name has characters that a host name can't have")
    source.refused("hostnames: 1 server name has characters", strict=True)


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"regoins": ["eu-1"]}, "regoins: there is no such option. Did you mean regions?"),
    ({"base_url": "ftp://x"}, "base_url: is not an http or https URL with a host."),
    ({"base_url": "http://u:p@x"}, "base_url: must not contain a user or a password."),
    ({"base_url": "http://x?y"}, "base_url: must not contain a query or a fragment."),
    ({"base_url": None}, "SERVER_MANAGEMENT_BASE_URL"),
    ({"api_token": None}, "SERVER_MANAGEMENT_API_TOKEN"),
    ({"api_token": "a b"}, "api_token: the token must be visible ASCII without spaces."),
    ({"api_token": None, "api_token_file": "/nowhere/t"}, "api_token_file: /nowhere/t"),
    ({"ca_path": "/nowhere/ca.pem"}, "ca_path: /nowhere/ca.pem"),
    ({"timeout": 0}, "timeout: must be"),
    ({"timeout": "soon"}, "timeout: must be a number, but is soon."),
    ({"retries": -1}, "retries: must be"),
    ({"retries": 1.5}, "retries: must be a whole number, but is 1.5."),
    ({"pagination": "guess"}, "pagination: must be one of none, link, cursor, page, offset, "),
    ({"validate_certs": "maybe"}, "validate_certs: must be true or false."),
    ({"group": ""}, "group: must not be empty."),
    ({"group_by": ["name"]}, "group_by: must be one of region, plan, status, but is name."),
    ({"hostvars_prefix": "ansible_"}, "hostvars_prefix: 'ansible_' does not make usable"),
    ({"hostvars_prefix": "my-"}, "hostvars_prefix: 'my-' does not make usable"),
    ({"statuses": []}, "statuses: the list is empty."),
    ({"filters": [{"include": "x", "exclude": "y"}]}, "filters: each entry must have one key"),
    ({"keyed_groups": [{"prefix": "x"}]}, "keyed_groups: each entry must be a mapping"),
    ({"min_servers": 4}, "min_servers: 4 or more expected, but the account has 3."),
    ({"min_servers": -1}, "min_servers: must be 0 or more."),
    ({"stale_cache_timeout": 60}, "stale_cache_timeout: requires cache: true."),
    ({"group": "{{ nope }}"}, "group: "),
    (
        {"keyed_groups": [{"key": "server_plan", "parent_group": "_small"}]},
        "keyed_groups: the group _small would be inside itself.",
    ),
    (
        {
            "hostnames": ["server_id"],
            "keyed_groups": [{"key": "inventory_hostname", "separator": ""}],
        },
        "keyed_groups: creates groups with the names of hosts",
    ),
    ({"statuses": ["running", ""]}, "statuses: has an empty value."),
    ({"regions": "{{ nothing | default('') }}"}, "regions: has an empty value."),
    (
        {"regions": [False]},
        "regions: must be a list of text values. Put each value in quotes.",
    ),
    ({"hostnames": []}, "hostnames: must not be empty"),
    ({"filters": [{"exclude": None}]}, "filters: exclude: must be a condition that is not empty."),
    ({"filters": [{"include": ""}]}, "filters: include: must be a condition that is not empty."),
    (
        {"filters": [{"exclude": "server_name =="}]},
        "filters: exclude: server_name ==: syntax error: ",
    ),
    ({"compose": {"bad-key": "server_id"}}, "compose: bad-key can't be the name of a variable."),
    ({"compose": ["x"]}, "compose: must be a mapping."),
    ({"keyed_groups": "x"}, "keyed_groups: must be a list."),
    ({"group": "localhost"}, "group: localhost is a name of this machine"),
    *(
        (
            {"keyed_groups": [{"key": f"'{name}'", "separator": "", "parent_group": "up"}]},
            f"keyed_groups: the group {name} can't be inside another group.",
        )
        for name in ("all", "ungrouped")
    ),
]


@pytest.mark.promise("silent")
@pytest.mark.promise("atomic")
def test_each_bad_option_is_named_and_its_source_adds_nothing(source: Source) -> None:
    paths: list[str | Path] = []
    (source.folder / "static.ini").write_text("static-1\n")
    for number, (options, _text) in enumerate(BAD_OPTIONS):
        paths += ["-i", source.file(f"{number}.server_management.yml", **options)]
    result = source.runner.inventory("-i", source.folder / "static.ini", *paths, "--list")
    listing = result.json()
    assert hosts(listing) == []
    assert members(listing, "ungrouped") == ["static-1"]
    assert [name for name in listing if name not in ("_meta", "all", "ungrouped")] == []
    told = failures(result)
    for number, (_options, text) in enumerate(BAD_OPTIONS):
        assert "".join(text.split()) in told[f"{number}.server_management.yml"], text
    assert "Traceback" not in result.output
    assert source.sandbox.token not in result.output


def refuse_files(source: Source, cases: dict[str, tuple[str, str]], plugin: str) -> Result:
    """Read source files with one plugin; each must fail with a message that has a text.

    ``cases`` has the content and the text for the name of each file.
    """
    paths: list[str | Path] = []
    for name, (content, _text) in cases.items():
        path = source.folder / f"{name}.server_management.yml"
        path.write_text(content)
        paths += ["-i", path]
    enabled = {"ANSIBLE_INVENTORY_ENABLED": plugin}
    result = source.runner.inventory(*paths, "--list", env=enabled)
    messages = failures(result)
    for name, (_content, text) in cases.items():
        assert "".join(text.split()) in messages[f"{name}.server_management.yml"], name
    return result


FILES = {
    "text": "just text\n",
    "list": "- plugin: server_management.cloud.servers\n",
    "number": "5\n",
}


@pytest.mark.promise("silent")
def test_a_file_that_is_not_a_mapping_is_named(source: Source) -> None:
    text = "server_management.yml: must be a mapping of options to values."
    cases = {name: (content, text) for name, content in FILES.items()}
    result = refuse_files(source, cases, "server_management.cloud.servers")
    assert "attribute" not in result.output


@pytest.mark.promise("secret")
def test_no_message_shows_a_token_that_was_written_wrongly(source: Source) -> None:
    start = f"{{plugin: server_management.cloud.servers, base_url: {source.sandbox.url}, "
    cases = {
        "colon": (f"{start}api_token:tok_SECRET}}", "api_token: there is no such option. Put a"),
        "list": (f"{start}api_token: [tok_SECRET]}}", "api_token: must be text, not a"),
        "mapping": (f"{start}api_token: {{tok_SECRET: x}}}}", "api_token: must be text, not a"),
        "number": (f"{start}api_token: 0123456}}", "api_token: YAML reads this value as a number"),
    }
    # Other plugins, which Ansible tries afterwards, show the content of a file.
    result = refuse_files(source, cases, "auto")
    assert "SECRET" not in result.output


@pytest.mark.promise("silent")
def test_a_file_on_one_line_without_white_space_causes_a_warning(source: Source) -> None:
    options = {"plugin": "server_management.cloud.servers", "base_url": source.sandbox.url}
    options |= {"api_token": source.sandbox.token}
    path = source.folder / "one.server_management.yml"
    for separators, is_told in (((",", ":"), True), ((",", ": "), False)):
        path.write_text(json.dumps(options, separators=separators))
        result = source.runner.inventory("-i", path, "--list").ok()
        assert len(hosts(result.json())) == 3
        assert result.says("has a line without white space between its values") == is_told


@pytest.mark.promise("silent")
def test_options_that_match_no_server_cause_a_warning_with_the_known_values(
    source: Source,
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"regions": ["eu-centrla"]},
            "regions: no server has eu-centrla; the account has eu-1 (2), eu-2 (1).",
        ),
        (
            {"statuses": "Running"},
            "statuses: no server has Running; the account has running (2), stopped (1).",
        ),
        (
            {"statuses": ["stopped"], "plans": ["large"]},
            "statuses, plans: no server matches all of these options; the account has "
            "status: running (2), stopped (1); plan: small (2), large (1).",
        ),
    ]
    paths: list[str | Path] = []
    for number, (options, _text) in enumerate(cases):
        paths += ["-i", source.file(f"{number}.server_management.yml", **options)]
    result = source.runner.inventory(*paths, "--list").ok()
    assert hosts(result.json()) == []
    for number, (_options, text) in enumerate(cases):
        assert result.says(f"{number}.server_management.yml: {text}")


@pytest.mark.promise("silent")
def test_a_file_with_another_name_causes_a_warning(source: Source) -> None:
    path = source.file(name="fleet.yml")
    result = source.runner.inventory("-i", path, "--list")
    assert hosts(result.json()) == []
    assert result.says("must end with server_management.yml or server_management.yaml")
    nested = source.folder / "nested.yml"
    nested.write_text("all: {vars: {a: 1}}\nx:\n  plugin: server_management.cloud.servers\n")
    as_json = source.folder / "json.yml"
    as_json.write_text('{\n "api_token": "t",\n "plugin": "server_management.cloud.servers"\n}\n')
    result = source.runner.inventory("-i", nested, "-i", as_json, "--list")
    assert result.says("json.yml: The name of an inventory file for")
    assert not result.says("nested.yml: The name of an inventory file for")
    again = path.rename(path.with_name("prod.server_management.yaml"))
    assert len(hosts(source.runner.inventory("-i", again, "--list").ok().json())) == 3


def test_an_unparsed_source_can_be_made_an_error(source: Source) -> None:
    path = source.file(api_token="wrong")
    strict = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}
    result = source.runner.inventory("-i", path, "--list", env=strict)
    assert result.rc != 0
    assert result.says("The API rejected the token")


def test_every_example_of_the_documentation_works(runner: Runner, tmp_path: Path) -> None:
    name = "server_management.cloud.servers"
    doc = runner.doc("-t", "inventory", "-j", name).ok().json()[name]
    examples = list(yaml.safe_load_all(doc["examples"]))
    assert len(examples) >= 8
    (tmp_path / "token").write_text("sandbox-token\n")
    with Sandbox(servers=KNOWN) as api:
        runner.environment["SERVER_MANAGEMENT_BASE_URL"] = api.url
        runner.environment["SERVER_MANAGEMENT_API_TOKEN"] = api.token
        runner.environment["PROD_API_TOKEN"] = api.token
        for number, options in enumerate(examples):
            if "base_url" in options:
                options["base_url"] = api.url
            if "api_token_file" in options:
                options["api_token_file"] = str(tmp_path / "token")
            if "cache_connection" in options:
                options["cache_connection"] = str(tmp_path / "cache")
            path = write_inventory(tmp_path, options, f"{number}.server_management.yml")
            result = runner.inventory("-i", path, "--list").ok()
            assert result.stderr == ""
            assert hosts(result.json())
