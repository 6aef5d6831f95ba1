# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fixtures that tests of several folders use."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sandbox import Sandbox
from sandbox.account import SERVER
from support import forks
from support.collection import build, copy_sources, install, read_yaml
from support.run import Runner, find_in_files
from support.sshd import SshError, SshServer

# The account of most tests: two values of each field by which servers are grouped.
STOPPED = {"id": "srv_2", "name": "web-2", "status": "stopped", "region": "eu-2"}
SERVERS = [
    {**SERVER, "ipv4": "203.0.113.1"},
    {**SERVER, **STOPPED, "ipv4": "203.0.113.2"},
    {**SERVER, "id": "srv_3", "name": "db-1", "plan": "large", "ipv4": "203.0.113.3"},
]
SERVER_NAMES = ["db-1", "web-1", "web-2"]
# The methods and paths of the description of the API.
DESCRIBED = {
    (method.upper(), f"/api/v1{path}")
    for path, methods in read_yaml("docs/openapi.yaml")["paths"].items()
    for method in methods
}


@pytest.fixture
def sandbox() -> Generator[Sandbox, None, None]:
    """Serve the three known servers, and check that each request is one of those described."""
    with Sandbox(servers=[dict(server) for server in SERVERS]) as api:
        yield api
    for request in api.requests:
        if request.method != "CONNECT":  # for a proxy
            assert (request.method, request.path) in DESCRIBED
        # The description has no parameter, because the API does not document paging.
        assert request.query.keys() <= {api.pagination_parameter}


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the collection's tarball, built from a copy: other tests may create files."""
    folder = tmp_path_factory.mktemp("built")
    sources = copy_sources(folder / "sources")
    return build(Runner(folder / "home"), folder / "tarball", sources)


@pytest.fixture(scope="session")
def installed(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a collections path that holds the collection, installed from its tarball."""
    folder = tmp_path_factory.mktemp("installed")
    return install(Runner(folder / "home"), tarball, folder / "collections")


@pytest.fixture(scope="session")
def usual(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment with which a process has imported Ansible, to be forked."""
    environment = Runner(tmp_path_factory.mktemp("forks"), installed).environment
    forks.start(environment)
    return environment


@pytest.fixture
def runner(installed: Path, usual: dict[str, str], tmp_path: Path) -> Generator[Runner, None, None]:
    """Return a runner of Ansible's commands with the installed collection and an empty home.

    No command may leave a token in a cache, a log or a temporary file.
    """
    runner = Runner(tmp_path / "home", installed, usual=usual)
    # The path of a socket must be short, and pytest's folders have long names.
    with TemporaryDirectory(prefix="sm") as folder:
        runner.environment["TMPDIR"] = folder
        yield runner
        assert find_in_files(tmp_path) == []
        assert find_in_files(Path(folder)) == []


@pytest.fixture
def ssh_server(tmp_path: Path) -> Generator[Callable[..., SshServer], None, None]:
    """Return a function that starts an OpenSSH server on the given addresses.

    It skips the test, with the reason, if this machine cannot run one.
    """
    with ExitStack() as stack:

        def start(addresses: Sequence[str]) -> SshServer:
            try:
                return stack.enter_context(SshServer(tmp_path / "ssh", addresses))
            except SshError as error:
                pytest.skip(f"no SSH server: {error}")

        yield start
