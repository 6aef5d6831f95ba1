# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _names
from support import special_texts
from support.expressions import message_of

GROUPS = frozenset({"all", "ungrouped", "server_management"})
MERGED = frozenset({"merged", "plan_b"})
LONG = "w" * 254


def assign(account, taken=(), groups=GROUPS, **fields):
    """Name servers that are given by their ids, each with its preferences.

    Other sources have the hosts in ``taken``; of these, "merged" and "plan_b" can be servers.
    """
    servers = [Server(server_id, fields) for server_id in account]

    def obstacle(name, server):
        if name in taken and name not in MERGED:
            return _names.Reason(_names.TAKEN, f"({name} is not {server.id}.)")
        return None

    owners = dict.fromkeys(groups, _names.Owner("of x"))
    files = (*_names.VARIABLE_FILES, ".vars", ".ini")
    rules = _names.NameRules(owners, _names.PREFIXES_OF_FIELDS, taken, obstacle, files)
    return _names.assign_names(servers, rules, account)


def name_of(*preferences, **options):
    """Return the name of the server srv_1."""
    return assign({"srv_1": preferences}, **options).names["srv_1"]


def explain(account, taken):
    """Return the messages about names, for servers that are all named "web"."""
    naming = assign(account, taken, name="web")
    servers = [Server(server_id, {"name": "web"}) for server_id in account]
    return list(naming.explain_renamed(servers))


USABLE = """
_web web- web. ALL localhost.example.com mylocalhost localhost5 1270.0.0.1 127.0.0.1.example.com
0-1 0x7f000001x yml web.ymlx web.yml. webyml 3 2024 10.5 1.2.3 1.2.3.4.5 1.2.3.256
"""


@pytest.mark.parametrize("name", [LONG[:253], *USABLE.split()])
def test_other_names_are_used_as_they_are(name):
    assert name_of(name) == name


UNUSABLE = """
-web --option . .. .hidden ../../etc all status_running localhost LOCALHOST localhost. localhost..
localhost.localdomain localhost4 localhost6.localdomain6 ip6-localhost ip6-loopback api.localhost
127.0.0.1 127.0.0.1. 127.255.255.254 127.1 0177.0.0.1 0x7f.1 0x7f000001 0X7F000001 2130706433
017700000001 0 0.0.0.0 0x0
"""


@pytest.mark.parametrize("name", [LONG, *UNUSABLE.split()])
def test_an_unusable_name_falls_back_to_the_next_preference(name):
    assert name_of(name, "second") == "second"


# Preferences, what is known about the server and other sources, and the name.
CHOSEN = yaml.safe_load(r"""
# Characters that a name must not have.
- [[web 1], {}, web_1]
- [['a/b:c'], {}, a_b_c]
- [[漢字], {}, _]
- [["a\r\nb"], {}, a_b]
# Ansible reads host_vars/web.yml for the host web, too.
- [[web.yml], {}, web_yml]
- [[web.YAML], {}, web_YAML]
- [[web.yml.json], {}, web.yml_json]
- [[web.vars], {}, web_vars]
- [[web.ini], {}, web_ini]
# An address is a name only if another field of the server has it.
- [[192.0.2.2], {name: 192.0.2.2, ipv4: 192.0.2.1}, 192.0.2.2_srv_1]
- [[192.0.2.2], {ips: [192.0.2.2]}, 192.0.2.2_srv_1]
- [[010.0x2.3.4], {ipv4: 10.2.3.4}, 010.0x2.3.4_srv_1]
- [[10.0.0.5], {ipv4: 192.0.2.1, private_ip: 10.0.0.5}, 10.0.0.5]
# Without a usable name, the id is added or used.
- [[server_management], {}, server_management_srv_1]
- [['', 127.0.0.1], {}, 127.0.0.1_srv_1]
- [[all, all], {}, all_srv_1]
- [[status_running], {}, srv_1]
- [[../../etc], {}, srv_1]
- [[''], {}, srv_1]
- [[], {}, srv_1]
# Hosts of other sources, which can be this server or not.
- [[web], {taken: [web]}, web_srv_1]
- [[web], {taken: [web, web_srv_1]}, srv_1]
- [[bastion], {taken: [bastion], groups: [bastion]}, bastion_srv_1]
- [[merged], {taken: [], groups: [merged]}, merged_srv_1]
- [[merged], {taken: [merged], groups: [merged]}, merged]
- [[plan_a, plan_b], {taken: [plan_b]}, plan_b]  # names that groups could get
""")


@pytest.mark.parametrize(("preferences", "options", "name"), CHOSEN, ids=str)
def test_a_server_gets_its_first_usable_name(preferences, options, name):
    assert name_of(*preferences, **options) == name


NAMELESS = ["-1", ".a", "localhost", "all", LONG, "127.1"]


@pytest.mark.parametrize("server_id", NAMELESS, ids=range(6))
def test_a_server_without_a_usable_name_and_id_is_an_error(server_id):
    with pytest.raises(OptionError):
        assign({server_id: [""]})


