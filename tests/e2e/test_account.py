# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory of a known account is, and what each option makes of it."""

import yaml

from support.fixtures import KNOWN, KNOWN_NAMES

from .conftest import as_arguments, hosts, members

NAME = "server_management.cloud.servers"


def test_the_whole_inventory_of_a_known_account(source):
    listing = source.list_silently()
    hostvars = listing.pop("_meta")["hostvars"]
    children = listing.pop("all")["children"]
    assert set(children) == {"ungrouped", *listing}
    assert listing == yaml.safe_load("""
        server_management: {hosts: [db-1, web-1, web-2]}
        region_eu_1: {hosts: [db-1, web-1]}
        region_eu_2: {hosts: [web-2]}
        plan_small: {hosts: [web-1, web-2]}
        plan_large: {hosts: [db-1]}
        status_running: {hosts: [db-1, web-1]}
        status_stopped: {hosts: [web-2]}
    """)
    assert hosts({"_meta": {"hostvars": hostvars}}) == KNOWN_NAMES
    for server in KNOWN:
        variables = hostvars[server["name"]]
        assert variables.pop("ansible_host") == server["ipv4"]
        assert variables == _with_prefix("server_management_", server)


def _with_prefix(prefix, server):
    return {f"{prefix}{field}": value for field, value in server.items()}


# For each case, the options of a source, and the hosts of some of its groups.
CHOICES = {
    "group": ("group: my_fleet", {"my_fleet": ["db-1", "web-1", "web-2"]}),
    "group_by": (
        """group_by: "{{ 'plan, status'.split(',') }}" """,
        {"region_eu_1": [], "plan_large": ["db-1"], "status_stopped": ["web-2"]},
    ),
    "no_group_by": (
        "group_by: []",
        {"region_eu_1": [], "server_management": ["db-1", "web-1", "web-2"]},
    ),
    "statuses": ("statuses: [stopped]", {"server_management": ["web-2"]}),
    "both": ("{regions: [eu-1], plans: [small]}", {"server_management": ["web-1"]}),
    "template": (
        """regions: "{{ 'eu-2, x'.split(',') }}" """,
        {"server_management": ["web-2"]},
    ),
    "filters": (
        """
        filters:
          - include: "'web-2' in server_management_name"
          - exclude: "'web' in server_management_name"
        """,
        {"server_management": ["db-1", "web-2"]},
    ),
    "hostnames": (
        """
        hostnames:
          - "'hostnames-eu-2' if server_management_region == 'eu-2' else ''"
          - "'hostnames-' ~ server_management_name"
        """,
        {"server_management": ["db-1", "eu-2", "web-1"]},
    ),
    "groups": (
        """groups: {web: "'web' in inventory_hostname", none: false}""",
        {"web": ["web-1", "web-2"], "none": []},
    ),
    "parent_group": (
        "keyed_groups: [{key: server_management_region, prefix: in, parent_group: europe}]",
        {"in_eu_1": ["db-1", "web-1"]},
    ),
    "separator": (
        "{keyed_groups: [{key: server_management_plan}], leading_separator: false}",
        {"large": ["db-1"]},
    ),
    "minimum": (
        "{min_servers: 3, min_hosts: 1, regions: [eu-2]}",
        {"server_management": ["web-2"]},
    ),
    "strict": (
        "{regions: [eu-2], min_hosts: 1, strict: true}",
        {"server_management": ["web-2"]},
    ),
}


def test_an_option_chooses_names_or_groups(source, sources):
    for case, (text, _expected) in CHOICES.items():
        # All sources share the groups, so that the names tell their hosts apart.
        options = {
            "group": None,
            "hostnames": [f"'{case}-' ~ server_management_name"],
        }
        options.update(yaml.safe_load(text))
        sources.add(case, source.sandbox, **options)
    listing = sources.check().json()
    for case, (_text, expected) in CHOICES.items():
        for group, names in expected.items():
            assert _members_of(case, listing, group) == names, (case, group)


