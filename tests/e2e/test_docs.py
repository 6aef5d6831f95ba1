# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the examples of the guides and the README, and compare their statements with the code."""

import json
import re
import shlex
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml
from ansible.release import __version__
from packaging.specifiers import SpecifierSet

from ansible_collections.server_management.cloud.plugins.inventory import servers
from sandbox import Fault, Sandbox
from sandbox.account import example_servers
from sandbox.server import DEFAULT_TOKEN
from support.collection import REPOSITORY
from support.guides import GUIDES, block_with, is_shown, read_blocks, read_files
from support.run import write_inventory

from .conftest import as_arguments, need_ssh

README = REPOSITORY / "README.md"
PAGES = [README, *sorted(GUIDES.glob("*.rst"))]
START = REPOSITORY / "docs/docsite/sphinx/index.rst"
# What a reader has already.
NAME = "prod.server_management.yml"
INVENTORY = """\
plugin: server_management.cloud.servers
base_url: https://api.example.com
api_token_file: ~/.config/server_management/token
"""
PLAYBOOK = "- hosts: all\n  tasks: [{ansible.builtin.debug: }]\n"
# For commands that need a network, never end or take too long.
SUBSTITUTES = [
    # The tarball, from a checkout, git, Galaxy or a file.
    (r"collection install \S+", 'collection install "$TARBALL" --offline'),
    (r"^make ", 'make --dry-run -C "$CHECKOUT" '),
    # The help names the token that the sandbox takes.
    (r"^python3 (tests/sandbox .*)", r'python3 "$CHECKOUT"/\1 --help >/dev/null'),
]
SETTINGS = {
    "CHECKOUT": str(REPOSITORY),
    "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
    "ANSIBLE_GATHERING": "explicit",
    # No machine responds at the servers' addresses.
    "ANSIBLE_TRANSPORT": "local",
}
# A command of Ansible's that needs no shell, so that the runner can fork it.
PLAIN = re.compile(r"ansible[^$|&;<>()]*")


class Reader:
    """Run the steps of a page in a separate folder."""

    def __init__(self, runner, sandbox, tarball):
        self.runner = runner
        self.sandbox = sandbox
        self.folder = runner.home / "work"
        self.results = {}  # of commands that are the same for each source of the tarball
        self.write(NAME, INVENTORY)
        self.write("site.yml", PLAYBOOK)
        self.write("../.config/server_management/token", sandbox.token)
        runner.environment |= SETTINGS
        runner.environment["TARBALL"] = str(tarball)
        runner.environment["PROD_API_TOKEN"] = sandbox.token

    def translate(self, text):
        """Replace the address of the API, or of the reader's sandbox, by that of this sandbox."""
        return re.sub("https://api.example.com|http://127.0.0.1:8080", self.sandbox.url, text)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.translate(text), encoding="utf-8")
        return path

    def follow(self, block):
        if block.name:
            self.write(block.name, block.text)
            return
        cores = SpecifierSet(block.cores)
        if not cores.contains(__version__, prereleases=True):
            return
        if block.language not in ("console", "sh"):
            return
        if ".ssh/config" in block.text:
            need_ssh(self.runner)
        for command, shown in block.commands():
            result = self.enter(command)
            expected = "fails" if result.rc else ""
            assert block.result == expected, result
            assert is_shown(self.translate(shown), result.output), result

    def enter(self, command, pasted=""):
        """Run a command, or its substitute, with the variables that were set before."""
        command = self.translate(command)
        for original, substitute in SUBSTITUTES:
            command = re.sub(original, substitute, command)
        if command in self.results:
            return self.results[command]
        if PLAIN.fullmatch(command):
            parts = shlex.split(command)
            return self.runner.run(*parts, cwd=self.folder)
        is_setting = command.startswith(("export ", "unset "))
        script = f"{command} && env -0 >environment" if is_setting else command
        pasted = pasted or f"{self.sandbox.token}\n"
        result = self.runner.run("bash", "-c", script, cwd=self.folder, stdin=pasted)
        if is_setting:
            file = self.folder / "environment"
            variables = re.findall(r"([^=]+)=([^\0]*)\0", file.read_text())
            self.runner.environment = dict(variables)
            file.unlink()
        if "$TARBALL" in command:
            self.results[command] = result
        return result

    def play(self, tasks):
        """Run tasks on this machine, with the account of the environment."""
        playbook = self.write("tasks.yml", json.dumps([{"hosts": "localhost", "tasks": tasks}]))
        return self.runner.playbook(playbook, env=self.sandbox.environment)

    def try_snippets(self, texts):
        """Run YAML without a name by one command: options of inventory files, plays and tasks."""
        paths = []
        plays = [{"hosts": "localhost"}]
        for number, text in enumerate(texts):
            content = yaml.safe_load(self.translate(text))
            if isinstance(content, dict):
                name = f"snippet_{number}.server_management.yml"
                paths.append(write_inventory(self.folder, content, name))
            elif "hosts" in content[0]:
                plays += content
            else:
                plays.append({"hosts": "localhost", "tasks": content})
        playbook = self.write("snippets.yml", yaml.safe_dump(plays))
        sources = as_arguments(["localhost,", *paths])
        command = (*sources, "--check", "--diff", playbook)
        env = self.sandbox.environment
        result = self.runner.playbook(*command, env=env, cwd=self.folder)
        assert result.ok().stderr == ""


