# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is live: documents, the client and the tests say the same."""

import re

import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._operations import OPERATIONS
from ansible_collections.server_management.cloud.plugins.module_utils._url import Request
from support.collection import REPOSITORY, sources

DESCRIPTION = yaml.safe_load((REPOSITORY / "docs/openapi.yaml").read_text(encoding="utf-8"))
REQUESTS = [value for value in vars(_client).values() if isinstance(value, Request)]
GUIDES = REPOSITORY / "docs/docsite/rst"


def test_the_scopes_of_what_is_live_are_documented():
    guide = (GUIDES / "guide_trust.rst").read_text(encoding="utf-8")
    sentence = re.search(r"^  The scopes?\s([^.]*)\s(?:is|are)\ssufficient for", guide, re.M)
    assert sentence
    live = {row.scope for row in OPERATIONS if row.live}
    assert set(re.findall(r"``(.*?)``", sentence[1])) == live


def test_the_client_sends_the_described_requests():
    described = []
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            (scope,) = operation.get("security", DESCRIPTION["security"])[0]["bearer"]
            (success,) = [status for status in operation["responses"] if status.startswith("2")]
            described.append((method.upper(), path, scope, success))
    sent = [(r.method, r.path, r.scope, str(r.success)) for r in REQUESTS]
    assert sorted(sent) == sorted(described)
    assert {r.scope for r in REQUESTS} == {row.scope for row in OPERATIONS if row.live}


# A sentence about the requests that are sent, and one about the statuses that are expected.
METHODS = r"\b[Oo]nly\s((?:``[A-Z]+``,?\s+(?:and\s+)?)+)requests"
STATUSES = r"\bstatus\s+other\s+than\s+(\d+(?:,?(?:\s+or)?\s+\d+)*)"


def test_documents_name_the_requests_that_are_live():
    methods = {request.method for request in REQUESTS}
    statuses = {str(request.success) for request in REQUESTS}
    assert re.search(METHODS, (GUIDES / "guide_trust.rst").read_text(encoding="utf-8"))
    for path in [*(REPOSITORY / "docs").rglob("*.rst"), REPOSITORY / "README.md"]:
        text = path.read_text(encoding="utf-8")
        for named in re.findall(METHODS, text):
            assert set(re.findall("[A-Z]+", named)) == methods, path
        for named in re.findall(STATUSES, text):
            assert set(re.findall("[0-9]+", named)) == statuses, path
        for row in OPERATIONS:
            assert not row.live or f"{row.title} is not yet live" not in text, path


def test_the_description_of_the_api_names_what_is_live():
    (live,) = re.findall(r"([^.]+) (?:is|are) live\.", DESCRIPTION["info"]["description"])
    for row in OPERATIONS:
        assert (row.title.lower() in live.lower()) is row.live


def test_no_endpoint_is_invented():
    (server,) = DESCRIPTION["servers"]
    prefix = server["url"].removeprefix("{base_url}")
    described = {f"{prefix}/{path.split('/')[1]}" for path in DESCRIPTION["paths"]}
    methods = {method.upper() for path in DESCRIPTION["paths"].values() for method in path}
    # What users read or run: everything but tests and tools; also the sandbox.
    checked = {name for name in sources() if not name.startswith(("tests/", "tools/", ".", "LIC"))}
    assert {"README.md", "playbooks/check_api.yml"} < checked
    checked.update(name for name in sources() if name.startswith("tests/sandbox/"))
    for name in checked:
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        assert set(re.findall(r"/api/v\w+", text)) <= {prefix}, name
        assert set(re.findall(rf"{prefix}/\w+", text)) <= described, name
        assert set(re.findall(r"\b(?:POST|PUT|PATCH|DELETE)\b", text)) <= methods, name


def test_the_tests_that_the_development_guide_names_exist():
    guide = (GUIDES / "guide_development.rst").read_text(encoding="utf-8")
    named = set(re.findall(r"``(?:tests/)?(?:\w+/)*(test_\w+\.py)``", guide))
    assert len(named) > 20
    assert named <= {path.name for path in (REPOSITORY / "tests").rglob("test_*.py")}
