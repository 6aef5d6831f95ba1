# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    # The options of the connection and of the listing, for modules and plugins alike.
    DOCUMENTATION = r"""
options:
  base_url:
    description:
      - The address of the API, in the form V(http(s\)://host[:port][/prefix]).
      - The path C(/api/v1) is added if it is missing. User information, a query or a fragment is
        an error.
    type: str
    required: true
  api_token:
    description:
      - The API token. Reading servers requires the scope C(servers:read).
      - Either this option or O(api_token_file) may be set, not both. Null and an empty value are
        errors, even as the result of a template.
      - The token is taken from the environment only if neither is set. There, the variable of this
        option takes precedence over the one of O(api_token_file). For all options, an empty
        environment variable counts as not set.
      - White space around the token is removed. Write a token that consists of digits in quotation
        marks, because YAML changes numbers.
      - The token is sent only to the origin of O(base_url).
    type: str
  api_token_file:
    description:
      - The path of a file that contains only the API token. White space around it is removed.
    type: path
  validate_certs:
    description:
      - Whether to verify the certificate of O(base_url).
    type: bool
    default: true
  ca_path:
    description:
      - The path of a PEM bundle with the CA certificates to trust.
      - Without it, the environment variables of the Python library requests apply
        (E(REQUESTS_CA_BUNDLE), E(CURL_CA_BUNDLE)).
    type: path
  timeout:
    description:
      - The longest wait for the next bytes of a response, in seconds, and for a connection.
      - A connection attempt may take 10 seconds for each address of a name, because the other
        addresses are also tried. A TLS handshake may take 10 more. These limits do not apply to a
        proxy.
      - This is also the limit for the whole body of a response. It counts from the headers, and is
        checked when bytes arrive.
    type: float
    default: 30
  retries:
    description:
      - The number of further attempts after a connection error, a timeout, or one of the HTTP
        statuses 408, 429 and 500 to 599.
      - The wait before the first one is at most half a second, and doubles each time, up to 60
        seconds. A C(Retry-After) of up to 60 seconds is honored if it is longer than this wait. A
        longer one is an error at once.
    type: int
    default: 3
  pagination:
    description:
      - How to request further servers if the API reports more. The API does not document this.
      - With V(none), a response that reports more servers is an error.
      - V(last_id) sends the id of the last server in the query parameter O(pagination_parameter).
    type: str
    choices: [none, last_id]
    default: none
  pagination_parameter:
    description:
      - The name of the query parameter for O(pagination=last_id). It must not be empty.
    type: str
    default: starting_after
  allow_partial:
    description:
      - Whether to warn and continue with the servers that were received, instead of failing, if
        the API reports more, but not how to request them.
    type: bool
    default: false
"""

    # For modules, which have no table of environment variables. Ansible requires the key options.
    MODULE = r"""
options: {}
notes:
  - "Options that the task does not set are taken from environment variables, on the machine where
    the module runs: O(base_url) from E(SERVER_MANAGEMENT_BASE_URL), O(api_token) from
    E(SERVER_MANAGEMENT_API_TOKEN), O(api_token_file) from E(SERVER_MANAGEMENT_API_TOKEN_FILE),
    O(validate_certs) from E(SERVER_MANAGEMENT_VALIDATE_CERTS), O(ca_path) from
    E(SERVER_MANAGEMENT_CA_PATH), O(timeout) from E(SERVER_MANAGEMENT_TIMEOUT), and O(retries) from
    E(SERVER_MANAGEMENT_RETRIES)."
  - A relative O(api_token_file) or O(ca_path), even in the environment, is relative to the working
    directory of the module. On localhost, this is the directory of the playbook, and the current
    directory for an ad-hoc command. Use absolute paths in the environment.
  - In a play for other hosts, the task usually runs on the control node, with
    C(delegate_to=localhost). Otherwise each host needs the Python library and gets the token.
requirements:
  - python >= 3.10 (2.7 and 3.6 to 3.9, which ansible-core supports on managed nodes, are not
    supported)
  - requests >= 2.28.0
"""

    # For plugins: ansible-doc shows these variables in a table.
    PLUGIN = r"""
notes:
  - In an inventory file, a relative O(api_token_file) or O(ca_path) is relative to that file.
    In the environment, it is relative to the current directory, so use absolute paths there.
requirements:
  - python >= 3.10
  - requests >= 2.28.0
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
