# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check a real account, read-only, and print a report that can be pasted into an issue.

SERVER_MANAGEMENT_BASE_URL is the address of the API, and SERVER_MANAGEMENT_API_TOKEN_FILE a file
with a token. Two GET requests are sent, and one more for each option that needs one. The report
has no token, host name, address, or id or name of a server.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import requests

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    VERSION,
    Connection,
)
from ansible_collections.server_management.cloud.plugins.module_utils._url import check_base_url
from live.report import WRONG_TOKEN, Report

PREFIX = "SERVER_MANAGEMENT_"


def read_token(path: str) -> str:
    """Return the token in a file; raise OptionError if there is none that can be sent."""
    try:
        token = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise OptionError(f"{path}: cannot be read.") from None
    if not token or not all("!" <= character <= "~" for character in token):
        raise OptionError(f"{path}: must contain a token of visible ASCII characters.")
    return token


def connection_of(environment: Mapping[str, str], timeout: float) -> Connection:
    """Return the connection that the environment describes; raise OptionError."""
    path = environment.get(f"{PREFIX}API_TOKEN_FILE", "")
    if not path:
        raise OptionError(f"{PREFIX}API_TOKEN_FILE: set it to a file that contains a token.")
    return Connection(
        base_url=check_base_url(environment.get(f"{PREFIX}BASE_URL")),
        api_token=read_token(path),
        verify=environment.get(f"{PREFIX}CA_PATH") or True,
        timeout=timeout,
        retries=0,
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="make live", description=__doc__)
    parser.add_argument("--values", action="store_true", help="show statuses, plans and regions")
    parser.add_argument("--wrong-token", action="store_true", help="send a wrong token as well")
    parser.add_argument(
        "--token-without-scope", metavar="FILE", help="send a token without servers:read as well"
    )
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for each request")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; return 1 if the API differs from its documentation, 2 for bad options."""
    options = parse(arguments)
    try:
        connection = connection_of(os.environ, options.timeout)
        other = read_token(options.token_without_scope) if options.token_without_scope else ""
    except OptionError as error:
        print(error, file=sys.stderr)
        return 2
    report = Report(connection, show_values=options.values)
    report.check_listing()
    report.check_client()
    if options.wrong_token:
        report.check_refusal("A wrong token", WRONG_TOKEN)
    if other:
        report.check_refusal("A token without the scope servers:read", other)
    versions = f"Python {platform.python_version()}, requests {requests.__version__}"
    print(f"server_management.cloud {VERSION}, {versions}")
    print("\n".join(report.lines))
    print("Result:", "differs from the documentation" if report.deviates else "as documented")
    return int(report.deviates)


if __name__ == "__main__":
    sys.exit(main())
