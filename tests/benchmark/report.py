# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the page with the medians, as ratios, and what they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .aims import AIMS, MOST_GROWTH, growth
from .contenders import CONTENDERS, DIRECT, EMPTY, OURS
from .measure import Results
from .plot import licence

_NONE = "-"
_HEADER = """\
{licence}

<!-- Written by tests/benchmark: change it there. -->

# Benchmarks

What it costs to turn the servers of an account into Ansible's inventory, beside the least that any
plugin can do and beside two well-known inventory plugins. The figures are ratios of medians, all
measured in one go by

    {command}

Ratios are much the same on another machine; times are not.

![CPU time as a ratio to direct calls](benchmarks.svg)
"""
_START = """\
## Where the start goes

Any source costs Ansible something before its first host, and that is what is measured at 10 hosts.
Counted once in instructions, which vary less than time does (by hand, with
`valgrind --tool=callgrind`, on ansible-core 2.21 and Python 3.12), it is as a ratio to an empty
inventory:

| source | instructions |
| --- | --- |
| the least plugin that has Ansible's options for groups and a cache, cache read | 1.04 |
| this collection, cache read | 1.09 |
| direct calls | 1.13 |
| this collection | 1.21 |

Of the 53 ms that the cache read takes in a process of 0.7 s, Ansible spends 24 on loading the
plugin, mostly on compiling its 1,800 lines, since it keeps no bytecode of collections, 15 on the
documentation, which is where it takes the options from, and 7 on listing the hosts; `parse()` takes
the other 7. So 1.05 is out of reach while the plugin checks what it reads.
"""
_EXPLANATION = """\
## What is compared

- **direct calls**: a plugin of some 30 lines that makes one request, and Ansible's own calls with
  what comes back. No check, no expression, no cache.
- **script source**, **static JSON**: the same hosts, variables and groups out of a file.
- **this collection** with its defaults: groups by region, plan and status, and `ansible_host`.
  *keyed*: the same by three `keyed_groups` and one `compose`. *everything*: both kinds of groups,
  two conditions in `groups`, a filter, and a `compose` that is another text for each host.
  *cache written*, *cache read*: the defaults with `ansible.builtin.jsonfile`.
- **vultr.cloud**, **hetzner.hcloud** with their defaults, which make no such groups; *keyed*, with
  the same three `keyed_groups` and `compose` as ours. They come with the PyPI package `ansible` and
  ask stand-ins of their APIs on loopback: the same servers, nothing more than what the plugins
  read, and all in one answer, where the real APIs have them ask for many pages.
- **empty inventory**: no host at all, which shows what it takes to start Ansible.

## How it is measured

{rounds} rounds, each of which begins at another place of the same order; each run is a process of
its own. Before the first round each source has to give the hosts, groups and addresses that the
others give.
`parse()` is what the plugin does; the whole process is `ansible-inventory --list`, most of which is
what Ansible does with the hosts of any source. CPU time is that of user and system; memory is the
most that the process held in RAM. What would take minutes and tell little is left out of the tables
of the older cores, and of `--list` with many hosts; `make bench ARGS=--full` measures it too.
"""


def report(
    results: Results,
    versions: Mapping[str, Mapping[str, str]],
    sizes: Sequence[int],
    rounds: int,
    command: str,
) -> str:
    """Return the page; the first of ``versions`` is of the core that is looked at most."""
    newest = next(iter(versions))
    sections = [
        _HEADER.format(licence=licence(), command=command),
        f"## Aims, on ansible-core {newest}",
        _aims(results, newest),
        *(section for core in versions for section in _core(results, core, sizes)),
        _START,
        _EXPLANATION.format(rounds=rounds),
        "## Measured on",
        _machine(),
        _versions(versions),
    ]
    return "\n\n".join(section.strip("\n") for section in sections) + "\n"


def _aims(results: Results, core: str) -> str:
    rows = [
        (aim.what, f"{aim.size:,}", aim.contender, aim.other, aim.most, aim.ratio(results, core))
        for aim in AIMS
    ]
    per_host = "CPU of `parse()` for each host"
    measured = growth(results, core)
    rows.append((per_host, "100,000", OURS, "the same with 1,000", MOST_GROWTH, measured))
    heads = ["figure", "hosts", "of", "to that of", "at most", "measured"]
    return _table(
        heads, [[*texts, _number(most), _judged(ratio, most)] for *texts, most, ratio in rows]
    )


