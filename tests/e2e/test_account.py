# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory of a known account is, and what each option makes of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.run import write_inventory

from .conftest import KNOWN, THREE, Cases, Source, as_arguments, check_refused, hosts, members


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


# The options of a source, and the hosts of some of its groups.
CHOICES: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({"group": "my_fleet"}, {"my_fleet": ["db-1", "web-1", "web-2"]}),
    (
        {"group_by": "{{ 'plan, status'.split(',') }}"},
        {"region_eu_1": [], "plan_large": ["db-1"], "status_stopped": ["web-2"]},
    ),
    ({"group_by": []}, {"region_eu_1": [], "server_management": ["db-1", "web-1", "web-2"]}),
    ({"statuses": ["stopped"]}, {"server_management": ["web-2"]}),
    ({"regions": ["eu-1"], "plans": ["small"]}, {"server_management": ["web-1"]}),
    ({"regions": "{{ 'eu-2, eu-1'.split(',') }}"}, {"server_management": THREE}),
    (
        {"filters": [{"include": "'web-2' in server_name"}, {"exclude": "'web' in server_name"}]},
        {"server_management": ["db-1", "web-2"]},
    ),
    (
        {"hostnames": ["server_nope | default('')", "server_name ~ '.x'"]},
        {"plan_large": ["db-1.x"]},
    ),
    (
        {
            "hostnames": [
                "server_name[:3] ~ server_region if server_region == 'eu-2' else ''",
                "server_name",
            ]
        },
        {"server_management": ["db-1", "eu-2", "web-1"]},
    ),
    (
        {"groups": {"web": "'web' in inventory_hostname", "no": False}},
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
    ({"min_servers": 3, "min_hosts": 3}, {"plan_large": ["db-1"]}),
    ({"regions": ["eu-2"], "min_hosts": 1, "strict": True}, {"server_management": ["web-2"]}),
]


def test_an_option_chooses_names_or_groups(cases: Cases) -> None:
    for number, (options, _expected) in enumerate(CHOICES):
        # All sources share the groups, so that the names tell their hosts apart.
        servers = [{**server, "name": f"c{number}-{server['name']}"} for server in KNOWN]
        cases.add(f"c{number}", cases.serve(servers=servers), **{"group": None, **options})
    listing = cases.list()
    for number, (options, expected) in enumerate(CHOICES):
        found = {
            group: [
                name.removeprefix(f"c{number}-")
                for name in members(listing, group)
                if name.startswith(f"c{number}-")
            ]
            for group in expected
        }
        assert found == expected, options


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
def test_failing_expressions_and_changed_names_are_warnings_or_with_strict_errors(
    source: Source, cases: Cases
) -> None:
    options: dict[str, Any] = {
        "compose": {"a": "server_nope"},
        "groups": {"b": "server_nope == 1"},
        "keyed_groups": [{"key": "server_nope"}],
        "hostnames": ["server_nope", "server_name"],
    }
    for name, value in options.items():
        cases.add(name, source.sandbox, strict=True, **{name: value})
    cases.add("single", compose={"a": "server_nope"})
    cases.add("filters", source.sandbox, filters=[{"exclude": "server_nope"}])
    cases.add("lenient", source.sandbox, **options)
    other = cases.serve("w b", "v")
    other.servers[0]["region"] = "eu_1"
    cases.add("strict_names", other, strict=True)
    cases.add("names", other)
    result = cases.run()
    labels = ("compose: a", "groups: b", "keyed_groups: server_nope", "hostnames: server_nope")
    for label in labels:
        text = f"lenient.server_management.yml: {label}: failed for 3 of 3 hosts, first with: "
        assert result.says(text)
    assert result.says("single.server_management.yml: compose: a: failed for 1 of 1 host: ")
    assert result.says("Several values become the group region_eu_1: region eu-1, region eu_1")
    text = "1 server is not named as preferred, because a host can't have such a name: w b (srv_1)"
    assert result.says(f"names.server_management.yml: {text}")
    listing = result.json()
    assert members(listing, "lenient") == THREE
    assert len(members(listing, "names")) == 2
    assert len(hosts(listing)) == 6
    undefined = "'server_nope' is undefined"
    check_refused(result, {name: (f"{name}: ", undefined) for name in options})
    assert not result.says(f"{undefined}. {undefined}")
    check_refused(result, {"compose": "compose: a: failed for db-1: "})
    refused = {"filters": "filters: exclude: server_nope: failed"}
    check_refused(result, {**refused, "strict_names": f"hostnames: {text}"})


