# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Serve the Server Management API on loopback, with an account of made-up servers.

From a shell:  python3 tests/sandbox --port 8080 --servers 12
In a test:     with Sandbox(servers=12) as sandbox: ... sandbox.url, sandbox.token

The account can change while it is served: a test changes `sandbox.servers`, a shell gives a
schedule, --change at=30,appear=web-99 --change at=60,change=web-99,status=made-up-stopped.

The API's documentation gives one endpoint, `GET /api/v1/servers`, and this package serves no other.
What the documentation leaves open is the sandbox's own choice and tells nothing about the real API:

- the responses to requests that can't be served: 400 for a paging parameter that makes no sense,
  401 for a token that is missing or wrong, 403 for one without the scope `servers:read`,
  404 for another path, 405 for another method, each with a body of one key, `error`;
- how further results are fetched: the paging styles, their parameters and the page size;
- every region, plan and name, and every status but `running`;
- all faults.

Paging that goes wrong, with `sandbox.fail(fault, times=..., page=...)`:

    Fault(has_more=True)                                  claims more than there is
    Fault(data=[], has_more=True)                         an empty page that claims more
    Fault(shift=100)                                      with pages of 100: the last page again
    Fault(shift=1)                                        the listing moved: one server twice
    Fault(link='<{origin}/api/v1/servers>; rel="next"')   a loop
    Fault(link='<{next}>; rel="next"')                    a relative link
    Fault(link='<http://localhost:9{next}>; rel="next"')  a link to another origin
"""

from __future__ import annotations

from .api import Request
from .changes import Change
from .faults import Fault
from .server import Sandbox

__all__ = ["Change", "Fault", "Request", "Sandbox"]
