# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the check of a real account against the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live.__main__ import main
from live.report import WRONG_TOKEN, deviations
from sandbox import Fault, Sandbox
from support.collection import REPOSITORY
from support.modules import WEB
from support.run import Runner

TOKEN = "t0ken-of-the-real-account"
SCRIPT = REPOSITORY / "tests" / "live"
SERVER = {**WEB, "id": "srv_0a1b2c3d", "name": "customer-database", "ipv4": "203.0.113.7"}
PRIVATE = ("srv_0a1b2c3d", "customer-database", "203.0.113.7", TOKEN, "127.0.0.1", "localhost")


class Checker:
    """Run the check with a token file."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: Any) -> None:
        self.folder = folder
        self._patch = patch
        self._capture = capture
        self.token_file = folder / "token"
        self.token_file.write_text(f"{TOKEN}\n")

    def check(self, api: Sandbox, *arguments: str) -> tuple[int, str]:
        """Return the exit status and the report; check that it contains nothing private."""
        self._patch.setenv("SERVER_MANAGEMENT_BASE_URL", api.url)
        self._patch.setenv("SERVER_MANAGEMENT_API_TOKEN_FILE", str(self.token_file))
        status = main(["--timeout", "2", *arguments])
        output = self._capture.readouterr()
        assert output.err == ""
        for text in (*PRIVATE, str(api.port)):
            assert text not in output.out
        assert {request.method for request in api.requests} <= {"GET"}
        assert len(api.requests) <= 4
        return status, output.out


@pytest.fixture
def checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Checker:
    return Checker(tmp_path, monkeypatch, capsys)


@pytest.fixture
def api() -> Iterator[Sandbox]:
    """Serve one documented server."""
    with Sandbox(servers=[dict(SERVER)], token=TOKEN) as sandbox:
        yield sandbox


def test_an_account_as_documented(checker: Checker, api: Sandbox) -> None:
    status, report = checker.check(api)
    assert status == 0
    assert len(api.requests) == 2
    for line in (
        "HTTP status: 200",
        "as documented: yes",
        "servers: 1",
        "has_more: false",
        "Link: none",
        "rate-limit headers: none",
        "fields beyond the documented ones: none",
        "values of status: 1 different",
        "result: 1 servers",
        "Result: as documented",
    ):
        assert line in report
    assert "running" not in report


def test_values_are_shown_on_request_unless_they_are_private(
    checker: Checker, api: Sandbox
) -> None:
    api.servers.append({**SERVER, "id": "srv_2", "plan": "customer-database", "region": "a\nb"})
    report = checker.check(api, "--values")[1]
    assert "values of status: running (2)" in report
    assert "values of plan: small (1), (not shown) (1)" in report
    assert "values of region: eu (1), (not shown) (1)" in report


def test_undocumented_fields_and_headers_are_reported(checker: Checker, api: Sandbox) -> None:
    api.servers[0] |= {"disk_gb": 20, "srv_0a1b2c3d": 1, "a\x1b[1m": 2}
    limits = {"X-RateLimit-Limit": "60", "X-RateLimit-Policy": "customer-database"}
    api.fail(Fault(headers=limits), times=None)
    status, report = checker.check(api)
    assert status == 0
    assert "beyond the documented ones: (not shown) (2), disk_gb (1)" in report
    assert "X-RateLimit-Limit: 60, X-RateLimit-Policy: not a number" in report


@pytest.mark.parametrize("style", ["link", "cursor", "page", "offset"])
def test_an_account_with_several_pages_is_as_documented(checker: Checker, style: str) -> None:
    with Sandbox(servers=5, token=TOKEN, pagination=style, page_size=2) as api:
        status, report = checker.check(api)
    assert status == 0
    assert "has_more: true" in report
    assert "failed with code incomplete_listing" in report
    assert ('Link: rel="next" to the same origin, parameters resume (1)' in report) is (
        style == "link"
    )


def test_refusals_are_reported_on_request(checker: Checker, api: Sandbox) -> None:
    other = checker.folder / "other"
    other.write_text("t0ken-of-the-billing")
    report = checker.check(api, "--wrong-token", "--token-without-scope", str(other))[1]
    sent = [request.headers["Authorization"] for request in api.requests]
    assert sent[2:] == [f"Bearer {WRONG_TOKEN}", "Bearer t0ken-of-the-billing"]
    refusal = report.partition("A wrong token:")[2]
    assert refusal.count("HTTP status: 401") == 2
    assert refusal.count("keys of the body: error (1)") == 2
    assert refusal.count("WWW-Authenticate: Bearer") == 2


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (Fault(status=401), "HTTP status: 401"),
        (Fault(status=403), "failed with code forbidden, HTTP 403"),
        (Fault(status=404), "HTTP status: 404"),
        (Fault(status=429, retry_after=5), "Retry-After: 5"),
        (Fault(status=500, body="{token} customer-database"), "HTTP status: 500"),
        (Fault(status=302, location="http://localhost:9/customer-database"), "HTTP status: 302"),
        (Fault.html(), "body: not JSON"),
        (Fault.hang(), "no complete response within 2 s"),
        (Fault(drip_body=0.1), "no complete response within 2 s"),
        (Fault.reset(), "no complete response (ConnectionError)"),
        (Fault(cut="body"), "no complete response ("),
        (Fault.nested(), "body: not JSON, or nested too deeply"),
        (Fault.endless(), "failure: "),
        (Fault.gzip_bomb(), "failure: "),
        (Fault(body=[]), "the response is not of the documented type object: 1 times"),
        (Fault(has_more="no"), "has_more is not of the documented type boolean: 1 times"),
        (Fault(link='<http://localhost:9/a>; rel="next"'), 'rel="next" to another origin'),
        (Fault(content_type="text/customer-database"), "content type: "),
        (Fault(data=["customer-database"]), "data[] is not of the documented type object: 1 times"),
        (
            Fault(data=[{**SERVER, "ipv4": "customer-database", "id": 7}, {}]),
            "data[].ipv4 is not of the documented format: 1 times",
        ),
        (Fault(data=[{}, {}]), "data[] has no region: 2 times"),
    ],
    ids=lambda value: "" if isinstance(value, Fault) else value[:30],
)
def test_differences_from_the_documentation_are_reported(
    checker: Checker, api: Sandbox, fault: Fault, line: str
) -> None:
    api.fail(fault, times=None)
    status, report = checker.check(api)
    assert line in report
    assert status == (0 if fault.link or fault.content_type == "text/customer-database" else 1)


def test_deviations_contain_no_values() -> None:
    every = deviations({"data": [{**SERVER, "status": ["customer-database"]}], "has_more": 1})
    assert every == [
        "data[].status is not of the documented type string",
        "has_more is not of the documented type boolean",
    ]


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"SERVER_MANAGEMENT_BASE_URL": ""}, "base_url: is required"),
        ({"SERVER_MANAGEMENT_API_TOKEN_FILE": ""}, "API_TOKEN_FILE: set it to a file"),
        ({"SERVER_MANAGEMENT_API_TOKEN_FILE": "/nowhere/token"}, "/nowhere/token: cannot be read"),
    ],
)
def test_a_missing_setting_is_named_before_any_request(
    checker: Checker, environment: dict[str, str], message: str, capsys: Any
) -> None:
    with Sandbox(servers=1, token=TOKEN) as api, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERVER_MANAGEMENT_BASE_URL", api.url)
        patch.setenv("SERVER_MANAGEMENT_API_TOKEN_FILE", str(checker.token_file))
        for name, value in environment.items():
            patch.setenv(name, value)
        assert main([]) == 2
        assert api.requests == []
    assert message in capsys.readouterr().err


def test_the_command_prints_the_report(checker: Checker, api: Sandbox, installed: Path) -> None:
    environment = {
        "SERVER_MANAGEMENT_BASE_URL": api.url,
        "SERVER_MANAGEMENT_API_TOKEN_FILE": str(checker.token_file),
        "PYTHONPATH": str(installed),
    }
    runner = Runner(checker.folder / "home")
    result = runner.run("python", "-B", SCRIPT, "--values", env=environment).ok()
    assert result.stderr == ""
    assert "values of status: running (1)" in result.stdout
    assert result.stdout.endswith("Result: as documented\n")
    assert not [text for text in PRIVATE if text in result.stdout]
