# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the examples of the guides and the README, and compare their statements with the code."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from string import Template
from typing import ClassVar

import pytest
import yaml
from ansible.release import __version__ as ansible_version
from packaging.specifiers import SpecifierSet

from ansible_collections.server_management.cloud.plugins.inventory import servers
from sandbox import Sandbox
from sandbox.account import example_servers
from sandbox.cli import parse_fault
from support.collection import REPOSITORY
from support.guides import Block, read_blocks, read_files
from support.run import Result, without_white_space, write_inventory
from tools.picture import TITLES, cut_graph, read_picture

ADDRESS = "https://api.example.com"
README = REPOSITORY / "README.md"
QUICK_START = REPOSITORY / "docs/docsite/rst/guide_quickstart.rst"
MESSAGES = REPOSITORY / "docs/docsite/rst/guide_troubleshooting.rst"
FOLDERS = ("inventory", "modules", "module_utils", "plugin_utils")
SPEAKERS = [path for folder in FOLDERS for path in REPOSITORY.glob(f"plugins/{folder}/*.py")]
PAGES = [README, *sorted(REPOSITORY.glob("docs/docsite/rst/*.rst"))]
# What the quick start enters instead of that address without an account, and what then also differs
# in the output.
LOCAL_ADDRESS = "http://127.0.0.1:8080"
LOCAL_LINES = re.compile(
    r' *"ansible_(?:connection": "local|python_interpreter": "auto_silent)",\n'
)
# Where the collection can be installed from: a checkout, git, a tarball or Galaxy.
_ORIGIN = re.compile(r"(?<=collection install )[^-]\S*")
# What a reader has already.
FILES = {
    "prod.server_management.yml": (
        f"{{plugin: server_management.cloud.servers, base_url: {ADDRESS}, "
        "api_token_file: ~/.config/server_management/token}\n"
    ),
    "site.yml": "- hosts: all\n  gather_facts: false\n  tasks: [{ansible.builtin.ping: }]\n",
}


