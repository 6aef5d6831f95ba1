# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory of a known account is, and what each option makes of it."""

import yaml

from support.fixtures import SERVER_NAMES, SERVERS

from .conftest import hosts


def test_the_whole_inventory_of_a_known_account(source):
    listing = source.list_silently()
    children = listing.pop("all")["children"]
    hostvars = listing.pop("_meta")["hostvars"]
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
    assert sorted(hostvars) == SERVER_NAMES
    assert hostvars["db-1"]["ansible_host"] == "203.0.113.3"
    fields = {f"server_management_{field}": value for field, value in SERVERS[1].items()}
    assert hostvars["web-2"] == {"ansible_host": "203.0.113.2", **fields}


# A block of YAML ends with a line break.
GROUPING = """
group: |
  my_fleet
pagination: |
  last_id
group_by: "{{ 'plan, status'.split(', ') }}"
use_extra_vars: true
compose: {role: 'inventory_hostname[:3]'}
groups:
  web: role == kind
  nobody: false
keyed_groups:
  - {key: server_management_region, prefix: "in\\n", parent_group: "europe\\n"}
  - {key: server_management_plan}
leading_separator: false
"""


def test_options_choose_the_groups(source):
    listing = source.list_silently("-e", "kind=web", **yaml.safe_load(GROUPING))
    del listing["_meta"]
    del listing["all"]
    assert listing == yaml.safe_load("""
        my_fleet: {hosts: [db-1, web-1, web-2]}
        plan_small: {hosts: [web-1, web-2]}
        plan_large: {hosts: [db-1]}
        status_running: {hosts: [db-1, web-1]}
        status_stopped: {hosts: [web-2]}
        web: {hosts: [web-1, web-2]}
        europe: {children: [in_eu_1, in_eu_2]}
        in_eu_1: {hosts: [db-1, web-1]}
        in_eu_2: {hosts: [web-2]}
        small: {hosts: [web-1, web-2]}
        large: {hosts: [db-1]}
    """)


# Options of a source, its hosts, and the warning about a probable mistake.
CHOICES = yaml.safe_load("""
- [{statuses: [stopped]}, [web-2]]
- [{regions: [eu-1], plans: [small]}, [web-1]]
- [{regions: "{{ 'eu-2, x'.split(',') }}"}, [web-2]]
- - filters:
      - include: "'web-2' in server_management_name"
      - exclude: "'web' in server_management_name"
  - [db-1, web-2]
- - hostnames:
      - "'in-eu-2' if server_management_region == 'eu-2' else ''"
      - "'named-' ~ server_management_name"
  - [in-eu-2, named-db-1, named-web-1]
- [{regions: [eu-2], min_servers: 3, min_hosts: 1, strict: true}, [web-2]]
- [{statuses: Running}, [], 'running (2), stopped (1)']
- [{statuses: [stopped], plans: [large]}, [], 'statuses, plans: ']
""")


def test_options_choose_hosts_and_their_names(sandbox, sources):
    for number, (options, names, *warns) in enumerate(CHOICES):
        case = {**options, "hosts": names, "warns": warns}
        sources.add(f"c{number}", sandbox, **case)
    sources.check()


# One case for each place that checks options; the unit tests of _options and _config have the rest.
BAD_OPTIONS = yaml.safe_load("""
- [{regoins: [eu-1]}, 'regoins ']
- [{api_token: null}, SERVER_MANAGEMENT_API_TOKEN]
- [{api_token: "{{ lookup('ansible.builtin.env', 'PROD_API_TOKEN') }}"}, 'api_token: ']
- [{timeout: sandbox-token}, '********']
- [{hostvars_prefix: ansible_}, 'hostvars_prefix: ansible_ ']
- [{ca_path: nope.pem, validate_certs: false}, nope.pem]
- [{statuses: []}, 'statuses: ']
- [{plans: "{{ none }}"}, 'plans: ']
- [{min_servers: 4}, 'min_servers: 4 ']
- [{filters: [{exclude: true}], min_hosts: 1}, 'min_hosts: 1 ']
- [{regions: [eu-1, eu-9], strict: true}, eu-9]
# An exception of another library.
- [{group: "{{ '[' | from_yaml }}"}, "group: "]
- [{keyed_groups: [{key: server_management_plan, parent_group: _small}]}, _small]
- [{keyed_groups: [{key: "'localhost'", separator: ""}], strict: true}, localhost]
- - {filters: [{exclude: server_management_name ==}]}
  - "filters: exclude: server_management_name ==: "
""")


def test_each_bad_option_is_named_and_its_source_adds_nothing(sandbox, sources):
    static = sources.folder / "static.ini"
    static.write_text("static-1\n")
    for number, (options, problem) in enumerate(BAD_OPTIONS):
        sources.add(f"c{number}", sandbox, fails=problem, **options)
    listing = sources.check("-i", static).json()
    assert hosts(listing) == []
    # Elsewhere, empty groups are not printed.
    assert listing["all"]["children"] == ["ungrouped"]


def test_a_token_that_is_written_wrongly_is_not_shown(sources):
    colon = {"api_token:tok_SECRET": "x"}
    sources.add("colon", fails="api_token (", **colon)
    sources.add("list", fails="api_token: ", api_token=["tok_SECRET"])
    sources.add("number", fails="api_token: ", api_token=8315726)
    sources.add("quote", fails="line 4, column 1")
    token = "plugin: server_management.cloud.servers\ngroup: quote\napi_token: 'tok_SECRET\n"
    sources.all["quote"].path.write_text(token)
    # Without other plugins, which Ansible tries afterwards and which show the content of a file.
    result = sources.check(env={"ANSIBLE_INVENTORY_ENABLED": "server_management.cloud.servers"})
    assert "SECRET" not in result.output
    assert "8315726" not in result.output
