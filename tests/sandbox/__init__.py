# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Serve the Server Management API on loopback, with an account of generated servers.

From a shell:  python3 tests/sandbox --port 8080 --servers 12
               python3 tests/sandbox --example  (the account of README.md and the guides)
In a test:     with Sandbox(servers=12) as sandbox: ... sandbox.url, sandbox.token

The account can change while it is served: tests change `sandbox.servers`, the command line takes a
schedule, --change at=30,appear=web-99 --change at=60,change=web-99,status=made-up-stopped.

This package serves what `docs/openapi.yaml` describes, and nothing else. The following is not
documented: the real API may differ from the sandbox:

- the responses to invalid requests: 400 for an invalid paging parameter, 401 for a missing or
  wrong token, 404 for another path, 405 for another method, each with the only key `error` in the
  body;
- how further results are requested: by the id of the last server, in which parameter, and the
  page size;
- every region, plan and name, and every status but `running`;
- all faults, such as `sandbox.fail(Fault(has_more=True), page=2)`.
"""

from __future__ import annotations

from .account import Change
from .api import Request
from .faults import Fault
from .server import Sandbox

__all__ = ["Change", "Fault", "Request", "Sandbox"]