def _members_of(case, listing, group):
    """Return the hosts of a group that are from the source of a case."""
    start = f"{case}-"
    names = members(listing, group)
    return [name.removeprefix(start) for name in names if name.startswith(start)]


COMPOSED = """
hostvars_prefix: server_
use_extra_vars: true
compose:
  ansible_port: 2222
  ansible_user: "'admin'"
  fqdn: server_name ~ '.' ~ domain
  ansible_host: server_name
groups:
  ours: domain == 'example.com' and fqdn is defined
"""


def test_variables_are_composed_from_fields_with_a_chosen_prefix(source):
    listing = source.list_silently("-e", "domain=example.com", **yaml.safe_load(COMPOSED))
    assert members(listing, "ours") == ["db-1", "web-1", "web-2"]
    found = listing["_meta"]["hostvars"]["web-1"]
    found.pop("domain", None)  # some versions list extra vars
    expected = _with_prefix("server_", KNOWN[0])
    expected |= yaml.safe_load(
        "{ansible_host: web-1, ansible_port: 2222, ansible_user: admin, fqdn: web-1.example.com}"
    )
    assert found == expected


EXPRESSIONS = {
    "compose": {"a": "server_management_nope"},
    "groups": {"b": "server_management_nope == 1"},
    "keyed_groups": [{"key": "server_management_nope"}],
    "hostnames": ["server_management_nope", "server_management_name"],
}


def test_failing_expressions_are_warnings_or_with_strict_errors(source, sources):
    undefined = "'server_management_nope' is undefined"
    for option, value in EXPRESSIONS.items():
        fails = (f"{option}.server_management.yml: {option}: ", undefined)
        sources.add(option, source.sandbox, strict=True, fails=fails, **{option: value})
    each = (
        "compose: a: failed for 3 of 3 hosts, first with: ",
        "groups: b: failed for 3 of 3 hosts, first with: ",
        "keyed_groups: server_management_nope: failed for 3 of 3 hosts, first with: ",
        "hostnames: server_management_nope: failed for 3 of 3 hosts, first with: ",
    )
    sources.add("lenient", source.sandbox, hosts=KNOWN_NAMES, warns=each, **EXPRESSIONS)
    one = "compose: a: failed for 1 of 1 host: "
    sources.add("single", warns=one, compose={"a": "server_management_nope"})
    always = "filters: exclude: server_management_nope: failed"
    filters = [{"exclude": "server_management_nope"}]
    sources.add("filters", source.sandbox, fails=always, filters=filters)
    result = sources.check()
    assert hosts(result.json()) == ["db-1", "single-1", "web-1", "web-2"]
    assert not result.contains(f"{undefined}. {undefined}")


# One case for each place that checks options; the unit tests of _options and _config have the rest.
BAD_OPTIONS = [
    ("regoins: [eu-1]", "regoins: there is no such option. Did you mean regions?"),
    ("api_token: null", "SERVER_MANAGEMENT_API_TOKEN"),
    ("timeout: sandbox-token", "timeout: must be a number, but is ********."),
    ("hostvars_prefix: ansible_", "hostvars_prefix: 'ansible_' does not make usable"),
    ("statuses: []", "statuses: the list is empty."),
    ("plans: '{{ none }}'", "plans: has an empty value."),
    ("min_servers: 4", "min_servers: 4 or more expected, but the account has 3."),
    (
        "{filters: [{exclude: true}], min_hosts: 1}",
        "min_hosts: 1 or more expected, but the number of hosts is 0; the account has 3 servers.",
    ),
    (
        "{regions: [eu-1, eu-9], strict: true}",
        "regions: no server has eu-9; the account has eu-1 (2), eu-2 (1).",
    ),
    # An exception of another library.
    ("""group: "{{ '[' | from_yaml }}" """, "group: "),
    (
        "keyed_groups: [{key: server_management_plan, parent_group: _small}]",
        "keyed_groups: the group _small would be inside itself.",
    ),
    (
        """{keyed_groups: [{key: "'localhost'", separator: ''}], strict: true}""",
        "Groups can't be added, because a host of another source or this machine has the same "
        "name: localhost.",
    ),
    (
        "filters: [{exclude: server_management_name ==}]",
        "filters: exclude: server_management_name ==: ",
    ),
]


