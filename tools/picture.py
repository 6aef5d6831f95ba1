# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the output of the demo as the terminal in README.md."""

from __future__ import annotations

import html
import io
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PICTURE = REPOSITORY / "docs" / "graph.svg"
COLUMNS = 66
_TEXT = re.compile(r'<text [^>]*\by="([\d.]+)"[^>]*>([^<]*)</text>')
# The default of rich loads fonts from the network.
TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<!--
{licence}
-->
<title>The servers of a sandbox, as ansible-inventory --graph shows them</title>
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


def cut_graph(output: str) -> str:
    """Return the command that prints the graph, and its output, from the demo's output."""
    found = re.search(r"^\$ ansible-inventory .*--graph\n(?:.+\n)+", output, re.MULTILINE)
    if found is None:
        message = "the demo shows no graph"
        raise ValueError(message)
    return found[0]


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
    demo = (sys.executable, "-B", "tools/demo.py")
    run = subprocess.run(demo, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    PICTURE.write_text(draw(cut_graph(run.stdout)), encoding="utf-8")
