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
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import requests

from support.sshd import free_port

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


def _postgresql(name: str) -> str | None:
    # Debian does not put the server's programs on PATH.
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, places), os.environ.get("PATH", os.defpath)])
    return shutil.which(name, path=path)


def available() -> bool:
    """Return whether this machine has the PostgreSQL server."""
    return None not in map(_postgresql, ("initdb", "postgres", "pg_isready"))


class GalaxyServer:
    """A context manager that serves Galaxy at ``url``; anyone who can connect may publish.

    Entering raises RuntimeError, with the output of its programs.
    """

    def __init__(self) -> None:
        # Not below pytest's folder, which PostgreSQL's user may not enter.
        self.folder = Path(mkdtemp(prefix="galaxy_server_"))
        self._api, self._content = (f"http://127.0.0.1:{free_port()}" for _service in range(2))
        self.url = f"{self._api}/pulp_ansible/galaxy/{_DISTRIBUTION}/api/"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> GalaxyServer:
        try:
            database_port = free_port()
            self._start_database(database_port)
            environment = self._configure(database_port)
            self._run("pulpcore-manager", "migrate", "--no-input", env=environment)
            for name, url in (("pulpcore-api", self._api), ("pulpcore-content", self._content)):
                self._spawn(name, "--bind", url.removeprefix("http://"), env=environment)
            self._spawn("pulpcore-worker", env=environment)
            self._wait(self._is_online)
            self._make_distribution()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        # The database is stopped last: the others need it to stop.
        for process in reversed(self._processes):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_STOP_LIMIT)
            process.kill()
            process.wait()
        shutil.rmtree(self.folder)

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
        self._run(_postgresql("initdb"), "-D", cluster, *options, user=user)
        quick = ("-c", "fsync=off", "-c", "full_page_writes=off")
        place = ("-h", "127.0.0.1", "-p", port)
        command = (_postgresql("postgres"), "-D", cluster, *place, "-k", folder, *quick)
        self._spawn(*command, user=user)
        ready = (str(_postgresql("pg_isready")), "-q", *map(str, place))
        self._wait(lambda: subprocess.run(ready, check=False).returncode == 0)

    def _configure(self, database_port: int) -> dict[str, str]:
        for name in ("media", "static", "tmp", "home"):
            (self.folder / name).mkdir()
        key = base64.urlsafe_b64encode(secrets.token_bytes(32))
        (self.folder / "database_key").write_bytes(key)
        settings = self.folder / "settings.py"
        text = _SETTINGS.format(
            secret=secrets.token_hex(),
            folder=self.folder,
            database_port=database_port,
            api=self._api,
            content=self._content,
        )
        settings.write_text(text, encoding="utf-8")
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
        name = {"name": _DISTRIBUTION}
        repository = self._post("repositories", name)["pulp_href"]
        path = {"base_path": _DISTRIBUTION, "repository": repository}
        task = self._post("distributions", {**name, **path})["task"]
        self._wait(lambda: self._get(task).get("state") == "completed")

    def _post(self, kind: str, content: Mapping[str, str]) -> Any:
        url = f"{self._api}/pulp/api/v3/{kind}/ansible/ansible/"
        response = requests.post(url, json=content, timeout=60)
        response.raise_for_status()
        return response.json()

    def _get(self, path: str) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            found: dict[str, Any] = requests.get(f"{self._api}{path}", timeout=10).json()
            return found
        return {}

    def _is_online(self) -> bool:
        status = self._get("/pulp/api/v3/status/")
        return bool(status.get("online_workers") and status.get("online_content_apps"))

    def _wait(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_LIMIT
        while not done():
            ended = any(process.poll() is not None for process in self._processes)
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{self._output}")
            time.sleep(0.2)

    @property
    def _output(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def _run(self, *command: object, **options: Any) -> None:
        process = self._spawn(*command, **options)
        status = process.wait(timeout=_START_LIMIT)
        self._processes.remove(process)
        if status != 0:
            raise RuntimeError(f"{command[0]} failed:\n{self._output}")

    def _spawn(self, *command: object, **options: Any) -> subprocess.Popen[bytes]:
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
        return process
