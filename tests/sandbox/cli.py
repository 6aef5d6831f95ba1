# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the sandbox from the command line."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .account import example_servers
from .changes import KINDS, Change
from .faults import Fault
from .paging import PARAMETERS
from .server import DEFAULT_TOKEN, Sandbox

NAMED_FAULTS = {
    "endless": Fault.endless,
    "gzip_bomb": Fault.gzip_bomb,
    "hang": Fault.hang,
    "html": Fault.html,
    "nested": Fault.nested,
    "reset": Fault.reset,
}


def _yes_or_no(text: str) -> bool:
    """Parse true or false."""
    if text not in ("true", "false"):
        raise ValueError("expected true or false")
    return text == "true"


def _times(text: str) -> int | None:
    """Parse a number; return None for always."""
    return None if text == "always" else int(text)


FAULT_FIELDS: dict[str, Callable[[str], object]] = {
    "status": int,
    "body": str,
    "retry_after": str,
    "location": str,
    "content_type": str,
    "has_more": _yes_or_no,
    "link": str,
    "shift": int,
    "delay": float,
    "drip_body": float,
    "chunked": _yes_or_no,
    "cut": str,
    "end": str,
}
FAULT_TARGETS: dict[str, Callable[[str], int | None]] = {"times": _times, "page": int, "after": int}


def parse_fault(spec: str) -> tuple[Fault, dict[str, Any]]:
    """Parse a fault and the requests that receive it, as arguments of `Sandbox.fail`."""
    fault = Fault()
    fields: dict[str, Any] = {}
    targets: dict[str, Any] = {}
    for part in spec.split(","):
        key, equals, text = part.partition("=")
        try:
            if not equals:
                fault = NAMED_FAULTS[key]()
            elif key in FAULT_TARGETS:
                targets[key] = FAULT_TARGETS[key](text)
            else:
                fields[key] = FAULT_FIELDS[key](text)
        except (KeyError, ValueError) as error:
            raise argparse.ArgumentTypeError(f"can't use {part!r}") from error
    try:
        return replace(fault, **fields), targets
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_change(spec: str) -> Change:
    """Parse a change."""
    kinds: list[tuple[str, str]] = []
    at = 0.0
    fields: dict[str, str] = {}
    for part in spec.split(","):
        key, equals, text = part.partition("=")
        try:
            if not (key and equals):
                raise ValueError
            if key in KINDS:
                kinds.append((key, text))
            elif key == "at":
                at = float(text)
            else:
                fields[key] = text
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"can't use {part!r}") from error
    if len(kinds) != 1:
        raise argparse.ArgumentTypeError(f"expected exactly one of {', '.join(KINDS)}")
    try:
        return Change(*kinds[0], at, fields)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _list_from(path: str) -> list[object]:
    """Return the JSON list in a file."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"can't read {path}: {error}") from error
    if not isinstance(content, list):
        raise argparse.ArgumentTypeError(f"expected a JSON list in {path}")
    return content


def _port(text: str) -> int:
    """Parse the number of a port."""
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("expected 0 to 65535")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="sandbox",
        description="Serve the Server Management API on loopback, with made-up servers.",
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="127.x.y.z or ::1 (default: %(default)s)")
    add("--port", type=_port, default=8080, help="0 takes a free one (default: %(default)s)")
    account = parser.add_mutually_exclusive_group()
    account.add_argument(
        "--servers", type=int, default=12, metavar="N", help="how many (default: %(default)s)"
    )
    account.add_argument(
        "--example", action="store_true", help="the account of README.md and the guides"
    )
    account.add_argument(
        "--data",
        type=_list_from,
        metavar="FILE",
        help="a JSON list, served instead of made-up servers",
    )
    add("--token", default=DEFAULT_TOKEN, help="the one that is accepted (default: %(default)s)")
    add(
        "--addresses",
        choices=["documentation", "loopback"],
        help="where the servers are: nowhere, or at 127.x.y.z "
        "(default: loopback with --example, otherwise documentation)",
    )
    add("--pagination", choices=list(PARAMETERS), default="none", help="default: %(default)s")
    add("--pagination-parameter", metavar="NAME", help="default: as usual for the style")
    add("--page-size", type=int, default=100, metavar="N", help="default: %(default)s")
    add("--latency", type=float, default=0.0, metavar="SECONDS", help="before each response")
    add("--certfile", metavar="FILE", help="serve HTTPS with this certificate (PEM)")
    add("--keyfile", metavar="FILE", help="the certificate's key (default: in the same file)")
    add(
        "--fault",
        type=parse_fault,
        action="append",
        default=[],
        metavar="SPEC",
        help="let requests fail, for example status=503,times=2,retry_after=1 or hang,after=3; "
        f"a name ({', '.join(NAMED_FAULTS)}) and values for {', '.join(FAULT_FIELDS)}; "
        "which requests: times (a number or always), page, after; may be repeated",
    )
    add(
        "--change",
        type=parse_change,
        action="append",
        default=[],
        metavar="SPEC",
        help="let the account change over time, for example at=30,appear=web-99 or "
        "at=60,change=web-99,status=made-up-stopped or at=90,disappear=web-99; at counts seconds "
        "from the start, and further keys are fields of the server, which is chosen by its name "
        "or id; may be repeated",
    )
    add("--verbose", action="store_true", help="write each request to standard error")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C or SIGTERM; return the exit status."""
    signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.keyfile and not options.certfile:
        parser.error("--keyfile needs --certfile")
    try:
        sandbox = _sandbox(options)
        sandbox.start()
    except OSError as error:
        parser.exit(
            1, f"sandbox: can't listen on {options.host} port {options.port}: {error.strerror}\n"
        )
    except ValueError as error:
        parser.exit(1, f"sandbox: {error}\n")
    _announce(sandbox)
    signal.sigwait(signals)
    sandbox.stop()
    return 0


