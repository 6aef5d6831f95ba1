# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /// script
# dependencies = ["rich~=15.0"]
# ///

"""Draw the terminals that the guides show.

``uv run tools/picture.py`` draws the graph of the quick start. ``uv run tools/picture.py NAME``
draws docs/NAME.svg from standard input: the command after "$ ", and its output. A line "..." stands
for lines that were left out. With ANSIBLE_FORCE_COLOR=1, the output has Ansible's colors.
"""

from __future__ import annotations

import html
import io
import re
import sys
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
GRAPH = "graph"
PAGE = DOCS / "docsite" / "rst" / "guide_quickstart.rst"
# For each picture: what it shows.
TITLES = {
    GRAPH: "The servers of an account, as ansible-inventory --graph shows them",
    "fleet": "The report of check_fleet about an account that differs from its declaration",
    "event": "A rulebook that runs a playbook for a new server",
}
COLUMN_WIDTH = 8  # pixels, as in the text around a picture
_TEXT = re.compile(r'<text [^>]*\by="([\d.]+)"[^>]*>([^<]*)</text>')
# The default of rich loads fonts from the network.
TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{size}" viewBox="0 0 {width} {height}" role="img">
<!--
{licence}
-->
<title>{subject}</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, monospace;
  line-height: {line_height}px; }}
.{unique_id}-title {{ font: bold 16px system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def path_of(name: str) -> Path:
    """Return the file of a picture."""
    return DOCS / f"{name}.svg"


def cut_graph(page: str) -> str:
    """Return the command of a page that prints the graph, and its output."""
    (graph,) = re.findall(r"(?m)^ +\$ ansible-inventory .*--graph\n(?: +\S.*\n)+", page)
    return textwrap.dedent(graph)


def read_picture(name: str) -> str:
    """Return the text that a picture shows."""
    svg = path_of(name).read_text(encoding="utf-8")
    lines: dict[float, str] = {}
    for height, text in _TEXT.findall(svg.partition('-matrix">')[2]):
        lines[float(height)] = lines.get(float(height), "") + html.unescape(text)
    return "".join(f"{lines[height].rstrip()}\n" for height in sorted(lines)).replace("\xa0", " ")


def draw(name: str, text: str) -> str:
    """Return a terminal with this text as SVG; the result is deterministic."""
    from rich.console import Console
    from rich.text import Text

    styled = Text.from_ansi(text.rstrip("\n"))
    styled.highlight_regex(r"^\$ .+", "bold")
    styled.highlight_regex(r"@\w+", "cyan")
    columns = max(map(len, styled.plain.splitlines()))
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    console.print(styled)
    # Taken from this file: a file with two licences does not pass the check.
    head = Path(__file__).read_text(encoding="utf-8").splitlines()[:3]
    licence = "\n".join(line.removeprefix("# ") for line in head)
    template = TEMPLATE.replace("{licence}", licence).replace("{subject}", TITLES[name])
    template = template.replace("{size}", str(COLUMN_WIDTH * columns))
    svg = console.export_svg(title="server_management.cloud", code_format=template, unique_id=name)
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


def main(name: str = GRAPH) -> None:
    """Draw a picture."""
    text = cut_graph(PAGE.read_text(encoding="utf-8")) if name == GRAPH else sys.stdin.read()
    path_of(name).write_text(draw(name, text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
