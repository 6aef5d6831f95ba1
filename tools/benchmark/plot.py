# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the seconds as bars in SVG, for light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .contenders import HCLOUD_KEYED, OURS, OURS_KEYED, STATIC, VULTR_KEYED
from .measure import Results

SHOWN = (OURS, OURS_KEYED, STATIC, VULTR_KEYED, HCLOUD_KEYED)  # the usual alternatives
_WIDTH, _LABELS, _LINE, _HEAD = 760, 180, 24, 36  # pixels
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
    """Return the plot for one core, with the largest size measured for the other plugins."""
    size = max(
        (size for size in sizes if results.lowest(core, size, VULTR_KEYED, "cpu")), default=0
    )
    seconds = {
        name: cpu for name in SHOWN if (cpu := results.lowest(core, size, name, "cpu")) is not None
    }
    title = f"ansible-inventory --list, {size:,} hosts, ansible-core {core}: seconds of CPU time"
    height = _HEAD + _LINE * len(seconds)
    body = "\n".join(_bars(seconds))
    return _SVG.format(licence=licence(), width=_WIDTH, height=height, title=title, body=body)


def _bars(seconds: dict[str, float]) -> list[str]:
    scale = (_WIDTH - _LABELS - 60) / max(seconds.values(), default=1)
    lines = []
    for number, (name, value) in enumerate(seconds.items()):
        y = _HEAD + number * _LINE
        kind = "ours" if name.startswith(OURS) else "other"
        length = value * scale
        lines += [
            f'<text x="{_LABELS - 10}" y="{y + 14}" text-anchor="end">{name}</text>',
            f'<rect x="{_LABELS}" y="{y}" width="{length:.1f}" height="18" class="{kind}"/>',
            f'<text x="{_LABELS + length + 8:.1f}" y="{y + 14}">{value:.1f}</text>',
        ]
    return lines


def licence() -> str:
    """Return the licence of this file, as a comment for what is written."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()[:3]
    return "\n".join(["<!--", *(line.removeprefix("# ") for line in lines), "-->"])
