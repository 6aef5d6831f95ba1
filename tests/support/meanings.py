# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text to which Ansible and ansible-rulebook give a meaning, collected from their source.

The versions are ansible-core 2.16 and 2.22, and ansible-rulebook 1.3. The generator of accounts,
the hostile corpus and the tests of names, files and events draw from it.
"""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    """Texts with a meaning, and where the source gives it: modules and a text in them.

    One of the modules exists in each supported version.
    """

    modules: tuple[str, ...]
    mark: str
    texts: tuple[str, ...]


MEANINGS = (
    # Host patterns: parts, operators, subscripts, globs, regular expressions and files.
    Meaning(
        ("ansible.inventory.manager",),
        "def split_host_pattern",
        ("web,db1", "web:db1", "web:&db1", "!web", "&web", "a;b"),
    ),
    Meaning(
        ("ansible.inventory.manager",),
        "PATTERN_WITH_SUBSCRIPT",
        ("web[0]", "web[-1]", "web[0:2]", "all[1:]", "*", "w?b", "web*", "~web.*", "@web"),
    ),
    # Ranges and ports in the host names of an inventory file.
    Meaning(
        ("ansible.plugins.inventory",),
        "def expand_hostname_range",
        ("web[01:20]", "web[a:c]", "web[1:9:2]"),
    ),
    Meaning(
        ("ansible.parsing.utils.addresses",),
        "def parse_address",
        ("web:22", "[::1]:22", "[web]:2222", "192.0.2.1:22", "fe80::1%eth0"),
    ),
    # Variables in the same line, sections and comments of an ini file.
    Meaning(
        ("ansible.plugins.inventory.ini",),
        "def _parse_value",
        ("web ansible_connection=local", "[web:vars]", "[web:children]", "# web", "; web"),
    ),
    # Names of files below host_vars and group_vars.
    Meaning(
        ("ansible.parsing.dataloader",),
        "def find_vars_files",
        ("db1", "db1.yml", "web.YAML", "web.json", "localhost.yml", "db1.yml.yml", "db1~", ".db1"),
    ),
    Meaning(
        ("ansible.plugins.vars.host_group_vars",),
        "host_vars",
        ("/etc/passwd", "../db1", "../../etc/passwd", "sub/db1", "db1/", "."),
    ),
    Meaning(("ansible.utils.path",), "expandvars", ("~root", "~", "$HOME", "${HOME}", "a$HOME")),
    # This machine.
    Meaning(
        ("ansible.inventory.data",),
        "def _create_implicit_localhost",
        ("localhost", "127.0.0.1", "::1", "LOCALHOST", "localhost."),
    ),
    # Groups that always exist, and characters that group names lose.
    Meaning(
        ("ansible.inventory.data",),
        "ungrouped",
        ("all", "ungrouped", "ALL", "all.yml", "region_web"),
    ),
    Meaning(
        ("ansible.inventory.group",),
        "def to_safe_group_name",
        ("web-1", "1web", "we.b", "w\u0435b"),
    ),
    # Templates, and the header that changes their delimiters.
    Meaning(
        ("ansible.template",),
        "is_template",
        ("{{ 7 * 7 }}", "{% if x %}", "{# x", "{{", "}}", "{{ lookup('pipe', 'id') }}"),
    ),
    Meaning(
        ("ansible._internal._templating._jinja_bits", "ansible.template"),
        "JINJA2_OVERRIDE",
        ("#jinja2: trim_blocks:True", "#jinja2:variable_start_string:'[['\n[[ 7 * 7 ]]"),
    ),
    # Python literals, which templates turn into values up to 2.18.
    Meaning(
        ("ansible.template.native_helpers", "ansible._internal._templating._engine"),
        "native",
        ("{0}", "[1j]", "[...]", "{(1, 2): 3}", "['a', 'b']", "(1, 2)", "1_000", "None", "True"),
    ),
    # Words and numbers that YAML reads as another type, its tags and its references.
    Meaning(
        ("ansible.module_utils.parsing.convert_bool",),
        "BOOLEANS_TRUE",
        ("yes", "no", "on", "off", "y", "t", "1", "0"),
    ),
    Meaning(
        ("ansible.parsing.yaml.objects",),
        "Ansible",
        ("null", "0x1f", "1e3", "2026-01-01", "1:30", "!vault |", "!unsafe x", "&a", "*a", "- a"),
    ),
    # Objects of JSON that stand for other types (__ansible_type from 2.19 on), and encrypted text.
    Meaning(
        ("ansible.parsing.ajson", "ansible._internal._json._profiles._legacy"),
        "__ansible_unsafe",
        ("__ansible_unsafe", "__ansible_vault", "__ansible_type", "__payload__"),
    ),
    Meaning(("ansible.parsing.vault",), "$ANSIBLE_VAULT", ("$ANSIBLE_VAULT;1.1;AES256\n6162",)),
    # Arguments of tasks, options of commands, and what a shell reads.
    Meaning(("ansible.parsing.splitter",), "def parse_kv", ("a=b", "'a", 'a "b', "-x", "--become")),
    # Names of variables.
    Meaning(
        ("ansible.vars.reserved",),
        "def get_reserved_names",
        ("ansible_host", "ansible_connection", "vars", "hostvars", "environment", "omit", "name"),
    ),
)

# Keys and values of an event.
EVENT_MEANINGS = (
    # Paths in an event; no key may be empty.
    Meaning(("dpath.segments",), "Empty string keys not allowed", ("", "/", "//")),
    Meaning(
        ("dpath",),
        "def _split_path",
        ("meta/source/name", "server/id", "server.id", "..", "*", "**", "a[0]", "0", "-1"),
    ),
    # The hosts of a playbook, and what is known about the source.
    Meaning(
        ("ansible_rulebook.rule_set_runner",),
        'if "hosts" in event["meta"]',
        ("meta", "hosts", "meta.hosts", "web,db1", "m", "m_0"),
    ),
    Meaning(
        ("ansible_rulebook.event_filter.insert_meta_info",),
        'if "source" not in event["meta"]',
        ("source", "name", "type", "received_at", "uuid"),
    ),
    # Variables of actions and playbooks.
    Meaning(
        ("ansible_rulebook.action.helper",),
        "extra_vars[KEY_EDA_VARS]",
        ("ansible_eda", "event", "events", "facts", "rule", "ruleset"),
    ),
    # Templates of a rulebook, which make Python values of text, and encrypted text.
    Meaning(
        ("ansible_rulebook.util",),
        "NativeEnvironment(",
        ("{{ 7 * 7 }}", "{{", "007e1", "0x10", "1, 2", "1_000", "True", "None"),
    ),
    Meaning(
        ("ansible_rulebook.util",), "settings.vault.is_encrypted", ("$ANSIBLE_VAULT;1.1;AES256\n6",)
    ),
    # Names in Java and in the rule engine.
    Meaning(("drools.ruleset",), "createRuleset", ("this", "class", "@class", "@type", "null")),
)

TEXTS = tuple(dict.fromkeys(text for meaning in MEANINGS for text in meaning.texts))
EVENT_TEXTS = tuple(dict.fromkeys(text for meaning in EVENT_MEANINGS for text in meaning.texts))