@pytest.fixture
def reader(runner, tarball):
    with Sandbox(servers=example_servers("documentation")) as api:
        yield Reader(runner, api, tarball)


@pytest.mark.parametrize("page", [*PAGES, START], ids=lambda page: page.stem)
def test_a_page_shows_what_happens(page, reader):
    texts = []
    for block in read_blocks(page):
        reader.follow(block)
        if block.language == "yaml" and not block.name:
            texts.append(block.text)
    if texts:
        reader.try_snippets(texts)


@pytest.fixture
def rotation(reader):
    """Return the commands that rotate a token, with an old token in its file."""
    reader.write("../.config/server_management/token", "old")
    commands = []
    for block in read_blocks(GUIDES / "guide_token.rst"):
        if "token.new" in block.text:
            commands += block.text.splitlines()
    return commands


@pytest.mark.parametrize("accepted", ["new", "old"])
def test_a_token_replaces_the_old_one_only_if_the_api_accepts_it(accepted, reader, rotation):
    reader.sandbox.token = accepted
    save, set_url, replace, _encrypt = rotation
    reader.enter(save, "new").ok()
    reader.enter(set_url).ok()
    result = reader.enter(replace)
    saved = {"token": "old", "token.new": "new"}
    if accepted == "new":
        saved = {"token.old": "old", "token": "new"}
    assert (result.rc == 0) is (accepted == "new")
    folder = reader.runner.home / ".config/server_management"
    assert {path.name: path.read_text() for path in folder.iterdir()} == saved


def test_the_new_token_is_encrypted(reader, rotation):
    reader.sandbox.token = "new"
    save, *_others, encrypt = rotation
    reader.enter(save, "new").ok()
    reader.runner.environment["ANSIBLE_VAULT_PASSWORD_FILE"] = str(reader.write("password", "a"))
    lines = reader.enter(encrypt).ok().stdout
    reader.write(NAME, re.sub("api_token_file.*\n", lines, INVENTORY))
    reader.enter(f"ansible-inventory -i {NAME} --graph").ok()


def test_the_servers_of_the_sandbox_run_commands_on_this_machine(reader):
    del reader.runner.environment["ANSIBLE_TRANSPORT"]
    reader.sandbox.servers = example_servers()
    reader.sandbox.token = DEFAULT_TOKEN
    file = block_with(DEFAULT_TOKEN, "guide_quickstart")
    reader.write(NAME, file)
    result = reader.enter(f"ansible -i {NAME} all -m ansible.builtin.ping")
    assert result.ok().stderr == ""
    assert result.stdout.count("SUCCESS") == 3


