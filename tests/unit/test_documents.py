# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare names and numbers in the documents with the code, and pages with each other."""

import ast
import re
from configparser import ConfigParser

import pytest
import yaml
from ansible import constants
from ansible.plugins.connection import ssh

from ansible_collections.server_management.cloud.plugins.module_utils import (
    _client,
    _errors,
    _failures,
    _http,
    _models,
    _operations,
    _options,
    _request,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils import (
    _config,
    _hosts,
    _names,
    _polling,
)
from support.collection import REPOSITORY, read, read_yaml, sources
from support.guides import GUIDES, read_blocks, read_files
from support.places import NAMES, differences
from tools.benchmark import __main__ as benchmark

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


OF_SSH = yaml.safe_load(ssh.DOCUMENTATION)["options"]


@pytest.mark.parametrize("page", ["production", "quickstart", "connecting"])
def test_files_of_settings_have_settings_that_ansible_has(page):
    known = set()
    for setting in (*SETTINGS, *OF_SSH.values()):
        known.update((entry["section"], entry["key"]) for entry in setting.get("ini", []))
    shown = ConfigParser(interpolation=None)
    shown.read_string(read_files(page)["ansible.cfg"])
    for section in shown.sections():
        for key in shown[section]:
            assert (section, key) in known


def test_documents_compare_with_the_address_of_a_server_without_one():
    assert set(names_in(r"""['"](no-usable[^'"]+)['"]""")) == {_hosts.NO_ADDRESS}


def test_documents_name_variables_that_playbooks_read():
    known = set()
    for text in PLAYBOOKS.values():
        known.update(re.findall(r"\w+", text))
    prefixes = "|".join(PLAYBOOKS)
    for name, page in names_in(rf"\b(?:{prefixes})_\w+").items():
        assert name in known, page


# A row of a table with two columns.
ROW = re.compile(r"^ +\* - (.+)\n +- (.+(?:\n {7}.+)*)$", re.M)


@pytest.mark.parametrize(("page", "only"), [("modules", ""), ("connecting", "ssh_config")])
def test_the_reference_of_the_playbooks_lists_variables_that_they_read(page, only):
    playbook = PLAYBOOKS.get(only)
    for first, meaning in ROW.findall(read(f"docs/docsite/rst/guide_{page}.rst")):
        if heading := re.match(r"\*\*(\w+)\*\*", first):
            playbook = PLAYBOOKS[heading[1]]
        elif playbook:
            default = re.search(r"(?:: |by default )``([^`]+)``(?:$|[.;])", meaning)
            value = ""
            if default:
                value = rf"(: | \| default\(){re.escape(default[1])}"
            for name in re.findall(r"``(\w+)``", first):
                assert re.search(rf"\b{name}{value}\b", playbook), name


def test_the_events_guide_sets_the_variables_of_the_rulebook():
    variables = yaml.safe_load(read_files("events")["variables.yml"])
    rulebook = read("extensions/eda/rulebooks/set_up_new_servers.yml")
    for text in ("can't be listed", "can be listed again"):
        assert f"The servers {text}" in rulebook
    defaults = re.findall(r"{{ (\w+) \| default\((.*)\)", rulebook)
    assert defaults == [(name, f"{_polling.ARGUMENTS[name]['default']:.0f}") for name in variables]


def test_the_events_guide_requires_what_the_tests_install():
    guide = read("docs/docsite/rst/guide_events.rst")
    installed = read("tests/programs/rulebook/requirements.txt")
    (java,) = re.findall(r"Java \d+", guide)
    (tested,) = re.findall(r"\(tested: (.+?)\)", guide)
    assert java in installed
    assert f"ansible-rulebook~={tested}\n" in installed


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


def test_documents_have_the_times_of_the_help():
    of_help = re.findall(r'"make (\w+) +(\d+) min  ', read("Makefile"))
    page = read("CONTRIBUTING.md")
    of_page = re.findall(r"`make (\w+)`(?: \||.*\D) (\d+) minute", page)
    of_page += re.findall(r"`make (\w+)` takes (a|two) minute", read("README.md"))
    assert len(of_page) == 9
    numbers = {"a": "1", "two": "2"}
    assert {(name, numbers.get(time, time)) for name, time in of_page} <= {*of_help}


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


def test_the_development_guide_names_what_files_have():
    guide = read("docs/docsite/rst/guide_development.rst")
    places = re.findall(r"(?:``(\w+)``\s+in\s+)?``(?:[\w/]+/)?(\w+\.py)``", guide)
    assert len(places) > 9
    files = sources()
    for name, file in places:
        found = [path for path in files if path.rpartition("/")[2] == file]
        text = "".join(map(read, found))
        assert re.search(rf"\b{name}\b", text), name


def test_documents_name_the_scope_of_the_listing():
    # That of an operation that is not live follows it: "... is not yet live: it needs the scope".
    pattern = r"(?i)(?<!live\W it needs the )(?:scope|only)\s(?:C\(|`*)(\w+:\w+)"
    assert set(names_in(pattern)) == {_operations.LIST_SERVERS.scope}


# The limits of the code, as documents state them.
CONNECTION = f"{_http._LONGEST_CONNECT:.0f} seconds"
WAIT = f"{_client._LONGEST_WAIT:.0f} seconds"
FIRST = {0.5: "half a second"}[_client._FIRST_WAIT]
SIZE = f"{_http.LIMIT >> 20} MiB"
PAGES_READ = f"{_client._MAX_PAGES:,} pages"
NAME = f"{_names._LONGEST} characters"
INTERVAL = f"{_polling.ARGUMENTS['interval']['default']:.0f} seconds"
PAUSE = {3600.0: "one hour"}[_polling._MAX_PAUSE]
AMOUNT = r"\b(\d[\d,]* (?:seconds|MiB|pages|characters)|half a second|one hour)\b"
LIMITS = {
    "plugins/doc_fragments/connection.py": {CONNECTION, WAIT, FIRST},
    "plugins/inventory/servers.py": {NAME},
    "docs/docsite/rst/guide_inventory.rst": {NAME, WAIT},
    "docs/docsite/rst/guide_trust.rst": {SIZE, PAGES_READ},
    "docs/docsite/rst/guide_troubleshooting.rst": {CONNECTION},
    "docs/docsite/rst/guide_events.rst": {INTERVAL, PAUSE, "30 seconds"},  # of the example
    "extensions/eda/plugins/event_source/servers.py": {PAUSE},
}


@pytest.mark.parametrize("path", LIMITS)
def test_a_document_states_the_limits_of_the_code(path):
    text = " ".join(read(path).split())
    amounts = set(re.findall(AMOUNT, text))
    assert amounts == LIMITS[path]


def test_the_option_retries_names_the_statuses_that_are_tried_again():
    temporary = []
    for status in range(300, 700):
        response = _request.Response(status, {}, _request.Route("http://a/"))
        if _failures.status_error(response, _operations.LIST_SERVERS, "x", "").is_temporary:
            temporary.append(status)
    fragment = read("plugins/doc_fragments/connection.py")
    (found,) = re.findall(r"statuses (\d+), (\d+) and (\d+) to (\d+)\b", fragment)
    first, second, start, end = map(int, found)
    assert temporary == [first, second, *range(start, end + 1)]


def test_documents_install_requests_as_the_message_says(monkeypatch):
    monkeypatch.setattr("sys.prefix", "/home/a/.local/share/pipx/venvs/ansible-core")
    missing = _failures.unusable_requests(ModuleNotFoundError(name="requests"))
    (command,) = re.findall("`(.+)`", missing.next_step)
    for page in ("README.md", "docs/docsite/rst/guide_quickstart.rst"):
        assert command in read(page), page


def test_the_guide_lists_the_options_that_may_be_encrypted():
    guide = read("docs/docsite/rst/guide_inventory.rst")
    (sentence,) = re.findall(r"\(``!vault``\) can be in ([^.]+)\.", guide)
    assert re.findall(r"``(\w+)``", sentence) == [*_config._MAY_BE_ENCRYPTED]


def test_the_inventory_file_is_read_after_the_static_hosts():
    guide = read("docs/docsite/rst/guide_moving.rst")
    (order,) = re.findall(r"whose name comes (\w+) in the alphabet", guide)
    hosts, ours = re.findall(r"# static/(\S+)", guide)[:2]
    assert order == ("later" if hosts < ours else "earlier")


def test_the_diagrams_name_options_and_modules_that_exist():
    names = {"regions", "hostvars_prefix", "group_by", *_config.EXPRESSION_OPTIONS}
    names |= {"server_info", "fleet_info", "api_info"}
    shown = read("docs/host.svg") + read("docs/overview.svg")
    assert names - set(re.findall(r"\w+", shown)) == set()


def test_connections_are_kept_by_server():
    # Of the tokens of ssh, only %k is the HostKeyAlias.
    guide = read("docs/docsite/rst/guide_connecting.rst")
    (path,) = re.findall(r"control_path = (.+)", guide)
    assert re.findall(r"%%(\w)", path) == ["k", "p", "r"]
    (seconds,) = re.findall(r"For (\d+) seconds, Ansible reuses", guide)
    assert f" ControlPersist={seconds}s" in OF_SSH["ssh_args"]["default"]


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


def test_each_account_of_the_guide_has_its_own_token_group_and_prefix():
    files = read_files("inventory")
    accounts = [path for path in files if path.startswith("accounts/")]
    for path in accounts:
        name = path.removeprefix("accounts/").partition(".")[0]
        assert f"/{name}/token\ngroup: {name}\nhostnames: [\"'{name}-' ~" in files[path]
    assert len(accounts) == 2


def test_the_guide_orders_the_places_of_a_token_as_they_are_read():
    guide = read("docs/docsite/rst/guide_token.rst")
    numbered = re.findall(r"^#?\d?\. .*``(SERVER_MANAGEMENT_API_TOKEN\w*)``", guide, re.M)
    assert numbered == [_options.VARIABLES["api_token"], _options.VARIABLES["api_token_file"]]


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
no hosts matched
Could not match supplied host pattern
world writable directory
unknown plugin
web-01_srv_...
Could not resolve hostname web-02
UNREACHABLE
Connection timed out
Permission denied
Host key verification failed
No user exists for uid 1000
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


def test_the_readme_and_the_start_page_list_the_same_tasks():
    pattern = r"^- \[([^]]+)\]\(docs/docsite/rst/(\w+)\.rst"
    tasks = re.findall(pattern, read("README.md"), re.M)
    pattern = r"^- :ref:`([^<]+) <ansible_collections\.server_management\.cloud\.docsite\.(\w+)"
    on_site = re.findall(pattern, read("docs/docsite/sphinx/index.rst"), re.M)
    assert tasks
    assert tasks == on_site


def test_the_readme_shows_the_inventory_of_the_quick_start():
    of_readme = read_blocks(REPOSITORY / "README.md")
    of_guide = read_blocks(GUIDES / "guide_quickstart.rst")
    file, command, _ping, graph, *_others = [block.text for block in of_readme]
    shown = []
    for block in of_guide:
        shown += [block.text, *block.commands()]
    assert file in shown
    assert (command.strip(), graph) in shown


def test_the_page_explains_the_options_of_the_file_for_production():
    options = yaml.safe_load(read_files("production")["production.server_management.yml"])
    page = read("docs/docsite/rst/guide_production.rst")
    for option in options.keys() - {"plugin", "base_url", "cache_plugin", "cache_connection"}:
        assert f"``{option}``" in page, option
    assert "for a minute and, if the API fails, for a day" in page
    assert (options["cache_timeout"], options["stale_cache_timeout"]) == (60, 24 * 60 * 60)
    numbers = re.findall(r"stale_cache_timeout: (\d+)", "".join(map(read, PAGES)))
    assert set(numbers) == {str(options["stale_cache_timeout"])}


def test_each_guide_is_in_the_contents():
    listed = []
    for section in read_yaml("docs/docsite/extra-docs.yml")["sections"]:
        listed += section["toctree"]
    guides = [path.stem for path in GUIDES.glob("*.rst")]
    assert sorted(listed) == sorted(guides)
    start = read("docs/docsite/sphinx/index.rst")
    for page in listed:
        assert f"docsite/{page}" in start, page


def test_documents_have_the_sentences_that_tests_prove():
    tests = set()
    for file in REPOSITORY.glob("tests/*/**/test_*.py"):
        tests.update(re.findall(r"^def (test_\w+)", read(file), re.M))
    faults = []
    for path, proofs in read_yaml("tests/sentences.yml").items():
        text = " ".join(read(path).split())
        for part, test in proofs.items():
            if part not in text:
                faults.append(f"{path} lacks what {test} proves: {part}")
            if test not in tests:
                faults.append(f"{path}: no test has the name {test}, which proved: {part}")
    assert faults == []


def test_the_benchmarks_describe_what_is_measured():
    page = read("docs/benchmarks.md")
    described = dict(re.findall(r"^\| (.+?) \| (.+) \|$", page, re.M))
    rows = described.keys() - {"source", "---"} | {"empty inventory", "direct calls"}
    assert rows == benchmark.SOURCES.keys()
    figures = [float(figure) for figure in described["this collection"].split(" | ")]
    assert f"takes {min(figures):.1f} to {max(figures):.1f} times" in page
    conditions = {**benchmark.CONDITIONS, **benchmark.NAMES["groups"]}
    for expression in (benchmark.FQDN, *conditions.values()):
        assert f"`{expression}`" in page


def test_each_place_has_what_the_tables_have():
    assert differences() == []


def test_no_sentence_lists_what_the_table_of_fields_lists():
    tables = [{*NAMES["fields that group"]}, {*NAMES["options that select"]}]
    complete = []
    documents = [page for page in PAGES if page.name[0] != "_"]
    for path in documents:
        text = re.sub(r"\b[A-Z]+\(|[)`*]", "", read(path))
        for names in re.findall(r"(?:\w+,\s+)+\w+\s+(?:and|or)\s+\w+", text):
            words = set(re.findall(r"\w+", names))
            if any(words >= table for table in tables):
                complete.append(f"{path.name}: {names}")
    assert complete == []