class Reader:
    """Run the steps of a page in a separate folder.

    All origins of the collection become one tarball, so its installation is the same on all pages.
    """

    installs: ClassVar[dict[str, Result]] = {}

    def __init__(self, runner, sandbox, tarball):
        self.runner = runner
        self.sandbox = sandbox
        self.tarball = tarball
        self.folder = runner.home / "work"
        self.folder.mkdir()
        for name, text in FILES.items():
            self.write(name, text)
        self.write("../.config/server_management/token", sandbox.token)
        self.accounts = {"PROD_API_TOKEN": sandbox.token, "STAGING_API_TOKEN": sandbox.token}
        # No machine responds at the servers' addresses.
        runner.environment.update(
            self.accounts,
            ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED="true",
            ANSIBLE_TRANSPORT="local",
        )

    def translate(self, text):
        """Put the sandbox where the page has the API, and the tarball where it has Galaxy."""
        where = self.sandbox.url.partition("//")[2]
        text = text.replace("name: server_management.cloud\n", f"name: {self.tarball}\n")
        for address in (ADDRESS, LOCAL_ADDRESS):
            text = text.replace(address, self.sandbox.url)
        return text.replace("api.example.com:443", where)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.translate(text), encoding="utf-8")
        return path

    def follow(self, block):
        """Write the file of a block, or enter its commands."""
        if block.name:
            self.write(block.name, block.text)
        elif block.language == "console" and is_for_this_core(block):
            self.type(block)

    def type(self, block):
        """Run the commands of a console block, and compare their output with that on the page."""
        if ".ssh/config" in block.text and not has_program(self.runner, "ssh"):
            return
        self.sandbox.recover()
        if block.fault:
            fault, targets = parse_fault(block.fault)
            self.sandbox.fail(fault, **targets)
        for command, shown in block.commands():
            result = self.enter(command)
            has_failed = result.rc != 0
            assert has_failed is block.fails, f"line {block.line}: {result}"
            output = LOCAL_LINES.sub("", result.output)
            output = output.replace("127.0.2.", "192.0.2.")
            assert is_shown(self.translate(shown), output), f"line {block.line}: {result}"

    def enter(self, command):
        """Run a command, or a substitute if it needs a network, never ends or takes too long."""
        folder = self.folder
        if command.startswith("export "):
            name, _equals, value = self.translate(command.removeprefix("export ")).partition("=")
            (value,) = shlex.split(value)
            self.runner.environment[name] = Template(value).substitute(self.runner.environment)
            return Result((command,), 0, "", "")
        if command.startswith("unset "):
            self.runner.environment.pop(command.removeprefix("unset "))
            return Result((command,), 0, "", "")
        if command.startswith("make "):
            folder, command = REPOSITORY, command.replace("make", "make --dry-run", 1)
        elif command.startswith("python3 tests/sandbox "):
            # The help names the token that the sandbox takes.
            folder, command = REPOSITORY, f"{command} --help >/dev/null"
        elif command == "python3 -m pip install requests":
            command = "python3 -c 'import requests'"
        elif command.startswith("ansible-galaxy collection install "):
            command = (
                _ORIGIN.sub(shlex.quote(str(self.tarball)), command) + " --offline -p collections"
            )
        if command in self.installs:
            return self.installs[command]
        shell = ("sh", "-c", self.translate(command))
        result = self.runner.run(*shell, cwd=folder, stdin=self.sandbox.token)
        # What was installed has the tests in it, and so the tokens that no file may have.
        shutil.rmtree(self.folder / "collections", ignore_errors=True)
        if str(self.tarball) in command:
            self.installs[command] = result
        return result

    def try_all(self, blocks):
        """Run all YAML blocks without a name: one command for inventory files, one for tasks."""
        env = self.sandbox.environment
        plays = []
        sources = []
        for block in blocks:
            content = yaml.safe_load(self.translate(block.text))
            if isinstance(content, dict):
                name = f"line_{block.line}.server_management.yml"
                path = write_inventory(self.folder, content, name)
                sources += ["-i", str(path)]
            elif "hosts" in content[0]:
                plays += content
            else:
                plays.append({"hosts": "localhost", "gather_facts": False, "tasks": content})
        if sources:
            result = self.runner.inventory(*sources, "--list", env=env, cwd=self.folder).ok()
            assert result.stderr == ""
            assert result.json()["_meta"]["hostvars"]
        if plays:
            playbook = self.write("snippets.yml", yaml.safe_dump(plays, sort_keys=False))
            self.runner.playbook("--check", "--diff", playbook, env=env, cwd=self.folder).ok()


def has_program(runner, name):
    return shutil.which(name, path=runner.environment["PATH"]) is not None


def is_for_this_core(block):
    return SpecifierSet(block.cores).contains(ansible_version, prereleases=True)


def is_shown(shown, output):
    """Return whether an output contains a text, ignoring white space; ... stands for any text."""
    rest = without_white_space(output)
    # A line of dots first: the line before it can end with a full stop.
    for text in re.split(r"(?m)^\s*\.\.\.$|\.\.\.", shown):
        piece = without_white_space(text)
        if piece not in rest:
            return False
        rest = rest[rest.index(piece) + len(piece) :]
    return True


OTHER_PAGES = [page for page in PAGES if page != QUICK_START]