def test_ids_that_become_equal_belong_to_no_server():
    assert message_of(assign, {"a/1": [""], "a:1": [""]}) == (
        "hostnames: no name is left for the server a/1: no host can have its names and its id, or "
        "other hosts or groups have them. Set hostnames to give hosts other names, or change "
        "prefix in keyed_groups, which renames its groups."
    )


ACCOUNTS = yaml.safe_load("""
- [{a: [web], b: [web]}, {a: web_a, b: web_b}]
- [{a: [web 1], b: [web/1]}, {a: web_1_a, b: web_1_b}]
- [{a: [web], b: [web-1]}, {a: web, b: web-1}]
- [{a: [w], b: [w], c: [w_a]}, {a: a, b: w_b, c: w_a}]
- [{a: [merged], b: [merged]}, {a: merged_a, b: merged_b}]
""")
ACCOUNTS.append([{"a": [LONG[2:]], "b": [LONG[2:]]}, {"a": "a", "b": "b"}])


@pytest.mark.parametrize(("account", "names"), ACCOUNTS)
def test_a_name_that_several_servers_want_goes_to_none(account, names):
    assert assign(account, taken=["merged"]).names == names


# The first preference, the name, and words of the reason; other reasons are compared below.
LOST = yaml.safe_load("""
- [o t, eu, 'web (srv_1) is eu. (o_t is not']
- ['', srv_1, 'a host name has 1 to 253 characters, and does not start with a dot or a hyphen: ']
- ['127.1', eu, 'this machine has such a name or address: ']
- [192.0.2.1, eu, "a host name can't be an address that the server does not have: "]
- - eu.yml
  - eu_yml
  - "a host name can't have other characters than letters, digits, ., _ and -, or end like a file
     with variables: web (srv_1) is eu_yml."
- [server_management, eu, 'web (srv_1) is eu. server_management is a group of x.']
""")


@pytest.mark.parametrize(("first", "name", "words"), LOST)
def test_the_reason_for_which_a_first_name_is_lost_is_reported(first, name, words):
    preferences = [first, "eu"] if first else [""]
    assert name_of(*preferences, taken=["o_t"]) == name
    (message,) = explain({"srv_1": preferences}, ["o_t"])
    assert words in message


@pytest.mark.parametrize("preferences", [["", "eu"], []])
def test_an_empty_first_preference_is_not_reported(preferences):
    assert explain({"srv_1": preferences}, []) == []


def test_an_empty_name_is_reported_and_a_missing_one_is_not():
    servers = [Server("srv_1", {"name": ""}), Server("srv_2", {})]
    naming = _names.assign_names(servers, _names.NameRules(), {})
    assert [*naming.reasons] == ["srv_1"]


def test_each_problem_names_what_the_first_three_servers_have_become():
    account = yaml.safe_load("""
        {s1: [x], s2: [x], s6: [a], s5: [b], s4: [c], s3: [d], s7: [plan_a], s8: [plan_b]}
    """)
    assert explain(account, "abcd") == [
        "the preferred name is not used for 2 servers, because other servers have the same name: "
        "web (s1) is x_s1, web (s2) is x_s2.",
        "the preferred name is not used for 4 servers, because hosts of other sources have the "
        "same name: web (s3) is d_s3, web (s4) is c_s4, web (s5) is b_s5 and 1 more. "
        "(d is not s3.) (c is not s4.) (b is not s5.)",
        "the preferred name is not used for 2 servers, because groups have or could get the same "
        "name: web (s7) is s7, web (s8) is s8. Groups of group_by start with plan_. Set hostnames "
        "to give hosts other names.",
    ]


IDS = yaml.safe_load("[a, b, c, a b, a/b, '-', localhost, web, é, web.yml, web_yml]")
NAMES = yaml.safe_load("""
['', web, web_a, web_b, a, b, a_b, a b, -x, all, '127.1', '::1', a.yml, web.yml, web_yml, b.JSON,
 merged]
""")
NAMES += ["w" * 252, *special_texts.TEXTS]
some_names = st.sets(st.sampled_from(NAMES))
accounts = st.dictionaries(
    st.sampled_from(IDS) | st.text(min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES) | st.text(max_size=5), min_size=1, max_size=2),
    max_size=9,
)
is_host_name = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}").fullmatch
is_variable_file = re.compile(r".*\.(yml|yaml|json|vars|ini)", re.IGNORECASE).fullmatch


@given(accounts, some_names, some_names)
def test_any_account_gets_unique_usable_names_in_any_order(account, groups, taken):
    backwards = dict(reversed(account.items()))
    try:
        naming = assign(account, taken, GROUPS | groups)
    except OptionError:
        with pytest.raises(OptionError):
            assign(backwards, taken, GROUPS | groups)
        return
    again = assign(backwards, taken, GROUPS | groups)
    assert again.names == naming.names
    names = set(naming.names.values())
    assert len(names) == len(account)
    assert names.isdisjoint((GROUPS | groups | taken) - (taken & MERGED))
    assert all(map(is_host_name, names))
    assert not any(map(is_variable_file, names))
    for server_id, preferences in account.items():
        first = next(filter(None, preferences), None)
        assert (server_id in naming.reasons) == (naming.names[server_id] != first)
