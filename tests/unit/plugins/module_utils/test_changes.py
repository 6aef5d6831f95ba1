# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._changes import Change, decide
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    OptionError,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from support.modules import WEB

BARE = {"id": "s_4", "name": "bare"}
SPACED = {**WEB, "id": "s_5", "name": "twin ", "plan": "small\n"}
HOSTILE = {**WEB, "id": "s\n_6", "name": "hostile", "region": "eu\x1b[31m\nus"}
SERVERS = [
    Server("s_1", WEB),
    Server("s_2", {**WEB, "id": "s_2", "name": "twin"}),
    Server("s_4", BARE),
    Server("s_5", SPACED),
    Server("s\n_6", HOSTILE),
]
DEFAULTS = {"id": None, "name": None, "plan": None, "region": None, "state": "present"}
REINSTALLED = {**WEB, "status": "unknown"}
UNKNOWN = dict.fromkeys(WEB, "unknown")
NEW = {**UNKNOWN, "name": "new", "plan": "small", "region": "eu"}


def decide_on(options):
    params = {**DEFAULTS, **options}
    return decide(params, SERVERS)


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"name": "web"}, Change("", WEB, WEB)),
        ({"id": "s_4"}, Change("", BARE, BARE)),
        ({"id": "s_5", "plan": "small"}, Change("", SPACED, SPACED)),
        ({"name": "new", "plan": "small", "region": "eu"}, Change("create", {}, NEW)),
        ({"name": "web", "plan": "large"}, Change("resize", WEB, {**WEB, "plan": "large"})),
        ({"name": "web", "state": "absent"}, Change("delete", WEB, {})),
        ({"id": "s_4", "plan": "small", "state": "absent"}, Change("delete", BARE, {})),
        ({"name": "gone", "state": "absent"}, Change("", {}, {})),
        ({"name": "web", "state": "reinstalled"}, Change("reinstall", WEB, REINSTALLED)),
    ],
)
def test_the_options_decide_the_operation(options, change):
    assert decide_on(options) == change


IMPOSSIBLE = yaml.safe_load(r"""
- [{name: twin}, 'name: 2 servers are named twin: s_2, s_5. Use id to select one of them.']
- - {name: web, region: us}
  - "region: web is in eu and cannot be moved to us. The API has not announced a way to move a
     server."
- - {id: s_1, region: us, state: reinstalled}
  - "region: s_1 is in eu and cannot be moved to us. The API has not announced a way to move a
     server."
- - {name: web, region: us, state: absent}
  - "region: web is in eu and cannot be moved to us. The API has not announced a way to move a
     server."
- [{name: new}, 'plan and region: required, because the account has no server named new.']
- [{name: new, plan: small}, 'region: required, because the account has no server named new.']
- - {id: s_9, plan: s, region: eu}
  - "id: the account has no server with the id s_9. To create a server, set name, plan and region
     instead of id."
- - {name: new, state: reinstalled}
  - "name: the account has no server named new to reinstall. Check the name, or use state=present
     to create the server."
- - {name: web, plan: large, state: reinstalled}
  - "plan: web has the plan small. Reinstalling does not resize: omit plan, or resize the server
     first."
- - {id: "s\n_6", region: us}
  - 'region: "s _6" is in "eu [31m us" and cannot be moved to us. The API has not announced a way
     to move a server.'
""")


@pytest.mark.parametrize(("options", "message"), IMPOSSIBLE)
def test_impossible_options_are_an_error(options, message):
    with pytest.raises(OptionError) as caught:
        decide_on(options)
    assert str(caught.value) == message


@pytest.mark.parametrize("field", ["plan", "region"])
def test_a_field_that_the_api_does_not_give_cannot_be_compared(field):
    with pytest.raises(MalformedResponse) as caught:
        decide_on({"id": "s_4", field: "small"})
    assert str(caught.value) == (
        f"The API gives no usable {field} for the server s_4. Omit {field} to continue without "
        "comparing it."
    )


def test_the_ids_of_at_most_20_servers_with_one_name_are_listed():
    servers = [Server(f"s_{number}", {"name": "many"}) for number in range(10, 31)]
    with pytest.raises(OptionError) as caught:
        decide({**DEFAULTS, "name": "many"}, servers)
    assert caught.value.problem.startswith("name: 21 servers are named many: s_10, s_11, ")
    assert caught.value.problem.endswith(" s_28, s_29 and 1 more.")