# One case for each place that checks options; the unit tests of _options and _config have the rest.
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"regoins": ["eu-1"]}, "regoins: there is no such option. Did you mean regions?"),
    ({"base_url": "ftp://x"}, "base_url: is not an http or https URL with a host."),
    ({"base_url": None}, "SERVER_MANAGEMENT_BASE_URL"),
    ({"api_token": None}, "SERVER_MANAGEMENT_API_TOKEN"),
    ({"timeout": "soon"}, "timeout: must be a number, but is soon."),
    ({"hostvars_prefix": "ansible_"}, "hostvars_prefix: 'ansible_' does not make usable"),
    ({"statuses": []}, "statuses: the list is empty."),
    ({"min_servers": 4}, "min_servers: 4 or more expected, but the account has 3."),
    (
        {"regions": ["eu-2"], "min_hosts": 2},
        "min_hosts: 2 or more expected, but the number of hosts is 1; the account has 3 servers.",
    ),
    (
        {"filters": [{"exclude": True}], "min_hosts": 1},
        "min_hosts: 1 or more expected, but the number of hosts is 0; the account has 3 servers.",
    ),
    (
        {"regions": ["eu-1", "eu-9"], "strict": True},
        "regions: no server has eu-9; the account has eu-1 (2), eu-2 (1).",
    ),
    ({"plans": "{{ none }}"}, "plans: has an empty value."),
    ({"min_hosts": "{{ none }}"}, "min_hosts: must be a whole number, but is empty."),
    ({"stale_cache_timeout": 60}, "stale_cache_timeout: requires cache: true."),
    # Exceptions that are not Ansible's: of the libraries for YAML and regular expressions.
    ({"group": "{{ '[' | from_yaml }}"}, "group: "),
    ({"timeout": "{{ 'x' | regex_search('[') }}"}, "timeout: "),
    (
        {"keyed_groups": [{"key": "server_plan", "parent_group": "_small"}]},
        "keyed_groups: the group _small would be inside itself.",
    ),
    (
        {"keyed_groups": [{"key": "'all'", "separator": "", "parent_group": "up"}]},
        "keyed_groups: the group all can't be inside another group.",
    ),
    (
        {
            "hostnames": ["server_id"],
            "keyed_groups": [{"key": "inventory_hostname", "separator": ""}],
        },
        "hostnames: no name is left for the server srv_1: ",
    ),
    ({"filters": [{"exclude": None}]}, "filters: exclude: must be a condition that is not empty."),
    ({"filters": [{"exclude": "server_name =="}]}, "filters: exclude: server_name ==: "),
    ({"group": "localhost"}, "group: localhost is a name of this machine"),
]


@pytest.mark.promise("silent")
@pytest.mark.promise("atomic")
def test_each_bad_option_is_named_and_its_source_adds_nothing(source: Source, cases: Cases) -> None:
    static = source.folder / "static.ini"
    static.write_text("static-1\n")
    texts = {f"c{number}": text for number, (_options, text) in enumerate(BAD_OPTIONS)}
    for number, (options, _text) in enumerate(BAD_OPTIONS):
        cases.add(f"c{number}", source.sandbox, **options)
    cases.add("null", source.sandbox)
    cases.paths["null"].write_text(f"{cases.paths['null'].read_text()}regions:\n")
    texts["null"] = "regions: is null. Leave the option out to keep all."
    result = cases.run("-i", static)
    listing = result.json()
    assert hosts(listing) == []
    assert members(listing, "ungrouped") == ["static-1"]
    # Elsewhere, empty groups are not printed.
    assert listing["all"]["children"] == ["ungrouped"]
    check_refused(result, texts)
    assert source.sandbox.token not in result.output


@pytest.mark.promise("silent", "secret")
def test_a_file_without_options_is_named_and_no_message_shows_its_content(cases: Cases) -> None:
    start = "{plugin: server_management.cloud.servers, base_url: http://127.0.0.1:1, "
    wrong = {
        "colon": (f"{start}api_token:tok_SECRET}}", "api_token: must be followed by a colon and"),
        "list": (f"{start}api_token: [tok_SECRET]}}", "api_token: must be text, not a"),
        "mapping": (f"{start}api_token: {{tok_SECRET: x}}}}", "api_token: must be text, not a"),
        "number": (f"{start}api_token: 0123456}}", "api_token: YAML reads this value as a number"),
    }
    no_mapping = "server_management.yml: must be a mapping of options to values."
    files = {
        **wrong,
        "text": ("just text\n", no_mapping),
        "entries": ("- plugin: server_management.cloud.servers\n", no_mapping),
        "integer": ("5\n", no_mapping),
    }
    for name, (content, _text) in files.items():
        cases.write(name, content)
    # Without other plugins, which Ansible tries afterwards and which show the content of a file.
    for plugin, expected in (("server_management.cloud.servers", files), ("auto", wrong)):
        result = cases.run(env={"ANSIBLE_INVENTORY_ENABLED": plugin})
        check_refused(result, {name: text for name, (_content, text) in expected.items()})
        assert "SECRET" not in result.output
        assert "attribute" not in result.output


