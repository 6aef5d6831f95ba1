# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send requests to the sandbox."""

import requests


def call(sandbox, path="/servers", method="GET", **options):
    """Send a request below the version's prefix, with the token unless other headers are given."""
    url = f"{sandbox.url}/api/v1{path}"
    headers = {"Authorization": f"Bearer {sandbox.token}"}
    arguments = {"headers": headers, "timeout": 60, **options}
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, url, **arguments)