def _sandbox(options: argparse.Namespace) -> Sandbox:
    """Return a sandbox with these options; raise ValueError for invalid ones."""
    addresses = options.addresses or ("loopback" if options.example else "documentation")
    servers = options.servers if options.data is None else options.data
    sandbox = Sandbox(
        example_servers(addresses) if options.example else servers,
        options.token,
        host=options.host,
        port=options.port,
        pagination=options.pagination,
        pagination_parameter=options.pagination_parameter,
        page_size=options.page_size,
        addresses=addresses,
        tls=(options.certfile, options.keyfile) if options.certfile else None,
        latency=options.latency,
        changes=options.change,
        verbose=options.verbose,
    )
    for fault, targets in options.fault:
        sandbox.fail(fault, **targets)
    return sandbox


def next_steps(url: str, token: str) -> list[str]:
    """Return the commands that list and reach a sandbox's servers with the installed collection.

    The local connection runs the module on this machine instead of connecting to the servers.
    """
    return [
        f"export SERVER_MANAGEMENT_BASE_URL={url}",
        f"export SERVER_MANAGEMENT_API_TOKEN={shlex.quote(token)}",
        "echo 'plugin: server_management.cloud.servers' > ~/my.server_management.yml",
        "ansible-inventory -i ~/my.server_management.yml --graph",
        "ansible -i ~/my.server_management.yml all -c local -m ansible.builtin.ping",
    ]


def _announce(sandbox: Sandbox) -> None:
    """Print the URL and the token, which scripts parse, and the next commands."""
    print(
        f"Listening on {sandbox.url} with token {sandbox.token}",
        f"Servers: {len(sandbox.servers)}. Ctrl-C stops.",
        "",
        "In another terminal, with Ansible and the collection installed:",
        "",
        *(f"  {command}" for command in next_steps(sandbox.url, sandbox.token)),
        sep="\n",
        flush=True,
    )