def test_each_bad_option_is_named_and_its_source_adds_nothing(source, sources):
    static = source.folder / "static.ini"
    static.write_text("static-1\n")
    for number, (text, fails) in enumerate(BAD_OPTIONS):
        options = yaml.safe_load(text)
        sources.add(f"c{number}", source.sandbox, fails=fails, **options)
    listing = sources.check("-i", static).json()
    assert hosts(listing) == []
    assert members(listing, "ungrouped") == ["static-1"]
    # Elsewhere, empty groups are not printed.
    assert listing["all"]["children"] == ["ungrouped"]


def test_a_file_without_options_is_named_and_no_message_shows_its_content(sources):
    start = f"{{plugin: {NAME}, base_url: http://127.0.0.1:1, "
    colon = "api_token: must be followed by a colon and"
    sources.write("colon", f"{start}api_token:tok_SECRET}}", colon)
    sources.write("list", f"{start}api_token: [tok_SECRET]}}", "api_token: must be text, not a")
    number = "api_token: YAML reads this value as a number"
    sources.write("number", f"{start}api_token: 0123456}}", number)
    no_mapping = "server_management.yml: must be a mapping of options to values."
    sources.write("text", "just text\n", no_mapping)
    sources.write("entries", f"- plugin: {NAME}\n", no_mapping)
    # Without other plugins, which Ansible tries afterwards and which show the content of a file.
    result = sources.check(env={"ANSIBLE_INVENTORY_ENABLED": NAME})
    assert "SECRET" not in result.output
    assert "attribute" not in result.output


def test_probable_mistakes_cause_warnings(source, sources):
    status = "statuses: no server has Running; the account has running (2), stopped (1)."
    sources.add("status", source.sandbox, hosts=[], warns=status, statuses="Running")
    both = (
        "statuses, plans: no server matches all of these options; the account has "
        "status: running (2), stopped (1); plan: small (2), large (1)."
    )
    options = {"statuses": ["stopped"], "plans": ["large"]}
    sources.add("both", source.sandbox, hosts=[], warns=both, **options)
    api = sources.serve("values-1", "values-2")
    api.servers[0]["region"] = "eu_1"
    values = "Several values become the group region_eu_1: region eu-1, region eu_1"
    sources.add("values", api, hosts=["values-1", "values-2"], warns=values)
    sources.check()


def test_a_file_with_another_name_is_reported_if_it_is_for_this_plugin(source):
    source.file("prod.server_management.yaml", group="prod")
    source.file("fleet.yml", group="fleet")
    folder = source.folder
    (folder / "nested.yml").write_text(f"all: {{vars: {{a: 1}}}}\nx:\n  plugin: {NAME}\n")
    (folder / "static").write_bytes(b"web-9\n# \xff\xfe plugin: server_management.cloud.servers\n")
    (folder / "hosts").write_text(f"plugin: {NAME}\n")
    (folder / "json.yml").write_text(f'{{\n "api_token": "t",\n "plugin": "{NAME}"\n}}\n')
    files = [
        "prod.server_management.yaml",
        "fleet.yml",
        "nested.yml",
        "static",
        "hosts",
        "json.yml",
    ]
    # Ansible's other plugins do not offer a file without an extension to this one.
    enabled = {"ANSIBLE_INVENTORY_ENABLED": f"{NAME},auto,ini,yaml"}
    paths = as_arguments(folder / file for file in files)
    result = source.runner.inventory(*paths, "--list", env=enabled).ok()
    assert members(result.json(), "prod") == KNOWN_NAMES
    assert members(result.json(), "fleet") == []
    text = f"The name of an inventory file for {NAME} must end with server_management.yml or"
    reported = [file for file in files if result.contains(f"/{file}: {text}")]
    assert reported == ["fleet.yml", "hosts", "json.yml"]
