# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the code blocks of the guides and the README; the development guide explains the marks."""

from __future__ import annotations

import re
import shlex
import textwrap
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from support.collection import REPOSITORY, read
from support.run import without_white_space

GUIDES = REPOSITORY / "docs" / "docsite" / "rst"
# A block of code, below the comments that concern it.
_RST = re.compile(
    r"""
    ^(?:\.\.\ ansible-core:\ (?P<cores>.+)\n\n)?
    (\ *)\.\.\ code-block::\ (?P<language>\w+)\n
    (?:\ +:class:\ (?P<result>fails)\n)?
    (?P<text>(?:\2\ .*\n|\ *\n)*)
    """,
    re.MULTILINE | re.VERBOSE,
)
_MARKDOWN = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# The first line of a file is its name, after the line of a script that names its interpreter.
_FILE_NAME = re.compile(r"(?:#!.+\n)?# (\S+\.\w+)\n")
# A command of a console block, and the output that follows it.
_COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

# A command of Ansible's or of its relatives, in a block or in an inline literal.
_ANSIBLE = re.compile(
    r"(?:^[ $-]*(?:run: )?|&& |=\S+ +|`)(ansible(?:-\w+)?\s[^`\n]+)", re.MULTILINE
)


class Block(NamedTuple):
    """One block of code.

    ``cores`` are the versions of ansible-core that print the shown output, such as ``<2.19``.
    ``result`` is "fails" or empty.
    """

    language: str
    text: str
    cores: str = ""
    result: str = ""

    @property
    def name(self) -> str:
        """Return the name of the file that the block shows, or an empty text."""
        match = _FILE_NAME.match(self.text)
        return match[1] if match else ""

    def commands(self) -> list[tuple[str, str]]:
        """Return each command of a block, and the output that follows it in a console."""
        if self.language == "sh":
            return [(line, "") for line in self.text.splitlines()]
        return _COMMAND.findall(self.text)


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    pattern = _MARKDOWN if page.suffix == ".md" else _RST
    blocks = []
    for match in pattern.finditer(page.read_text(encoding="utf-8")):
        block = Block(**match.groupdict(default=""))
        text = textwrap.dedent(block.text).strip("\n")
        blocks.append(block._replace(text=f"{text}\n"))
    return blocks


def read_files(page: str) -> dict[str, str]:
    """Return the files that a guide shows, by name."""
    blocks = read_blocks(GUIDES / f"guide_{page}.rst")
    return {block.name: block.text for block in blocks if block.name}


def block_with(text: str, page: str) -> str:
    """Return the block of a page that contains a text."""
    blocks = read_blocks(GUIDES / f"{page}.rst")
    (found,) = [block.text for block in blocks if text in block.text]
    return found


def is_shown(shown: str, output: str) -> bool:
    """Return whether an output contains a text, ignoring white space; ... stands for any text."""
    marked = without_white_space(shown.replace("...", "…"))
    pattern = re.escape(marked).replace("…", ".*")
    return re.search(pattern, without_white_space(output)) is not None


def read_commands() -> list[list[str]]:
    """Return Ansible's commands of the guides and README, without what only a shell reads."""
    commands = []
    for page in (*GUIDES.glob("*.rst"), REPOSITORY / "README.md"):
        text = read(page).replace("\\\n", " ")
        for line in _ANSIBLE.findall(text):
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            commands.append([*takewhile(lambda word: word[0] not in "|<>&;()", words)])
    return commands


def read_tasks(text: str) -> dict[str, Any]:
    """Return the tasks of a playbook by module, as AWX gets them: without ``{% raw %}``."""
    (play,) = yaml.safe_load(re.sub("{% (end)?raw %}", "", text))
    tasks = {}
    for task in play["tasks"]:
        tasks.update(task)
    return tasks
