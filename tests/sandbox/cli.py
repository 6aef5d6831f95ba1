# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the sandbox from the command line."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
from dataclasses import fields, replace
from typing import Any

from .account import KINDS, Change, example_servers
from .api import WHOLE
from .faults import NO_FAULT, Fault
from .server import DEFAULT_PORT, DEFAULT_TOKEN, Sandbox

NAMED_FAULTS = ("gzip_bomb", "hang", "html", "nested", "reset")
FAULT_FIELDS = [field.name for field in fields(Fault) if field.name != "raw"]
FAULT_TARGETS = ("times", "page", "after")
FAULT_HELP = f"""
let requests fail, for example status=503,times=2,retry_after=1 or hang,after=3.
SPEC has parts, separated by commas: a name ({", ".join(NAMED_FAULTS)});
values for {", ".join(FAULT_FIELDS)};
which requests fail: times (a number or always), page, after. May be repeated.
"""
PAGE_HELP = "serve N servers at a time; the parameter starting_after has the id of the last one"
CHANGE_HELP = """
let the account change over time, for example at=30,appear=web-99 or
at=60,change=web-99,status=made-up-stopped or at=90,disappear=web-99; at counts seconds
from the start, and further keys are fields of the server; may be repeated
"""


def _positive(text: str) -> int:
    """Parse a number greater than 0."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number greater than 0, not {text!r}")
    return number


def _value(text: str) -> object:
    """Parse a number or a boolean; return other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_fault(spec: str) -> tuple[Fault, dict[str, Any]]:
    """Parse a fault and the requests that receive it, as arguments of `Sandbox.fail`."""
    fault = NO_FAULT
    changed: dict[str, Any] = {}
    targets: dict[str, Any] = {}
    for part in spec.split(","):
        key, _equals, text = part.partition("=")
        if part in NAMED_FAULTS:
            fault = getattr(Fault, part)()
        elif key in FAULT_TARGETS:
            targets[key] = None if text == "always" else int(text)
        elif key in FAULT_FIELDS:
            changed[key] = _value(text)
        else:
            raise argparse.ArgumentTypeError(f"can't use {part!r}")
    return replace(fault, **changed), targets


def parse_change(spec: str) -> Change:
    """Parse a change."""
    values = {}
    for part in spec.split(","):
        key, _equals, text = part.partition("=")
        values[key] = text
    at = float(values.pop("at", "0"))
    (kind,) = [key for key in KINDS if key in values]
    return Change(kind, values.pop(kind), at, values)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="sandbox",
        description="Serve the Server Management API on loopback, with made-up servers.",
    )
    add = parser.add_argument
    add("--port", type=int, default=DEFAULT_PORT, help="0: a free port (default: %(default)s)")
    add("--servers", type=int, default=12, metavar="N", help="how many (default: %(default)s)")
    add("--example", action="store_true", help="serve the account of the guides instead")
    add("--token", default=DEFAULT_TOKEN, help="the token to accept (default: %(default)s)")
    add("--page-size", type=_positive, default=WHOLE, metavar="N", help=PAGE_HELP)
    add("--fault", type=parse_fault, action="append", default=[], metavar="SPEC", help=FAULT_HELP)
    add("--change", type=parse_change, action="append", default=[], help=CHANGE_HELP)
    add("--verbose", action="store_true", help="write each request to standard error")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C or SIGTERM; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        sandbox = _sandbox(options)
        sandbox.start()
    except (OSError, OverflowError) as error:
        problem = f"can't listen on port {options.port}: {error}"
        next_step = "Choose another one with --port; 0 takes a free one."
        parser.exit(1, f"sandbox: {problem}. {next_step}\n")
    _announce(sandbox)
    signal.sigwait(signals)
    sandbox.stop()
    return 0


def _sandbox(options: argparse.Namespace) -> Sandbox:
    """Return a sandbox with these options."""
    servers = options.servers
    if options.example:
        servers = example_servers()
    sandbox = Sandbox(
        servers,
        options.token,
        port=options.port,
        page_size=options.page_size,
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
    quoted = shlex.quote(token)
    return [
        f"export SERVER_MANAGEMENT_BASE_URL={url}",
        f"export SERVER_MANAGEMENT_API_TOKEN={quoted}",
        "echo 'plugin: server_management.cloud.servers' > ~/my.server_management.yml",
        "ansible-inventory -i ~/my.server_management.yml --graph",
        "ansible -i ~/my.server_management.yml all -c local -m ansible.builtin.ping",
    ]


def _announce(sandbox: Sandbox) -> None:
    """Print the URL and the token, which scripts parse, and the next commands."""
    commands = "\n  ".join(next_steps(sandbox.url, sandbox.token))
    print(f"Listening on {sandbox.url} with token {sandbox.token}")
    print(f"Servers: {len(sandbox.servers)}. Ctrl-C stops.")
    print("\nIn another terminal, with Ansible and the collection installed:\n")
    print(f"  {commands}", flush=True)
