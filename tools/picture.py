# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /// script
# dependencies = ["rich~=15.0"]
# ///

"""Draw the graph of the quick start as the terminal in README.md, by `uv run tools/picture.py`."""

from __future__ import annotations

import html
import io
import re
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PICTURE = REPOSITORY / "docs" / "graph.svg"
PAGE = REPOSITORY / "docs" / "docsite" / "rst" / "guide_quickstart.rst"
COLUMNS = 66
_TEXT = re.compile(r'<text [^>]*\by="([\d.]+)"[^>]*>([^<]*)</text>')
# The default of rich loads fonts from the network.
TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<!--
{licence}
-->
<title>The servers of an account, as ansible-inventory --graph shows them</title>
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


def cut_graph(page: str) -> str:
    """Return the command of a page that prints the graph, and its output."""
    found = re.search(r"^ +\$ ansible-inventory .*--graph\n(?: +\S.*\n)+", page, re.MULTILINE)
    if found is None:
        message = "the page shows no graph"
        raise ValueError(message)
    return textwrap.dedent(found[0])


def read_picture(svg: str) -> str:
    """Return the text that a picture shows."""
    lines: dict[float, str] = {}
    for height, text in _TEXT.findall(svg.partition('-matrix">')[2]):
        lines[float(height)] = lines.get(float(height), "") + html.unescape(text)
    return "".join(f"{lines[height].rstrip()}\n" for height in sorted(lines)).replace("\xa0", " ")


def draw(text: str) -> str:
    """Return a terminal with this text as SVG; the result is deterministic."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    styled = Text(text.rstrip("\n"))
    styled.highlight_regex(r"^\$ .+", "bold")
    styled.highlight_regex(r"@\w+", "cyan")
    console.print(styled)
    head = Path(__file__).read_text(encoding="utf-8").splitlines()[:3]
    licence = "\n".join(line.removeprefix("# ") for line in head)
    template = TEMPLATE.replace("{licence}", licence)
    svg = console.export_svg(title="server_management.cloud", code_format=template)
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


if __name__ == "__main__":
    PICTURE.write_text(draw(cut_graph(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
