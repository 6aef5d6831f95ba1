# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory of a known account is, and what each option makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from support.fixtures import KNOWN, KNOWN_NAMES

from .conftest import Source, Sources, as_arguments, hosts, members


def test_the_whole_inventory_of_a_known_account(source: Source) -> None:
    listing = source.list_silently()
    hostvars = listing.pop("_meta")["hostvars"]
    assert hostvars == {
        server["name"]: {
            "ansible_host": server["ipv4"],
            **{f"server_management_{key}": value for key, value in server.items()},
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
CHOICES: dict[str, tuple[dict[str, Any], dict[str, list[str]]]] = {
    "group": ({"group": "my_fleet"}, {"my_fleet": KNOWN_NAMES}),
    "group_by": (
        {"group_by": "{{ 'plan, status'.split(',') }}"},
        {"region_eu_1": [], "plan_large": ["db-1"], "status_stopped": ["web-2"]},
    ),
    "no_group_by": ({"group_by": []}, {"region_eu_1": [], "server_management": KNOWN_NAMES}),
    "statuses": ({"statuses": ["stopped"]}, {"server_management": ["web-2"]}),
    "regions": ({"regions": ["eu-1"], "plans": ["small"]}, {"server_management": ["web-1"]}),
    "template": ({"regions": "{{ 'eu-2, eu-1'.split(',') }}"}, {"server_management": KNOWN_NAMES}),
    "filters": (
        {
            "filters": [
                {"include": "'web-2' in server_management_name"},
                {"exclude": "'web' in server_management_name"},
            ]
        },
        {"server_management": ["db-1", "web-2"]},
    ),
    "hostnames": (
        {
            "hostnames": [
                "'hostnames-eu-2' if server_management_region == 'eu-2' else ''",
                "'hostnames-' ~ server_management_name",
            ]
        },
        {"server_management": ["db-1", "eu-2", "web-1"]},
    ),
    "groups": (
        {"groups": {"web": "'web' in inventory_hostname", "no": False}},
        {"web": ["web-1", "web-2"], "no": []},
    ),
    "parent_group": (
        {
            "keyed_groups": [
                {"key": "server_management_region", "prefix": "in", "parent_group": "europe"}
            ]
        },
        {"in_eu_1": ["db-1", "web-1"]},
    ),
    "separator": (
        {"keyed_groups": [{"key": "server_management_plan"}], "leading_separator": False},
        {"large": ["db-1"]},
    ),
    "minimum": ({"min_servers": 3, "min_hosts": 3}, {"plan_large": ["db-1"]}),
    "strict": (
        {"regions": ["eu-2"], "min_hosts": 1, "strict": True},
        {"server_management": ["web-2"]},
    ),
}


def test_an_option_chooses_names_or_groups(source: Source, sources: Sources) -> None:
    for case, (options, _expected) in CHOICES.items():
        # All sources share the groups, so that the names tell their hosts apart.
        named = {"group": None, "hostnames": [f"'{case}-' ~ server_management_name"]}
        sources.add(case, source.sandbox, **{**named, **options})
    listing = sources.check().json()
    for case, (_options, expected) in CHOICES.items():
        start = f"{case}-"
        found = {
            group: [
                name.removeprefix(start)
                for name in members(listing, group)
                if name.startswith(start)
            ]
            for group in expected
        }
        assert found == expected, case


def test_variables(source: Source) -> None:
    listing = source.list_silently(
        "-e",
        "domain=example.com",
        hostvars_prefix="server_",
        use_extra_vars=True,
        compose={
            "ansible_port": 2222,
            "ansible_user": "'admin'",
            "fqdn": "server_name ~ '.' ~ domain",
            "ansible_host": "server_name",
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
        **{f"server_{key}": value for key, value in KNOWN[0].items()},
    }
    assert members(listing, "ours") == ["db-1", "web-1", "web-2"]


@pytest.mark.promise("silent")
def test_failing_expressions_and_changed_names_are_warnings_or_with_strict_errors(
    source: Source, sources: Sources
) -> None:
    options: dict[str, Any] = {
        "compose": {"a": "server_management_nope"},
        "groups": {"b": "server_management_nope == 1"},
        "keyed_groups": [{"key": "server_management_nope"}],
        "hostnames": ["server_management_nope", "server_management_name"],
    }
    undefined = "'server_management_nope' is undefined"
    for name, value in options.items():
        fails = (f"{name}.server_management.yml: {name}: ", undefined)
        sources.add(name, source.sandbox, strict=True, fails=fails, **{name: value})
    labels = (
        "compose: a",
        "groups: b",
        "keyed_groups: server_management_nope",
        "hostnames: server_management_nope",
    )
    each = [f"{label}: failed for 3 of 3 hosts, first with: " for label in labels]
    sources.add("lenient", source.sandbox, hosts=KNOWN_NAMES, warns=each, **options)
    one = "compose: a: failed for 1 of 1 host: "
    sources.add("single", warns=one, compose={"a": "server_management_nope"})
    always = "filters: exclude: server_management_nope: failed"
    sources.add(
        "filters", source.sandbox, fails=always, filters=[{"exclude": "server_management_nope"}]
    )
    other = sources.serve("w b", "v")
    other.servers[0]["region"] = "eu_1"
    same = "Several values become the group region_eu_1: region eu-1, region eu_1"
    name = 'because a host can\'t have such a name: "w b" (srv_1) is w_b.'
    sources.add("names", other, hosts=["v", "w_b"], warns=(same, name))
    sources.add("strict_names", other, strict=True, fails=name)
    result = sources.check()
    assert len(hosts(result.json())) == 6
    assert not result.contains(f"{undefined}. {undefined}")


# One case for each place that checks options; the unit tests of _options and _config have the rest.
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"regoins": ["eu-1"]}, "regoins: there is no such option. Did you mean regions?"),
    ({"api_token": None}, "SERVER_MANAGEMENT_API_TOKEN"),
    ({"timeout": "sandbox-token"}, "timeout: must be a number, but is ********."),
    ({"hostvars_prefix": "ansible_"}, "hostvars_prefix: 'ansible_' does not make usable"),
    # Nothing listens there: these two are checked before anything is requested.
    ({"statuses": [], "base_url": "http://127.0.0.1:1"}, "statuses: the list is empty."),
    ({"plans": "{{ none }}", "base_url": "http://127.0.0.1:1"}, "plans: has an empty value."),
    ({"min_servers": 4}, "min_servers: 4 or more expected, but the account has 3."),
    (
        {"filters": [{"exclude": True}], "min_hosts": 1},
        "min_hosts: 1 or more expected, but the number of hosts is 0; the account has 3 servers.",
    ),
    (
        {"regions": ["eu-1", "eu-9"], "strict": True},
        "regions: no server has eu-9; the account has eu-1 (2), eu-2 (1).",
    ),
    # An exception of another library.
    ({"group": "{{ '[' | from_yaml }}"}, "group: "),
    (
        {"keyed_groups": [{"key": "server_management_plan", "parent_group": "_small"}]},
        "keyed_groups: the group _small would be inside itself.",
    ),
    (
        {"filters": [{"exclude": "server_management_name =="}]},
        "filters: exclude: server_management_name ==: ",
    ),
]


