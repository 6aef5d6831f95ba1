# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the ratios as bars, in SVG that is readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .contenders import (
    DIRECT,
    HCLOUD_KEYED,
    OURS,
    OURS_EVERYTHING,
    OURS_KEYED,
    STATIC,
    VULTR_KEYED,
)
from .measure import Results

_SHOWN = (DIRECT, OURS, OURS_KEYED, OURS_EVERYTHING, STATIC, VULTR_KEYED, HCLOUD_KEYED)
_PANELS = (("parse()", "parse_cpu"), ("ansible-inventory --list", "cpu"))
_WIDTH, _LABELS, _LINE, _HEAD = 760, 210, 24, 58  # pixels
_SVG = """\
{licence}
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
  aria-label="{title}" font-family="sans-serif" font-size="13">
<style>
  text {{ fill: #24292f; }}
  .ours {{ fill: #0969da; }}
  .other {{ fill: #8c959f; }}
  @media (prefers-color-scheme: dark) {{ text {{ fill: #d1d7e0; }} .ours {{ fill: #4493f8; }} }}
</style>
<text x="0" y="16" font-weight="bold">{title}</text>
{body}
</svg>
"""


def plot(results: Results, core: str, sizes: Sequence[int]) -> str:
    """Return the plot for one core, with as many hosts as the peers were measured with."""
    compared = [size for size in sizes if results.median(core, size, VULTR_KEYED, "parse_cpu")]
    size = max(compared, default=0)
    body: list[str] = []
    top = 0
    for panel, figure in _PANELS:
        ratios = {
            name: ratio
            for name in _SHOWN
            if (ratio := results.ratio(core, size, (name, DIRECT), figure)) is not None
        }
        if ratios:
            body.append(f'<text x="0" y="{top + _HEAD - 14}">{panel}</text>')
            body += _bars(ratios, top + _HEAD)
            top += _LINE * (len(ratios) + 2)
    title = f"CPU time, direct calls = 1: {size:,} hosts, ansible-core {core}"
    return _SVG.format(
        licence=licence(), width=_WIDTH, height=top + _HEAD, title=title, body="\n".join(body)
    )


def _bars(ratios: dict[str, float], top: int) -> list[str]:
    scale = (_WIDTH - _LABELS - 60) / max(ratios.values())
    lines = []
    for number, (name, ratio) in enumerate(ratios.items()):
        y = top + number * _LINE
        kind = "ours" if name.startswith(OURS) else "other"
        length = ratio * scale
        lines += [
            f'<text x="{_LABELS - 10}" y="{y + 14}" text-anchor="end">{name}</text>',
            f'<rect x="{_LABELS}" y="{y}" width="{length:.1f}" height="18" class="{kind}"/>',
            f'<text x="{_LABELS + length + 8:.1f}" y="{y + 14}">{ratio:.2f}</text>',
        ]
    return lines


def licence() -> str:
    """Return the licence of this file, as a comment for what is written."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()[:3]
    return "\n".join(["<!--", *(line.removeprefix("# ") for line in lines), "-->"])
