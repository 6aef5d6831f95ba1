# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from ansible_collections.server_management.cloud.plugins.module_utils._request import Route


def test_a_message_names_host_port_and_proxy():
    route = Route("http://[::1]:81", "p:80")
    assert route.place == "[::1]:81 through the proxy p:80"