@pytest.mark.promise("silent")
def test_probable_mistakes_cause_warnings(source: Source, cases: Cases) -> None:
    matching_nothing: dict[str, tuple[dict[str, Any], str]] = {
        "region": (
            {"regions": ["eu-centrla"]},
            "regions: no server has eu-centrla; the account has eu-1 (2), eu-2 (1).",
        ),
        "status": (
            {"statuses": "Running"},
            "statuses: no server has Running; the account has running (2), stopped (1).",
        ),
        "both": (
            {"statuses": ["stopped"], "plans": ["large"]},
            "statuses, plans: no server matches all of these options; the account has "
            "status: running (2), stopped (1); plan: small (2), large (1).",
        ),
    }
    for case, (chosen, _text) in matching_nothing.items():
        cases.add(case, source.sandbox, **chosen)
    named = {
        "nested.yml": "all: {vars: {a: 1}}\nx:\n  plugin: server_management.cloud.servers\n",
        "json.yml": '{\n "api_token": "t",\n "plugin": "server_management.cloud.servers"\n}\n',
        "fleet.yml": source.file(group="fleet").read_text(),
        "prod.server_management.yaml": source.file(group="prod").read_text(),
    }
    paths = [write_inventory(source.folder, content, name) for name, content in named.items()]
    result = cases.run(*as_arguments(paths))
    listing = result.json()
    assert members(listing, "prod") == THREE
    assert members(listing, "fleet") == []
    for case, (_chosen, text) in matching_nothing.items():
        assert members(listing, case) == [], case
        assert result.says(f"{case}.server_management.yml: {text}"), case
    text = "The name of an inventory file for"
    told = [name for name in named if result.says(f"{name}: {text}")]
    assert told == ["json.yml", "fleet.yml"]
    assert result.says("must end with server_management.yml or server_management.yaml")


def test_a_file_without_an_extension_is_reported_where_ansible_shows_it(source: Source) -> None:
    name = "server_management.cloud.servers"
    (source.folder / "hosts").write_text(f"plugin: {name}\n")
    (source.folder / "static").write_bytes(b"web-9\n# \xff\xfe plugin: " + name.encode() + b"\n")
    enabled = {"ANSIBLE_INVENTORY_ENABLED": f"{name},auto,ini"}
    paths = as_arguments([source.folder / "hosts", source.folder / "static"])
    result = source.runner.inventory(*paths, "--list", env=enabled)
    assert result.says(f"hosts: The name of an inventory file for {name} must end with")
    assert not result.says("static: The name of an inventory file")


def test_every_example_of_the_documentation_works(cases: Cases, tmp_path: Path) -> None:
    name = "server_management.cloud.servers"
    doc = cases.runner.doc("-t", "inventory", "-j", name).ok().json()[name]
    # Catalogs read one document, so all examples but the first are comments, each after "# ---".
    first, *others = doc["examples"].split("\n# ---\n")
    texts = [first, *(re.sub("^# ?", "", text.partition("\n\n")[0], flags=re.M) for text in others)]
    examples = {f"example_{n}": yaml.safe_load(text) for n, text in enumerate(texts)}
    assert len(examples) >= 8
    token = tmp_path / "token"
    token.write_text("sandbox-token")
    paths = {"api_token_file": str(token), "cache_connection": str(tmp_path / "cache")}
    for case, options in examples.items():
        servers = [{**server, "name": f"{case}-{server['name']}"} for server in KNOWN]
        replaced = {"base_url": cases.serve(servers=servers).url, **paths}
        options.update({name: replaced[name] for name in replaced if name in options})
        cases.write(case, yaml.safe_dump({"base_url": replaced["base_url"], **options}))
    names = ("SERVER_MANAGEMENT_API_TOKEN", "PROD_API_TOKEN")
    listing = cases.list(env=dict.fromkeys(names, "sandbox-token"))
    for case in examples:
        assert [name for name in hosts(listing) if name.startswith(f"{case}-")], case


@pytest.mark.promise("data")
def test_a_name_like_a_python_value_stays_text(cases: Cases) -> None:
    names = ("{0}", "[1j]", "[...]", "{(1, 2): 3}", "['a', 'prod']", "True")
    options: dict[str, Any] = {
        "compose": {"label": "server_name", "number": "server_plan | int", "bad": "'{1}'"},
        "keyed_groups": [{"key": "server_name", "prefix": "n"}],
        "groups": {"chosen": "label == server_name and server_name is string"},
        "hostnames": ["'x-' ~ server_name"],
    }
    api = cases.serve(*names)
    for server in api.servers:
        server["plan"] = "7"
    cases.add("values", api, **options)
    listing = cases.run().json()
    found = listing["_meta"]["hostvars"].values()
    labels = {
        host["label"] if isinstance(host["label"], str) else host["label"]["__ansible_unsafe"]
        for host in found
    }
    assert labels == set(names)
    assert {int(host["number"]) for host in found} == {7}
    assert len(members(listing, "chosen")) == len(names)
    groups = {name for name in listing if name.startswith("n_")}
    assert groups == {"n_" + re.sub("[^A-Za-z0-9_]", "_", name) for name in names}
