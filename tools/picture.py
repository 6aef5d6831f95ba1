# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /// script
# dependencies = ["rich~=15.0"]
# ///

"""Draw the pictures of README.md and the guides: what a terminal shows, and two diagrams.

``uv run tools/picture.py`` draws the graph of the quick start, ``uv run tools/picture.py host`` the
way from a server to a host, and ``uv run tools/picture.py overview`` the whole collection.
``uv run tools/picture.py NAME`` draws docs/NAME.svg from standard input: the command after "$ ",
and its output. A line "..." stands for lines that were left out. With ANSIBLE_FORCE_COLOR=1, the
output has Ansible's colors.
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
DIAGRAM = "host"
OVERVIEW = "overview"
PAGE = DOCS / "docsite" / "rst" / "guide_quickstart.rst"
# For each picture: what it shows.
TITLES = {
    GRAPH: "The servers of an account, as ansible-inventory --graph shows them",
    "fleet": "The report of check_fleet about an account that differs from its declaration",
    "event": "A rulebook that runs a playbook for a new server",
    DIAGRAM: "The steps of the inventory plugin, from a server to a host",
    OVERVIEW: "What the collection makes of the API, and what it is for",
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

# The boxes of the diagram, from top to bottom: a title, and lines with options or examples.
STEPS = (
    ("A server of the API", "web-01, running, small, eu-1", "192.0.2.10, srv_4f2a91c07d"),
    ("1. Select", "options such as regions, filters"),
    ("2. Name", "hostnames; if the name is taken:", "web-01_srv_4f2a91c07d"),
    ("3. Variables", "ansible_host, hostvars_prefix,", "compose"),
    ("4. Groups", "group, group_by, groups,", "keyed_groups"),
    ("A host of the inventory", "web-01 in region_eu_1, plan_small,", "status_running"),
)
# What enters beside a box, by its number.
SIDE = {
    2: ("Static inventory", "hosts and groups", "read before"),
    5: ("Ansible", "adds group_vars", "and host_vars"),
}
# The boxes of the overview: the API, three columns below it, and what they are for.
SOURCE = ("The API of your hosting provider", "lists the servers of your account")
COLUMNS = (
    (
        ("Inventory plugin", "makes servers hosts, with", "groups and variables"),
        ("Ansible on your servers", "ad-hoc commands,", "playbooks, AWX,", "ssh web-01"),
    ),
    (
        ("Modules", "server_info, fleet_info,", "api_info"),
        ("Tasks and pipelines", "wait for a server,", "compare the account", "with a file"),
    ),
    (
        ("Event source", "reports servers that are", "new, changed or gone"),
        ("Rulebooks", "set up new servers,", "raise an alarm if one", "is gone"),
    ),
)
BOX = """\
<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>
<text class="title" x="{text_x}" y="{title_y}">{title}</text>
"""
LINE = '<text x="{x}" y="{y}">{line}</text>\n'
ARROW = '<path class="line" d="M{start} L{end}" marker-end="url(#arrow)"/>\n'
# Browsers show the dark colors in their dark mode.
DIAGRAM_TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" viewBox="0 0 {width} {height}" role="img">
<!--
{licence}
-->
<title>{subject}</title>
<style>
text {{ font: 13px system-ui, sans-serif; fill: #1d2733; }}
.title {{ font-weight: bold; }}
.line {{ stroke: #5b6b7b; stroke-width: 2; }}
.tip {{ fill: #5b6b7b; }}
rect {{ stroke: #5b6b7b; }}
.page {{ fill: #ffffff; stroke: none; }}
.end {{ fill: #e8f1fb; }}
.step {{ fill: #f6f8fa; }}
.side {{ fill: #fdf4e3; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3; }}
.line {{ stroke: #8b9bab; }}
.tip {{ fill: #8b9bab; }}
rect {{ stroke: #8b9bab; }}
.page {{ fill: #0d1117; }}
.end {{ fill: #12304f; }}
.step {{ fill: #1b2430; }}
.side {{ fill: #3d3013; }}
}}
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6"
  orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>
<rect class="page" width="{width}" height="{height}" rx="8"/>
{shapes}</svg>
"""


def path_of(name: str) -> Path:
    """Return the file of a picture."""
    return DOCS / f"{name}.svg"


def cut_graph(page: str) -> str:
    """Return the command of a page that prints the graph, and its output."""
    found = re.search(r"^ +\$ ansible-inventory .*--graph\n(?: +\S.*\n)+", page, re.MULTILINE)
    if found is None:
        message = "the page shows no graph"
        raise ValueError(message)
    return textwrap.dedent(found[0])


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
    template = TEMPLATE.replace("{licence}", licence()).replace("{subject}", TITLES[name])
    template = template.replace("{size}", str(COLUMN_WIDTH * columns))
    svg = console.export_svg(title="server_management.cloud", code_format=template, unique_id=name)
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


def licence() -> str:
    """Return the licence of this file without comment signs."""
    head = Path(__file__).read_text(encoding="utf-8").splitlines()[:3]
    return "\n".join(line.removeprefix("# ") for line in head)


def draw_box(x: int, y: int, width: int, kind: str, lines: tuple[str, ...]) -> str:
    """Return a box with a title and further lines."""
    height = 18 * len(lines) + 14
    title, *others = map(html.escape, lines)
    places = {"x": x, "y": y, "width": width, "height": height, "kind": kind}
    box = BOX.format(**places, text_x=x + 12, title_y=y + 22, title=title)
    for number, line in enumerate(others, 1):
        box += LINE.format(x=x + 12, y=y + 22 + 18 * number, line=line)
    return box


def draw_diagram() -> str:
    """Return the way from a server to a host as SVG."""
    shapes = ""
    y = 12
    for number, lines in enumerate(STEPS):
        if number:
            shapes += ARROW.format(start=f"135 {y - 22}", end=f"135 {y - 2}")
        kind = "end" if number in (0, len(STEPS) - 1) else "step"
        shapes += draw_box(12, y, 246, kind, lines)
        if number in SIDE:
            shapes += draw_box(284, y, 134, "side", SIDE[number])
            shapes += ARROW.format(start=f"284 {y + 34}", end=f"261 {y + 34}")
        y += 18 * len(lines) + 36
    return frame(DIAGRAM, 430, y - 10, shapes)


def draw_overview() -> str:
    """Return the way from the API to what the collection is for as SVG."""
    shapes = draw_box(12, 12, 602, "end", SOURCE)
    for number, (part, purposes) in enumerate(COLUMNS):
        x = 12 + 206 * number
        shapes += ARROW.format(start=f"{x + 95} 62", end=f"{x + 95} 88")
        shapes += draw_box(x, 90, 190, "step", part)
        shapes += ARROW.format(start=f"{x + 95} 158", end=f"{x + 95} 184")
        shapes += draw_box(x, 186, 190, "side", purposes)
    return frame(OVERVIEW, 626, 284, shapes)


def frame(name: str, width: int, height: int, shapes: str) -> str:
    """Return a diagram with these shapes."""
    places = {"width": width, "height": height, "licence": licence(), "subject": TITLES[name]}
    return DIAGRAM_TEMPLATE.format(**places, shapes=shapes)


def main(name: str = GRAPH) -> None:
    """Draw a picture."""
    if name == DIAGRAM:
        svg = draw_diagram()
    elif name == OVERVIEW:
        svg = draw_overview()
    elif name == GRAPH:
        svg = draw(name, cut_graph(PAGE.read_text(encoding="utf-8")))
    else:
        svg = draw(name, sys.stdin.read())
    path_of(name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
