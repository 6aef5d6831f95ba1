# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare names, limits and messages in the documents with the code."""

import ast
import re
import shlex
from configparser import ConfigParser
from importlib import import_module

import pytest
from ansible import constants
from ansible.utils.display import Display

from ansible_collections.server_management.cloud.plugins.module_utils import (
    _client,
    _errors,
    _http,
    _models,
    _options,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils import _names, _polling
from support.collection import REPOSITORY, read, read_yaml
from support.guides import GUIDES, read_commands, read_files
from support.places import PLACES, USABLE, differences

PATTERNS = ("*.md", "*.rst", "docs/**/*.rst", "plugins/**/*.py")
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
    assert sorted(names_in(r"\bSERVER_MANAGEMENT_\w+")) == sorted(_options.VARIABLES.values())


def test_documents_name_variables_that_hosts_have():
    pattern = r"\bserver_management_(?!ee\b)(?!module\b)([a-z]\w+)"
    assert sorted(names_in(pattern)) == sorted(_models.FIELDS)


SETTINGS = constants.config.get_configuration_definitions(ignore_private=False).values()


def test_documents_name_settings_that_ansible_has():
    settings = set(NO_SETTINGS)
    for setting in SETTINGS:
        settings.update(variable["name"] for variable in setting.get("env", []))
    assert sorted(names_in(r"\bANSIBLE_[A-Z_]+\b").keys() - settings) == []


@pytest.mark.parametrize("page", ["production", "quickstart"])
def test_files_of_settings_have_settings_that_ansible_has(page):
    known = set()
    for setting in SETTINGS:
        known.update((entry["section"], entry["key"]) for entry in setting.get("ini", []))
    shown = ConfigParser(interpolation=None)
    shown.read_string(read_files(page)["ansible.cfg"])
    for section in shown.sections():
        for key in shown[section]:
            assert (section, key) in known


# Without those of other programs, and without --version, which ends the program.
OTHERS = ("ansible-builder", "ansible-navigator", "ansible-rulebook")
COMMANDS = {
    shlex.join(command): command
    for command in read_commands()
    if command[0] not in OTHERS and command[1] != "--version"
}


@pytest.mark.parametrize("shown", COMMANDS)
def test_ansible_accepts_the_commands_of_the_guides(shown, monkeypatch):
    monkeypatch.setattr(Display(), "verbosity", 0)  # -v would stay for other tests
    program, *arguments = COMMANDS[shown]
    name = program.removeprefix("ansible").strip("-") or "adhoc"
    module = import_module(f"ansible.cli.{name}")
    (kind,) = [value for value in vars(module).values() if getattr(value, "name", "") == program]
    cli = kind([program, *arguments])
    cli.init_parser()
    cli.post_process_args(cli.parser.parse_args(arguments))


def test_documents_name_variables_that_playbooks_read():
    known = set()
    for text in PLAYBOOKS.values():
        known.update(re.findall(r"\w+", text))
    prefixes = "|".join(PLAYBOOKS)
    for name, page in names_in(rf"\b(?:{prefixes})_\w+").items():
        assert name in known, page


def test_examples_name_codes_of_errors():
    codes = set()
    temporary = set()
    for error in vars(_errors).values():
        code = getattr(error, "code", None)
        codes.add(code)
        if getattr(error, "is_temporary", False):
            temporary.add(code)
    for pattern in (r"error\.code[^'\n]*(?:''[^'\n]*)?'(\w+)'", r"with the code ``(\w+)``"):
        for name, page in names_in(pattern).items():
            assert name in codes, page
    for names, page in names_in(r"temporary: \[(.+)\]").items():
        assert set(names.split(", ")) == temporary, page


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {_options.VERSION}\n" in read("galaxy.yml")
    installed = set()
    for page in [*REPOSITORY.glob("docs/docsite/rst/*.rst"), REPOSITORY / "README.md"]:
        release = r"(\d+\.\d+\.\d+(?:-[a-z]+\.?\d*)?)"
        named = re.findall(rf"(?:cloud:==|cloud-| version: \W*){release}", read(page))
        installed.update(named)
        tarballs = re.findall(r"[\w-]+-[\d.]+\.tar\.gz", read(page))
        assert set(tarballs) <= {f"server_management-cloud-{_options.VERSION}.tar.gz"}
    assert installed == {_options.VERSION}


# The limits of the code, as documents state them.
CONNECTION = f"{_http._LONGEST_CONNECT:.0f} seconds"
WAIT = f"{_client._LONGEST_WAIT:.0f} seconds"
FIRST = {0.5: "half a second"}[_client._FIRST_WAIT]
SIZE = f"{_http.LISTING_LIMIT >> 20} MiB"
PAGES_READ = f"{_client._MAX_PAGES:,} pages"
NAME = f"{_names._LONGEST} characters"
INTERVAL = f"{_polling.ARGUMENTS['interval']['default']:.0f} seconds"
PAUSE = {3600.0: "one hour"}[_polling._MAX_PAUSE]
AMOUNT = r"\b(\d[\d,]* (?:seconds|MiB|pages|characters)|half a second|one hour)\b"
LIMITS = {
    "plugins/doc_fragments/connection.py": {CONNECTION, WAIT, FIRST},
    "plugins/inventory/servers.py": {NAME},
    "docs/docsite/rst/guide_trust.rst": {SIZE, PAGES_READ},
    "docs/docsite/rst/guide_troubleshooting.rst": {CONNECTION},
    "docs/docsite/rst/guide_events.rst": {INTERVAL, PAUSE},
    "extensions/eda/plugins/event_source/servers.py": {PAUSE},
}


@pytest.mark.parametrize("path", LIMITS)
def test_a_document_states_the_limits_of_the_code(path):
    text = " ".join(read(path).split())
    amounts = set(re.findall(AMOUNT, text))
    assert amounts >= LIMITS[path]


def test_files_of_the_guide_keep_the_check_of_host_keys():
    files = "".join(read_files("connecting").values())
    assert set(re.findall(r"KeyChecking=(\S+)", files)) == {"accept-new"}
    assert names_in(r"KeyChecking=([\w-]+)").keys() == {"accept-new", "yes"}


def test_files_with_a_token_or_a_listing_are_only_for_their_user():
    pages = "".join(map(read, GUIDES.glob("*.rst")))
    assert set(re.findall(r"(\S+ \S+) cat >", pages)) == {"(umask 077;"}
    assert set(re.findall(r"install -d(?: -m)? (\S+)", pages)) == {"700"}
    # As umask 077 makes it; the files that examples write are for everybody.
    assert set(re.findall(r"\bmode(?:\s+is)?\s+(\d+)", pages)) == {"0600"}
    assert set(re.findall(r'\bmode: "(\d+)"', pages)) == {"0644"}


# What is not a constant of the code in the headings of Troubleshooting: values, and text of Ansible
# and of the system.
OTHER_TEXTS = """
regions
api_token_file: /etc/ansible/token
no such file or directory.
api.example.com:443
proxy.example.com:3128: connection refused.
10 s.
/usr/bin/python3.8 is 3.8.
100
nginx (srv_1) is nginx_srv_1. nginx
1 server
2 servers: web-01 (srv_1), web-02 (srv_2), with 192.0.2.10.
web.
"srv#1".
[ERROR]: Specified inventory, host pattern and/or --limit leaves us with no hosts to target.
""".strip().splitlines()


# Texts of others in the table of symptoms.
OTHER_SYMPTOMS = """
HTTP 503
unknown plugin
""".strip().splitlines()


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
    start, explained = guide.split("Inventory file\n-")
    texts = texts_of_code().union(OTHER_TEXTS)
    first_column = "\n".join(re.findall(r"^   \* - (.+)$", start, re.M))
    symptoms = re.findall(r"``(.+?)``", first_column)
    parts = sorted(texts, key=len, reverse=True)
    one_part = "|".join(map(re.escape, parts))
    is_known = re.compile(rf"(?:(?:{one_part})[^\w\s]?\s*)+").fullmatch
    headings = re.findall(r"^``(.+)``$", explained, re.M)
    assert headings
    assert [heading for heading in headings if not is_known(heading)] == []
    known = "\n".join(texts)
    others = [text for text in symptoms if text.partition(" ... ")[0] not in known]
    assert others == OTHER_SYMPTOMS


def test_each_guide_is_in_the_contents():
    listed = []
    for section in read_yaml("docs/docsite/extra-docs.yml")["sections"]:
        listed += section["toctree"]
    guides = [path.stem for path in GUIDES.glob("*.rst")]
    assert sorted(listed) == sorted(guides)
    start = read("docs/docsite/sphinx/index.rst")
    for page in listed:
        assert f"docsite/{page}" in start, page


CASES = [(table, *place) for table, places in PLACES.items() for place in places]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ", ".join(case[:3]))
def test_a_place_has_what_its_table_has(case):
    assert differences(*case) == []


# Where messages, documents and _unknown_names.py say what the API does not have.
DENIALS = r"API has no \w+|^   \* - .*\n     - Nothing: the API|(?s:^_NARROWING = \(.*?\))"


def test_nothing_says_that_the_api_lacks_a_field_that_it_has():
    for page in PAGES:
        denials = " ".join(re.findall(DENIALS, read(page), re.MULTILINE))
        words = re.findall(r"\w+", denials)
        assert {*_models.FIELDS, *_models.SELECTING_OPTIONS}.isdisjoint(words), page


@pytest.mark.parametrize("module", USABLE)
def test_a_module_is_run_by_its_integration_target(module):
    target = f"tests/integration/targets/{module}"
    assert f" server_management.cloud.{module}:" in read(f"{target}/tasks/main.yml")
    assert "needs/target/setup_sandbox\n" in read(f"{target}/aliases")
