# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    # The options that say where the API is and how to speak to it, for modules.
    DOCUMENTATION = r"""
options:
  base_url:
    description:
      - Where the API is, as V(http(s\)://host[:port][/prefix]).
      - The path C(/api/v1) is added unless it is there already. A user, a query or a fragment is
        refused.
      - If not set, the environment variable E(SERVER_MANAGEMENT_BASE_URL) is used.
    type: str
    required: true
  api_token:
    description:
      - The API token, with the scope C(servers:read).
      - Required unless O(api_token_file) is set; this one wins where both are.
      - It is sent to the origin of O(base_url) and nowhere else.
      - If not set, the environment variable E(SERVER_MANAGEMENT_API_TOKEN) is used.
    type: str
  api_token_file:
    description:
      - The path of a file whose content, without white space around it, is the API token.
      - If not set, the environment variable E(SERVER_MANAGEMENT_API_TOKEN_FILE) is used.
    type: path
  validate_certs:
    description:
      - Whether to check the certificate of O(base_url).
      - If not set, the environment variable E(SERVER_MANAGEMENT_VALIDATE_CERTS) is used.
    type: bool
    default: true
  ca_path:
    description:
      - The path of a PEM bundle with the CA certificates to trust.
      - If not set, the environment variable E(SERVER_MANAGEMENT_CA_PATH) is used, then those of
        the Python library requests (E(REQUESTS_CA_BUNDLE), E(CURL_CA_BUNDLE)).
    type: path
  timeout:
    description:
      - How many seconds one request may take, from its start to the last byte of the answer.
      - If not set, the environment variable E(SERVER_MANAGEMENT_TIMEOUT) is used.
    type: float
    default: 30
  retries:
    description:
      - How often a request is tried again after a connection error, a time-out, or one of the
        HTTP statuses 429, 500, 502, 503 and 504.
      - The wait before each try doubles, from half a second. C(Retry-After) is honoured up to 60
        seconds; a longer one fails at once.
      - If not set, the environment variable E(SERVER_MANAGEMENT_RETRIES) is used.
    type: int
    default: 3
  pagination:
    description:
      - How to ask for further servers when the API says that it has more. The API does not
        document this, so it is for you to say.
      - V(none) asks for none, so that an answer with more to come is an error.
      - V(link) follows the C(Link) header with C(rel="next"), within the origin of O(base_url).
      - V(cursor) sends the id of the last server, V(page) the number of the next page (from 2) and
        V(offset) the number of servers so far, in O(pagination_parameter).
    type: str
    choices: [none, link, cursor, page, offset]
    default: none
  pagination_parameter:
    description:
      - The query parameter that O(pagination) sends.
      - The default is V(starting_after) for O(pagination=cursor), V(page) for O(pagination=page)
        and V(offset) for O(pagination=offset).
    type: str
  allow_partial:
    description:
      - Whether to warn and go on with the servers that came, instead of failing, where the API
        says that it has more and there is no way to ask for them.
    type: bool
    default: false
requirements:
  - requests >= 2.28.0
"""

    # What the inventory plugin has on top: Ansible itself reads its environment variables.
    PLUGIN = r"""
options:
  base_url:
    env:
      - name: SERVER_MANAGEMENT_BASE_URL
  api_token:
    env:
      - name: SERVER_MANAGEMENT_API_TOKEN
  api_token_file:
    env:
      - name: SERVER_MANAGEMENT_API_TOKEN_FILE
  validate_certs:
    env:
      - name: SERVER_MANAGEMENT_VALIDATE_CERTS
  ca_path:
    env:
      - name: SERVER_MANAGEMENT_CA_PATH
  timeout:
    env:
      - name: SERVER_MANAGEMENT_TIMEOUT
  retries:
    env:
      - name: SERVER_MANAGEMENT_RETRIES
"""