@pytest.mark.promise("silent")
@pytest.mark.promise("atomic")
def test_each_bad_option_is_named_and_its_source_adds_nothing(
    source: Source, sources: Sources
) -> None:
    static = source.folder / "static.ini"
    static.write_text("static-1\n")
    for number, (options, text) in enumerate(BAD_OPTIONS):
        sources.add(f"c{number}", source.sandbox, fails=text, **options)
    listing = sources.check("-i", static).json()
    assert hosts(listing) == []
    assert members(listing, "ungrouped") == ["static-1"]
    # Elsewhere, empty groups are not printed.
    assert listing["all"]["children"] == ["ungrouped"]


@pytest.mark.promise("silent", "secret")
def test_a_file_without_options_is_named_and_no_message_shows_its_content(sources: Sources) -> None:
    start = "{plugin: server_management.cloud.servers, base_url: http://127.0.0.1:1, "
    no_mapping = "server_management.yml: must be a mapping of options to values."
    for case, content, text in (
        ("colon", f"{start}api_token:tok_SECRET}}", "api_token: must be followed by a colon and"),
        ("list", f"{start}api_token: [tok_SECRET]}}", "api_token: must be text, not a"),
        ("number", f"{start}api_token: 0123456}}", "api_token: YAML reads this value as a number"),
        ("text", "just text\n", no_mapping),
        ("entries", "- plugin: server_management.cloud.servers\n", no_mapping),
    ):
        sources.write(case, content, text)
    # Without other plugins, which Ansible tries afterwards and which show the content of a file.
    result = sources.check(env={"ANSIBLE_INVENTORY_ENABLED": "server_management.cloud.servers"})
    assert "SECRET" not in result.output
    assert "attribute" not in result.output


@pytest.mark.promise("silent")
def test_probable_mistakes_cause_warnings(source: Source, sources: Sources) -> None:
    for case, warns, options in (
        (
            "status",
            "statuses: no server has Running; the account has running (2), stopped (1).",
            {"statuses": "Running"},
        ),
        (
            "both",
            "statuses, plans: no server matches all of these options; the account has "
            "status: running (2), stopped (1); plan: small (2), large (1).",
            {"statuses": ["stopped"], "plans": ["large"]},
        ),
    ):
        sources.add(case, source.sandbox, hosts=[], warns=warns, **options)
    name = "server_management.cloud.servers"
    named = {
        "nested.yml": f"all: {{vars: {{a: 1}}}}\nx:\n  plugin: {name}\n",
        "static": f"web-9\n# \xff\xfe plugin: {name}\n",
        "hosts": f"plugin: {name}\n",
        "json.yml": f'{{\n "api_token": "t",\n "plugin": "{name}"\n}}\n',
        "fleet.yml": source.file(group="fleet").read_text(),
        "prod.server_management.yaml": source.file(group="prod").read_text(),
    }
    for file, content in named.items():
        (source.folder / file).write_text(content, encoding="latin-1")
    # Ansible's other plugins do not offer a file without an extension to this one.
    enabled = {"ANSIBLE_INVENTORY_ENABLED": f"{name},auto,ini,yaml"}
    result = sources.check(*as_arguments(source.folder / file for file in named), env=enabled)
    assert members(result.json(), "prod") == KNOWN_NAMES
    assert members(result.json(), "fleet") == []
    text = f"The name of an inventory file for {name} must end with server_management.yml or"
    reported = [file for file in named if result.contains(f"/{file}: {text}")]
    assert reported == ["hosts", "json.yml", "fleet.yml"]
