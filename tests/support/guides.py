# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the code blocks of the guides and the README; the development guide explains the marks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from support.collection import REPOSITORY

GUIDES = REPOSITORY / "docs" / "docsite" / "rst"
_DIRECTIVE = re.compile(r"( *)\.\. code-block:: (\w+)\n")
_OPTION = re.compile(r" +:(\w+): (.+)")
_COMMENT = re.compile(r"\.\. (sandbox|ansible-core): (.+)")
_MARKDOWN = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The first line of a file is its name, after the line of a script that names its interpreter.
_FILE_NAME = re.compile(r"(?:#!.+\n)?# (\S+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """One block of code.

    ``fault`` is the sandbox's fault during the block, and ``cores`` are the versions of
    ansible-core that print the shown output, such as ``<2.19``.
    """

    line: int
    language: str
    text: str
    fault: str = ""
    fails: bool = False
    cores: str = ""

    @property
    def name(self) -> str:
        """Return the name of the file that the block shows, or an empty text."""
        match = _FILE_NAME.match(self.text)
        return match[1] if match else ""

    def commands(self) -> Iterator[tuple[str, str]]:
        """Yield each command of a console block, and the output that follows it."""
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, _newline, shown = part.partition("\n")
            yield command, shown


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return list(_in_markdown(text) if page.suffix == ".md" else _in_rst(text))


def read_files(page: str) -> dict[str, str]:
    """Return the files that a guide shows, by name."""
    blocks = read_blocks(GUIDES / f"guide_{page}.rst")
    return {block.name: block.text for block in blocks if block.name}


def read_tasks(text: str) -> dict[str, Any]:
    """Return the tasks of a playbook by module, as AWX gets them: without ``{% raw %}``."""
    plays = yaml.safe_load(re.sub("{% (end)?raw %}", "", text))
    return {module: task[module] for task in plays[0]["tasks"] for module in task}


def _in_rst(text: str) -> Iterator[Block]:
    lines = text.splitlines(keepends=True)
    comments: dict[str, str] = {}
    for number, line in enumerate(lines):
        if match := _COMMENT.match(line):
            comments[match[1]] = match[2]
        if match := _DIRECTIVE.fullmatch(line):
            body = [*_indented(lines[number + 1 :], match[1])]
            options = dict(_options(body))
            content = textwrap.dedent("".join(body[len(options) :])).strip("\n") + "\n"
            yield Block(
                line=number + 1,
                language=match[2],
                text=content,
                fault=comments.pop("sandbox", ""),
                fails=options.get("class") == "fails",
                cores=comments.pop("ansible-core", ""),
            )


def _indented(lines: list[str], indent: str) -> Iterator[str]:
    for line in lines:
        if line.strip() and not line.startswith(f"{indent} "):
            return
        yield line


def _options(body: list[str]) -> Iterator[tuple[str, str]]:
    for line in body:
        match = _OPTION.match(line)
        if match is None:
            return
        yield match[1], match[2]


def _in_markdown(text: str) -> Iterator[Block]:
    for match in _MARKDOWN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(line, language=match[1], text=match[2])
