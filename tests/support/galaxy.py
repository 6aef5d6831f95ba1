# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a real Galaxy server (pulp_ansible with PostgreSQL) on loopback."""

from __future__ import annotations

import base64
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import requests

_START_LIMIT = 600.0  # seconds; creating the tables is slow on a busy machine
_STOP_LIMIT = 20.0  # seconds
_DISTRIBUTION = "published"
_SETTINGS = """\
SECRET_KEY = "{secret}"
DB_ENCRYPTION_KEY = "{folder}/database_key"
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.postgresql",
        "HOST": "127.0.0.1",
        "PORT": {database_port},
        "NAME": "postgres",
        "USER": "pulp",
    }}
}}
ENABLED_PLUGINS = ["pulp_ansible"]
DEPLOY_ROOT = "{folder}"
MEDIA_ROOT = "{folder}/media"
STATIC_ROOT = "{folder}/static"
WORKING_DIRECTORY = "{folder}/tmp"
FILE_UPLOAD_TEMP_DIR = "{folder}/tmp"
CONTENT_ORIGIN = "{content}"
ANSIBLE_API_HOSTNAME = "{api}"
ANSIBLE_CONTENT_HOSTNAME = "{content}/pulp/content"
REST_FRAMEWORK__DEFAULT_PERMISSION_CLASSES = ["rest_framework.permissions.AllowAny"]
ANSIBLE_PERMISSION_CLASSES = ["rest_framework.permissions.AllowAny"]
"""


class GalaxyError(Exception):
    """The server did not start, or rejected a request."""


def _postgresql(name: str) -> str | None:
    # Debian does not put the server's programs on PATH.
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, places), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path)


def available() -> bool:
    """Return whether this machine has the PostgreSQL server."""
    return None not in map(_postgresql, ("initdb", "postgres", "pg_isready"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class GalaxyServer:
    """A context manager that serves Galaxy at ``url``.

    Anyone who can connect may publish. Entering raises GalaxyError.
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.url = ""
        self._api = ""
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> GalaxyServer:
        # Not below pytest's folder, which PostgreSQL's user may not enter.
        self.folder = Path(mkdtemp(prefix="galaxy_server_"))
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()

    def configure(self, file: Path) -> None:
        """Write an ansible.cfg in which this is the only Galaxy server."""
        file.write_text(
            "[galaxy]\nserver_list = loopback\n\n"
            f"[galaxy_server.loopback]\nurl = {self.url}\napi_version = 3\n",
            encoding="utf-8",
        )

    def _start(self) -> None:
        database_port, api_port, content_port = (_free_port() for _service in range(3))
        self._api = f"http://127.0.0.1:{api_port}"
        self.url = f"{self._api}/pulp_ansible/galaxy/{_DISTRIBUTION}/api/"
        self._start_database(database_port)
        environment = self._configure(database_port, f"http://127.0.0.1:{content_port}")
        self._run("pulpcore-manager", "migrate", "--no-input", env=environment)
        self._spawn("pulpcore-api", "--bind", f"127.0.0.1:{api_port}", env=environment)
        self._spawn("pulpcore-content", "--bind", f"127.0.0.1:{content_port}", env=environment)
        self._spawn("pulpcore-worker", env=environment)
        self._wait(self._is_online)
        self._make_distribution()

    def _start_database(self, port: int) -> None:
        folder = self.folder / "database"
        folder.mkdir()
        # PostgreSQL refuses to run as root.
        user = "postgres" if os.getuid() == 0 else None
        if user is not None:
            owner = pwd.getpwnam(user)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
            self.folder.chmod(0o711)
        cluster = folder / "cluster"
        options = ("--username=pulp", "--auth=trust", "--no-sync", "--encoding=UTF8")
        self._run(str(_postgresql("initdb")), "-D", cluster, *options, user=user)
        quick = ("-c", "fsync=off", "-c", "full_page_writes=off")
        place = ("-h", "127.0.0.1", "-p", port, "-k", folder)
        self._spawn(str(_postgresql("postgres")), "-D", cluster, *place, *quick, user=user)
        ready = (str(_postgresql("pg_isready")), "-q", "-h", "127.0.0.1", "-p", str(port))
        self._wait(lambda: subprocess.run(ready, check=False).returncode == 0)

    def _configure(self, database_port: int, content: str) -> dict[str, str]:
        for name in ("media", "static", "tmp", "home"):
            (self.folder / name).mkdir()
        key = base64.urlsafe_b64encode(secrets.token_bytes(32))
        (self.folder / "database_key").write_bytes(key)
        settings = self.folder / "settings.py"
        settings.write_text(
            _SETTINGS.format(
                secret=secrets.token_hex(),
                folder=self.folder,
                database_port=database_port,
                api=self._api,
                content=content,
            ),
            encoding="utf-8",
        )
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(self.folder / "home"),
            "LC_ALL": "C.UTF-8",
            "PULP_SETTINGS": str(settings),
            # The importer's session runs these.
            "GALAXY_IMPORTER_RUN_ANSIBLE_DOC": "false",
            "GALAXY_IMPORTER_RUN_ANSIBLE_LINT": "false",
        }

    def _make_distribution(self) -> None:
        api = f"{self._api}/pulp/api/v3"
        kind = "ansible/ansible"
        repository = self._post(f"{api}/repositories/{kind}/", {"name": _DISTRIBUTION})
        distribution = {
            "name": _DISTRIBUTION,
            "base_path": _DISTRIBUTION,
            "repository": repository["pulp_href"],
        }
        task = self._post(f"{api}/distributions/{kind}/", distribution)["task"]
        self._wait(lambda: _get(f"{self._api}{task}").get("state") == "completed")

    def _post(self, url: str, content: Mapping[str, str]) -> Any:
        response = requests.post(url, json=content, timeout=60)
        if not response.ok:
            raise GalaxyError(f"{url}: {response.status_code} {response.text}")
        return response.json()

    def _is_online(self) -> bool:
        status = _get(f"{self._api}/pulp/api/v3/status/")
        return bool(status.get("online_workers") and status.get("online_content_apps"))

    def _wait(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_LIMIT
        while not done():
            ended = any(process.poll() is not None for process in self._processes)
            if ended or time.monotonic() > deadline:
                raise GalaxyError(f"the server did not start:\n{self.log}")
            time.sleep(0.2)

    @property
    def log(self) -> str:
        """Return the output of all its programs."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def _run(self, *command: str | Path, **options: Any) -> None:
        with (self.folder / "log").open("ab") as log:
            done = subprocess.run(
                [*map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                timeout=_START_LIMIT,
                check=False,
                **options,
            )
        if done.returncode != 0:
            raise GalaxyError(f"{command[0]} failed:\n{self.log}")

    def _spawn(self, *command: str | Path | int, **options: Any) -> None:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **options,
            )
        self._processes.append(process)

    def _stop(self) -> None:
        # The database is stopped last: the others need it to stop.
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(timeout=_STOP_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        shutil.rmtree(self.folder)


def _get(url: str) -> dict[str, Any]:
    try:
        response = requests.get(url, timeout=10)
        found: dict[str, Any] = response.json() if response.ok else {}
    except (OSError, ValueError):
        return {}
    return found
