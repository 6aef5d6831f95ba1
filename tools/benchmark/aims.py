# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The goals of the plugin on the newest core."""

from __future__ import annotations

from dataclasses import dataclass

from .contenders import (
    ABSENT,
    CONDITIONS,
    DIRECT,
    DIRECT_LATER,
    EACH,
    EMPTY,
    GROUP_NAMES,
    HCLOUD_KEYED,
    LIST,
    LOOKUP,
    MAPPING,
    NESTED,
    OURS,
    OURS_EVERYTHING,
    OURS_KEYED,
    OURS_READ,
    VULTR_KEYED,
)
from .measure import Results


@dataclass(frozen=True)
class Aim:
    """The highest ratio of a figure of one contender to that of another."""

    what: str
    figure: str
    size: int
    contender: str
    other: str
    most: float

    def ratio(self, results: Results, core: str) -> float | None:
        """Return the measured ratio, or None."""
        return results.ratio(core, self.size, (self.contender, self.other), self.figure)


AIMS = (
    Aim("CPU of `parse()`", "parse_cpu", 10_000, OURS, DIRECT, 1.0),
    Aim("CPU of `parse()`", "parse_cpu", 10_000, OURS_KEYED, DIRECT, 1.1),
    Aim("CPU of `parse()`", "parse_cpu", 1_000, OURS_KEYED, DIRECT, 1.5),
    Aim("CPU of `parse()`", "parse_cpu", 10_000, OURS_EVERYTHING, DIRECT, 1.25),
    *(
        Aim("CPU of `parse()`", "parse_cpu", 10_000, name, DIRECT_LATER, most)
        for name, most in {
            LIST: 1.6,
            ABSENT: 1.6,
            GROUP_NAMES: 1.6,
            CONDITIONS: 1.6,
            NESTED: 1.6,
            MAPPING: 1.6,
            EACH: 4.0,
            LOOKUP: 4.0,
        }.items()
    ),
    Aim("CPU of `parse()`", "parse_cpu", 10_000, OURS_KEYED, VULTR_KEYED, 1 / 12),
    Aim("CPU of `parse()`", "parse_cpu", 1_000, OURS_KEYED, VULTR_KEYED, 1 / 7),
    Aim("CPU of `parse()`", "parse_cpu", 10_000, OURS_KEYED, HCLOUD_KEYED, 1 / 12),
    Aim("CPU of `parse()`", "parse_cpu", 1_000, OURS_KEYED, HCLOUD_KEYED, 1 / 7),
    Aim("CPU of the whole process", "cpu", 10_000, OURS_KEYED, VULTR_KEYED, 0.3),
    Aim("CPU of the whole process", "cpu", 10, OURS, EMPTY, 1.2),
    Aim("CPU of the whole process", "cpu", 10, OURS_READ, EMPTY, 1.05),
    Aim("Peak memory of `parse()`", "parse_peak", 10_000, OURS, DIRECT, 1.15),
)
MOST_GROWTH = 1.2  # ratio of the cost of a host among 100,000 to that among 1,000


def growth(results: Results, core: str) -> float | None:
    """Return the ratio of the cost of a host among 100,000 to that among 1,000, or None."""
    few, many = (results.lowest(core, size, OURS, "parse_cpu") for size in (1_000, 100_000))
    return None if few is None or many is None else many / few / 100