def _core(results: Results, core: str, sizes: Sequence[int]) -> list[str]:
    """Return the tables of one core."""
    compared = [size for size in sizes if results.median(core, size, DIRECT, "parse_cpu")]
    whole = [size for size in compared if results.median(core, size, DIRECT, "cpu")]
    empty = [size for size in whole if results.median(core, size, EMPTY, "cpu")]
    large = [size for size in sizes if size >= 1_000]
    tables = {
        "`parse()`, as a ratio to direct calls: CPU / wall-clock time": _ratios(
            results, core, compared, DIRECT, ("parse_cpu", "parse_wall")
        ),
        "Whole process, as a ratio to direct calls: CPU / wall-clock time": _ratios(
            results, core, whole, DIRECT, ("cpu", "wall")
        ),
        "Whole process, as a ratio to an empty inventory: CPU / wall-clock time": _ratios(
            results, core, empty, EMPTY, ("cpu", "wall")
        ),
        "Most memory until `parse()` ends, and its ratio to direct calls": _memory(
            results, core, compared
        ),
        "CPU time of `parse()` for each host": _each_host(results, core, large),
    }
    captioned = [text for pair in tables.items() if pair[1] for text in pair]
    return [f"## ansible-core {core}", *captioned]


def _ratios(
    results: Results, core: str, sizes: Sequence[int], base: str, figures: tuple[str, str]
) -> str:
    def cell(name: str, size: int) -> str:
        ratios = [results.ratio(core, size, (name, base), figure) for figure in figures]
        if ratios[0] is None:
            return _NONE
        text = " / ".join(map(_number, ratios))
        if name == base:
            text += f" ({results.median(core, size, name, figures[0]):.2f} s)"
        return text

    return _by_size(sizes, {name: [cell(name, size) for size in sizes] for name in CONTENDERS})


def _memory(results: Results, core: str, sizes: Sequence[int]) -> str:
    def cell(name: str, size: int) -> str:
        peak = results.median(core, size, name, "parse_peak")
        ratio = results.ratio(core, size, (name, DIRECT), "parse_peak")
        return _NONE if peak is None else f"{peak / 2**20:.0f} MiB, {_number(ratio)}"

    return _by_size(sizes, {name: [cell(name, size) for size in sizes] for name in CONTENDERS})


def _each_host(results: Results, core: str, sizes: Sequence[int]) -> str:
    def cell(name: str, size: int) -> str:
        cpu = results.median(core, size, name, "parse_cpu")
        return _NONE if cpu is None else f"{cpu / size * 1e6:.0f} µs"

    return _by_size(sizes, {name: [cell(name, size) for size in sizes] for name in (DIRECT, OURS)})


def _by_size(sizes: Sequence[int], rows: Mapping[str, Sequence[str]]) -> str:
    """Return a table with a column for each size, if anything in it was measured at all."""
    measured = [[name, *cells] for name, cells in rows.items() if set(cells) - {_NONE}]
    return _table(["", *(f"{size:,} hosts" for size in sizes)], measured) if measured else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def _number(value: float | None) -> str:
    """Return a ratio with as many digits as mean something."""
    if value is None:
        return _NONE
    return f"{value:.3f}" if value < 0.2 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _judged(ratio: float | None, most: float) -> str:
    """Return a ratio, in bold where it is over the aim."""
    text = _number(ratio)
    return f"**{text}**" if ratio is not None and ratio > most else text


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = f"{line.partition(':')[2].strip()} ({model})"
                break
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB of memory, {platform.system()}."


def _versions(versions: Mapping[str, Mapping[str, str]]) -> str:
    names = dict.fromkeys(name for found in versions.values() for name in found)
    rows = [[name, *(found.get(name, _NONE) for found in versions.values())] for name in names]
    return _table(["", *(f"ansible-core {core}" for core in versions)], rows)
