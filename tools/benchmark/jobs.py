# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The selection of runs, without those that take minutes and show little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .contenders import (
    CONTENDERS,
    DIRECT,
    DIRECT_LATER,
    EMPTY,
    EXPRESSIONS,
    HCLOUD,
    HCLOUD_KEYED,
    OURS,
    OURS_EVERYTHING,
    OURS_KEYED,
    OURS_READ,
    STATIC,
    VULTR,
    VULTR_KEYED,
)

SIZES = (10, 1_000, 10_000, 100_000)
_LARGE = 10_000
_SMALL = 100

# Measured again, one after another, on the newest core, because the goals compare them: with few
# hosts the whole process, with many hosts only parse().
_OFTEN_SMALL = (EMPTY, DIRECT, OURS, OURS_READ)
_OFTEN_LARGE = (DIRECT, OURS, OURS_KEYED, OURS_EVERYTHING)
_MORE = 4  # times

# Measured as a whole process with many hosts on the newest core.
_WHOLE = (DIRECT, STATIC, OURS, OURS_KEYED, VULTR_KEYED, HCLOUD_KEYED)
# Measured on the other cores, with few and with many hosts.
_ELSEWHERE = (EMPTY, DIRECT, OURS, OURS_KEYED, VULTR, VULTR_KEYED, HCLOUD, HCLOUD_KEYED)
_ELSEWHERE_LARGE = (DIRECT, OURS, OURS_KEYED, DIRECT_LATER, *EXPRESSIONS)
# Measured until the end of parse(): with many hosts, and with the fewest, to check them.
_ONLY_PARSED = (DIRECT_LATER, *EXPRESSIONS)


@dataclass(frozen=True)
class Job:
    """A run of the whole process, or only until the inventory is parsed."""

    core: str
    size: int
    contender: str
    is_whole: bool


def choose_jobs(
    cores: Sequence[str], sizes: Sequence[int], only: Sequence[str], is_full: bool
) -> list[Job]:
    """Return the runs of one round, for contenders whose names contain one of the texts.

    Most runs use the first of ``cores``.
    """
    jobs = []
    for size in sizes:
        for core in cores:
            some = _choose(core == cores[0] or is_full, size, is_full)
            jobs += [Job(core, size, name, is_whole) for name, is_whole in some]
        if size <= _SMALL:
            jobs += [Job(cores[0], size, name, is_whole=True) for name in _OFTEN_SMALL] * _MORE
        elif size == _LARGE:
            jobs += [Job(cores[0], size, name, is_whole=False) for name in _OFTEN_LARGE] * _MORE
    return [job for job in jobs if any(text in job.contender for text in only)]


def _choose(is_main: bool, size: int, is_full: bool) -> list[tuple[str, bool]]:
    """Return the names of the contenders, and whether their whole process is measured."""
    if size > _LARGE:
        return [(OURS, False)] if is_main else []
    is_large = size == _LARGE
    names: Iterable[str] = CONTENDERS
    if not is_main:
        names = _ELSEWHERE_LARGE if is_large else _ELSEWHERE
    return [
        (
            name,
            name not in _ONLY_PARSED and (is_full or not is_large or (is_main and name in _WHOLE)),
        )
        for name in names
        if (name != EMPTY or size <= _SMALL)
        and (name not in _ONLY_PARSED or is_large or size <= _SMALL)
    ]
