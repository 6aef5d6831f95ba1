# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare names and numbers in the documents with the code."""

import ast
import re

import pytest
import yaml
from ansible import constants

from ansible_collections.server_management.cloud.plugins.module_utils import (
    _client,
    _errors,
    _http,
    _models,
    _operations,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    VARIABLES,
    VERSION,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils import (
    _hosts,
    _names,
    _polling,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import ARGUMENTS
from support.collection import REPOSITORY, read
from support.guides import read_files

PATTERNS = ("README.md", "docs/**/*.rst", "plugins/**/*.py")
PAGES = [path for pattern in PATTERNS for path in sorted(REPOSITORY.glob(pattern))]
PLAYBOOKS = {path.stem: read(path) for path in REPOSITORY.glob("playbooks/*.yml")}
# Names that are not settings: the file of settings, encrypted values, and noxfile.py.
NO_SETTINGS = {"ANSIBLE_CONFIG", "ANSIBLE_VAULT", "ANSIBLE_TESTS"}


def names_in(pattern):
    """Return each name that matches in a document, with the first such document."""
    found = {}
    for page in PAGES:
        for name in re.findall(pattern, read(page)):
            found.setdefault(name, str(page.relative_to(REPOSITORY)))
    assert found, f"no document matches {pattern}"
    return found


def test_documents_name_environment_variables_that_are_read():
    assert sorted(names_in(r"\bSERVER_MANAGEMENT_\w+")) == sorted(VARIABLES.values())


def test_documents_name_variables_that_hosts_have():
    pattern = r"\bserver_management_(?!ee\b)(?!module\b)([a-z]\w+)"
    assert sorted(names_in(pattern)) == sorted(_models.FIELDS)


def test_documents_name_settings_that_ansible_has():
    settings = set(NO_SETTINGS)
    for setting in constants.config.get_configuration_definitions(ignore_private=False).values():
        settings.update(variable["name"] for variable in setting.get("env", []))
    assert sorted(names_in(r"\bANSIBLE_[A-Z_]+\b").keys() - settings) == []


def test_documents_compare_with_the_address_of_a_server_without_one():
    assert set(names_in(r"""['"](no-usable[^'"]+)['"]""")) == {_hosts.NO_ADDRESS}


def test_documents_name_variables_that_playbooks_read():
    known = set()
    for text in PLAYBOOKS.values():
        known.update(re.findall(r"\w+", text))
    for name, page in names_in(rf"\b(?:{'|'.join(PLAYBOOKS)})_\w+").items():
        assert name in known, page


def test_the_reference_of_the_playbooks_lists_variables_that_they_read():
    playbook = ""
    page = read("docs/docsite/rst/playbooks.rst")
    for first, meaning in re.findall(r"^ +\* - (.+)\n +- (.+(?:\n {7}.+)*)$", page, re.M):
        if heading := re.match(r"\*\*(\w+)\*\*", first):
            playbook = PLAYBOOKS[heading[1]]
        elif playbook:
            default = re.search(r": ``([^`]+)``$", meaning)
            value = rf"(: | \| default\(){re.escape(default[1])}" if default else ""
            for name in re.findall(r"``(\w+)``", first):
                assert re.search(rf"\b{name}{value}\b", playbook), name


def test_the_events_guide_sets_the_variables_of_the_rulebook():
    variables = yaml.safe_load(read_files("events")["variables.yml"])
    rulebook = read("extensions/eda/rulebooks/set_up_new_servers.yml")
    assert [*variables] == re.findall(r"{{ (\w+) \| default\(", rulebook)


def test_examples_name_codes_of_errors():
    codes = set()
    for error in vars(_errors).values():
        codes.add(getattr(error, "code", None))
    for pattern in (r"error\.code[^'\n]*(?:''[^'\n]*)?'(\w+)'", r"with the code ``(\w+)``"):
        for name, page in names_in(pattern).items():
            assert name in codes, page
    for names, page in names_in(r"temporary: \[(.+)\]").items():
        assert set(names.split(", ")) <= codes, page


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {VERSION}\n" in read("galaxy.yml")
    installed = set()
    for page in [*REPOSITORY.glob("docs/docsite/rst/*.rst"), REPOSITORY / "README.md"]:
        release = r"(\d+\.\d+\.\d+(?:-[a-z]+\.?\d*)?)"
        named = re.findall(rf"(?:cloud:==|cloud-| version: \W*){release}", read(page))
        installed.update(named)
    assert installed == {VERSION}


def test_documents_name_the_scope_of_the_listing():
    # That of an operation that is not live follows it: "... is not yet live: it needs the scope".
    pattern = r"(?i)(?<!live\W it needs the )(?:scope|only)\s(?:C\(|`*)(\w+:\w+)"
    assert set(names_in(pattern)) == {_operations.LIST_SERVERS.scope}


# Sentences that documents must have. Names in braces are values of the code, in LIMITS.
LIMITS = {
    "connection": f"{_http._LONGEST_CONNECT:.0f} seconds",
    "wait": f"{_client._LONGEST_WAIT:.0f} seconds",
    "first": {0.5: "half a second"}.get(_client._FIRST_WAIT, "another wait"),
    "bytes": f"{_http.LIMIT >> 20} MiB",
    "pages": f"{_client._MAX_PAGES:,} pages",
    "name": f"{_names._LONGEST} characters",
    "interval": f"{ARGUMENTS['interval']['default']:.0f} seconds",
    "pause": {3600.0: "one hour"}.get(_polling._MAX_PAUSE, "another pause"),
    "scope": _operations.LIST_SERVERS.scope,
    **VARIABLES,
}
FACTS = yaml.safe_load("""
README.md:
- "Live, with the scope `{scope}`:"
- You need ansible-core 2.16, Python 3.10 and `requests` 2.28, or later
- ansible-core 2.16 to 2.22 (a release candidate), each on one of Python 3.10 to 3.14
- "`requests` 2.28 and later"
- "`pipx inject ansible-core requests`"
- "`uv tool install ansible-core --with requests`"
docs/docsite/rst/guide_quickstart.rst:
- must show ansible-core 2.16 or later, and ``python version`` 3.10 or later.
- with ``--upgrade`` for a newer version or ``--force`` for the same one.
docs/docsite/sphinx/index.rst:
- ansible-core 2.16 to 2.22
- Python 3.10 and later
requirements.txt: ['requests>=2.28.0']
meta/runtime.yml: ['requires_ansible: ">=2.16.0"']
plugins/doc_fragments/connection.py:
- A connection has at most {connection} for each address of a name
- A TLS handshake has at most {connection} as well.
- one of the HTTP statuses 408, 429 and 500 to 599.
- The wait before the first one is at most {first}, and doubles each time, up to {wait}.
- A C(Retry-After) of up to {wait} is honored
- the variable of this option takes precedence over the one of O(api_token_file).
docs/docsite/rst/guide_inventory.rst:
- names longer than {name}
- "Each level overrides those above it:"
- 0 means forever
- "``cache_timeout: 1`` sends a request at each run."
- "``Retry-After`` is honored up to {wait}."
docs/docsite/rst/guide_connecting.rst:
- The file, by default ``~/.ssh/config.d/server_management.conf``.
playbooks/ssh_config.yml: ['ssh_config_file: ~/.ssh/config.d/server_management.conf']
plugins/inventory/servers.py:
- A name can't be used if it is longer than {name}
docs/docsite/rst/guide_trust.rst:
- The scope ``{scope}`` is sufficient for everything that is live.
- A listing has at most {bytes} after decompression, and {pages}.
docs/docsite/rst/guide_troubleshooting.rst:
- Each address of the name is tried for at most {connection}.
- The event source logs waits at the level ``INFO``, and requests at ``DEBUG``.
- "``server`` and ``fleet_info`` ignore ``allow_partial``"
docs/docsite/rst/guide_events.rst:
- with Python 3.10 or later
- "``Retry-After`` is honored up to {pause}."
- The rulebook ``set_up_new_servers`` polls every {interval}
plugins/modules/server_info.py:
- The servers, in the order of the API's response.
docs/docsite/rst/guide_token.rst:
- 2. The environment variable ``{api_token}``. 3. The environment variable ``{api_token_file}``
""")


@pytest.mark.parametrize("path", FACTS)
def test_a_document_has_these_sentences(path):
    text = " ".join(read(path).split())
    sentences = [fact.format(**LIMITS) for fact in FACTS[path]]
    assert [sentence for sentence in sentences if sentence not in text] == []


# What is not a constant of the code in the headings of Troubleshooting: values, and text of Ansible
# and of the system.
OTHER_TEXTS = """
regions
exclude: server_management_name ==
web-01 (srv_4f2a91c07d): Syntax error in expression: unexpected 'end of template'
api_token_file: /etc/ansible/token
no such file or directory.
api.example.com:443
proxy.example.com:3128: connection refused.
10 s.
/usr/bin/python3.8 is 3.8.
the 100
nginx (srv_1) is nginx_srv_1. nginx
1 server
2
web-01 (srv_1), web-02 (srv_2), with 192.0.2.10.
web.
"srv#1".
[ERROR]: Specified inventory, host pattern and/or --limit leaves us with no hosts to target.
""".splitlines()


def texts_of_code():
    """Return the parts of messages that the code has: texts of more than a word."""
    found = set()
    for path in REPOSITORY.glob("plugins/**/*.py"):
        for node in ast.walk(ast.parse(read(path))):
            text = getattr(node, "value", None)
            if isinstance(text, str) and " " in text and len(text) > 7:
                found.add(text.strip())
    return found


def test_an_explained_message_exists():
    guide = read("docs/docsite/rst/guide_troubleshooting.rst")
    _start, explained = guide.split("Inventory file\n-")
    parts = sorted([*texts_of_code(), *OTHER_TEXTS], key=len, reverse=True)
    one_part = "|".join(re.escape(part) for part in parts if part)
    headings = re.findall(r"^``(.+)``$", explained, re.M)
    assert headings
    for heading in headings:
        assert re.fullmatch(rf"(?:(?:{one_part})[^\w\s]?\s*)+", heading), heading