@pytest.mark.parametrize("page", OTHER_PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_happens(page, runner, tarball):
    blocks = read_blocks(page)
    with Sandbox(servers=example_servers("documentation")) as api:
        reader = Reader(runner, api, tarball)
        for block in blocks:
            reader.follow(block)
        api.recover()
        snippets = [block for block in blocks if block.language == "yaml" and not block.name]
        reader.try_all(snippets)


def test_the_quick_start_works_without_an_account(runner, tarball):
    blocks = read_blocks(QUICK_START)
    (inventory,) = [block for block in blocks if f"base_url: {LOCAL_ADDRESS}" in block.text]
    with Sandbox(servers=example_servers()) as api:
        reader = Reader(runner, api, tarball)
        # Connections are those of the inventory file.
        for name in ("ANSIBLE_TRANSPORT", "ANSIBLE_PYTHON_INTERPRETER"):
            del runner.environment[name]
        for block in blocks:
            is_inventory = block.name == inventory.name
            reader.follow(inventory if is_inventory else block)


def test_the_examples_of_the_inventory_plugin_work(runner, tarball):
    texts = servers.EXAMPLES.split("---\n")[1:]
    assert len(texts) == len([*yaml.safe_load_all(servers.EXAMPLES)])
    with Sandbox(servers=example_servers("documentation")) as api:
        reader = Reader(runner, api, tarball)
        examples = [Block(number, "yaml", text) for number, text in enumerate(texts)]
        reader.try_all(examples)


def test_the_graph_is_what_the_quick_start_shows():
    assert read_picture("graph") == cut_graph(QUICK_START.read_text(encoding="utf-8"))


def test_the_picture_of_a_fleet_is_what_check_fleet_prints(runner, tarball):
    declared = read_files("modules")["fleet.yml"]
    command, _newline, shown = read_picture("fleet").removeprefix("$ ").partition("\n")
    with Sandbox(servers=example_servers()) as api:
        reader = Reader(runner, api, tarball)
        runner.environment.update(api.environment)
        reader.write("fleet.yml", declared)
        result = reader.enter(command)
    assert result.rc == 2
    assert is_shown(shown, result.output), result


def test_every_picture_is_in_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in TITLES:
        assert f"/{name}.svg" in pages


# Messages whose text is Ansible's or the system's, after the option's name.
BORROWED = ("no such file or directory.", "'site' is undefined", "no hosts to target.")


def texts_of_the_code():
    """Yield each text of the code, with {} for what an f-string inserts."""
    for path in SPEAKERS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant):
                yield str(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = [getattr(part, "value", "{}") for part in node.values]
                yield "".join(part if isinstance(part, str) else "{}" for part in parts)


def test_an_explained_message_exists():
    text = MESSAGES.read_text(encoding="utf-8").partition("\nInventory file\n---")[2]
    headings = re.findall(r"^``(.+)``$", text, re.MULTILINE)
    assert headings
    searches = []
    for text in set(texts_of_the_code()):
        pieces = re.split(r"\{\w*\}", text)  # str.format has names there
        if "\n" not in text and len("".join(pieces)) >= 10:
            searches.append(re.compile(".+".join(map(re.escape, pieces))))
    for heading in headings:
        found = [match[0] for search in searches for match in search.finditer(heading)]
        longest = max(map(len, found), default=0)
        # A name that the code has somewhere is not enough.
        is_explained = longest * 3 > len(heading)
        assert is_explained or heading.endswith(BORROWED), heading


def test_every_command_of_make_exists():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = {"help", "clean", *re.findall(r'echo "make (\w+) ', makefile)}
    for page in (*PAGES, *REPOSITORY.glob("*.md")):
        named = set(re.findall(r"`make (\w+)", page.read_text(encoding="utf-8")))
        assert named <= targets, page


def test_every_page_is_in_the_contents():
    contents = yaml.safe_load((REPOSITORY / "docs/docsite/extra-docs.yml").read_text())
    listed = [page for section in contents["sections"] for page in section["toctree"]]
    # The checklist is for maintainers: it is below the development guide.
    guides = [page.stem for page in PAGES if page.suffix == ".rst" and page.stem != "checklist"]
    assert sorted(listed) == sorted(guides)


def test_the_links_of_the_readme_lead_to_sections():
    links = re.findall(r"\]\((docs/[^)#]+)#([^)]+)\)", README.read_text(encoding="utf-8"))
    assert links
    for page, anchor in links:
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        titles = re.findall(r"^(\S.*)\n(?:-+|=+)$", text, re.MULTILINE)
        assert anchor in [title.lower().replace(" ", "-") for title in titles]


def test_every_playbook_is_in_the_readme_and_in_a_guide():
    guides = "".join(page.read_text(encoding="utf-8") for page in PAGES if page.suffix == ".rst")
    for path in REPOSITORY.glob("playbooks/*.yml"):
        assert f"`{path.stem}`" in README.read_text(encoding="utf-8"), path
        assert f"server_management.cloud.{path.stem}" in guides, path