def test_a_job_that_starts_elsewhere_fails_if_the_token_is_rejected(reader):
    runner = reader.runner
    del runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"]
    program = runner.home / ".local/bin/ansible-playbook"
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).with_name(program.name))
    texts = read_files("production") | {"crontab": block_with("crontab", "guide_production")}
    project, home = str(reader.folder), str(runner.home)

    def placed(text, quote=str):
        text = text.replace("/home/admin/project", quote(project))
        return text.replace("/home/admin", quote(home))

    for name, text in texts.items():
        reader.write(name, placed(text))
    unit = ConfigParser()
    unit.read_string(texts["site.service"])
    service = unit["Service"]
    _comment, *settings, job = texts["crontab"].splitlines()
    of_cron = dict(placed(setting).split("=", 1) for setting in settings)
    jobs = [("/", placed(job.split(maxsplit=5)[-1], shlex.quote), of_cron)]
    folder = placed(service["WorkingDirectory"])
    jobs.append((folder, placed(service["ExecStart"], shlex.quote), {}))
    reader.sandbox.fail(Fault(status=401), times=len(jobs))
    for rc in (1, 0):
        for folder, command, env in jobs:
            result = runner.run("sh", "-c", command, cwd=Path(folder), env=env)
            assert result.rc == rc, result


def test_a_playbook_waits_only_during_temporary_failures(reader):
    name = "wait_for_server.yml"
    playbook = reader.write(name, read_files("connecting")[name].replace("delay: 5", "delay: 0"))
    for status in (503, 401):
        reader.sandbox.fail(Fault(status=status))
    env = {"SERVER_MANAGEMENT_RETRIES": "0"}
    result = reader.runner.playbook("-e", "server=web-01", playbook, env=env)
    assert result.rc == 2
    assert result.stdout.count("FAILED - RETRYING") == 1
    result.shows("HTTP 401")


def test_saved_host_keys_are_copied_to_the_aliases(reader):
    need_ssh(reader.runner)
    name = "aliased.server_management.yml"
    reader.write(name, read_files("connecting")[name])
    command = block_with("ssh-keygen -F", "guide_connecting")
    # Only web-01 has a saved key.
    key = f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{'A' * 43}"
    saved = reader.write("known_hosts", f"# A comment.\n192.0.2.10 {key}\n")
    command = command.replace(" -F", " -f known_hosts -F").replace("~/.ssh/", "")
    result = reader.enter(command.strip())
    assert saved.read_text().splitlines()[2:] == [f"srv_4f2a91c07d {key}"]
    assert result.rc != 0
    result.shows("web-02 | FAILED")


def test_an_example_accepts_only_that_an_operation_is_not_live(reader):
    attach, use = yaml.safe_load(block_with("failed_when", "api_status"))
    del attach["server_management.cloud.volume_attachment"]["server"]
    result = reader.play([attach, use])
    assert result.rc == 2
    result.shows("missing required arguments: server")


def test_an_example_accepts_only_a_limit_of_requests(reader):
    tasks = yaml.safe_load(block_with("rate_limited", "guide_modules"))
    reader.runner.environment["SERVER_MANAGEMENT_RETRIES"] = "0"
    reader.sandbox.fail(Fault(status=429))
    reader.play(tasks).ok()
    reader.sandbox.fail(Fault(status=401))
    assert reader.play(tasks).rc == 2


def test_the_examples_of_the_inventory_plugin_work(reader):
    texts = servers.EXAMPLES.split("---\n")[1:]
    reader.try_snippets(texts)


def test_every_command_of_make_exists():
    makefile = (REPOSITORY / "Makefile").read_text()
    assert " release $(SESSIONS)\n" in makefile  # docs is also a folder
    for page in (*PAGES, *REPOSITORY.glob("*.md")):
        for target in re.findall(r"`make (\w+)", page.read_text()):
            pattern = rf"(?m)^(.PHONY|SESSIONS).* {target}\b"
            assert re.search(pattern, makefile), page


# A link of the README or a guide to another guide, and the section that it names.
LINK = re.compile(r"(?:\]\(docs/docsite/rst/|<)(\w+\.rst)(?:#([\w-]+))?[)>]")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_sections(page):
    for name, anchor in LINK.findall(page.read_text()):
        text = (GUIDES / name).read_text()
        anchors = [""]
        for title in re.findall(r"^(.+)\n[-=^]+$", text, re.MULTILINE):
            # As GitHub and Sphinx make them, unless a title has an apostrophe.
            words = re.sub(r"[^\w -]", "", title).lower()
            anchors.append(words.replace(" ", "-"))
        assert anchor in anchors


def test_pages_show_no_markup_on_github():
    for page in PAGES:
        assert ":ref:" not in page.read_text(), page
