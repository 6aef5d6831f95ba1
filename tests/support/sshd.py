# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a real OpenSSH server on loopback addresses, with new keys."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

_START_LIMIT = 60.0  # seconds; the machine may be busy
_PACKAGES = "openssh-client openssh-server"  # of Debian
_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/sbin")  # rarely on a plain user's PATH

_SERVER_CONFIGURATION = """\
HostKey "{folder}/host_key"
PidFile "{folder}/sshd.pid"
AuthorizedKeysFile "{folder}/client_key.pub"
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
PrintMotd no
MaxStartups 100
Subsystem sftp internal-sftp
"""
_CLIENT_CONFIGURATION = """\
Host *
  Port {port}
  User {user}
  IdentityFile "{folder}/client_key"
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile "{folder}/known_hosts"
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
  BatchMode yes
  ConnectTimeout 60
  ControlMaster no
  LogLevel ERROR
"""


class SshError(Exception):
    """The server did not start, or rejects the login."""


def _program(name: str) -> str | None:
    inherited = os.environ.get("PATH", os.defpath)
    path = os.pathsep.join([inherited, *_SYSTEM_FOLDERS])
    return shutil.which(name, path=path)


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


class SshServer:
    """A context manager that serves SSH at up to 16 addresses; Ansible needs its ``environment``.

    Host key checking stays on. No key is known, and the key of a first contact is accepted.
    Entering raises SshError. Tests use the fixture ``ssh_server``, which skips instead.
    """

    def __init__(self, folder: Path, addresses: Sequence[str]) -> None:
        self.folder = folder
        self.configuration = folder / "ssh_config"  # of the client
        self.addresses = tuple(addresses)
        self.user = ""
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return variables that make Ansible use that file and no folder of the user's home."""
        file = shlex.quote(str(self.configuration))
        remote = str(self.folder / "remote")
        return {"ANSIBLE_SSH_ARGS": f"-F {file}", "ANSIBLE_REMOTE_TMP": remote}

    @property
    def known_names(self) -> list[str]:
        """Return the names of known_hosts, in order; the file may list a name more than once."""
        known_hosts = (self.folder / "known_hosts").read_text()
        names = {line.split()[0] for line in known_hosts.splitlines()}
        return sorted(names)

    def proxy_command(self, name: str) -> str:
        """Return a ProxyCommand that leads to a separate server, whatever the address.

        It has another host key, and its commands have its name as the variable ``MACHINE``.
        """
        self._make_key(name)
        text = (self.folder / "sshd_config").read_text().replace("host_key", name)
        configuration = self.folder / f"{name}_config"
        configuration.write_text(f"SetEnv MACHINE={name}\n{text}")
        return f'{_program("sshd")} -i -f "{configuration}"'

    def replace(self) -> None:
        """End every connection, and start again at the same addresses with another host key."""
        self.stop()
        for file in self.folder.glob("host_key*"):
            file.unlink()
        self._make_key("host_key")
        self.start()

    def __enter__(self) -> SshServer:
        for name in ("ssh", "ssh-keygen", "sshd"):
            if _program(name) is None:
                raise SshError(f"{name} not found (Debian: apt install {_PACKAGES})")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        # It fails for a user without an entry in the user database.
        self._make_key("host_key")
        self._make_key("client_key")
        self.user = pwd.getpwuid(os.getuid()).pw_name
        try:
            self.port = free_port(self.addresses[0])
        except OSError as error:
            raise SshError(f"no server can listen on {self.addresses[0]}: {error}") from error
        self._write_configuration()
        try:
            self.start()
            forget = ("-o", "UserKnownHostsFile=/dev/null")
            command = (*forget, self.addresses[0], "true")
            _run("ssh", "-F", self.configuration, *command)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _write_configuration(self) -> None:
        server = _SERVER_CONFIGURATION.format(folder=self.folder)
        for address in self.addresses:
            server += f"ListenAddress {address}:{self.port}\n"
        (self.folder / "sshd_config").write_text(server)
        values = {"folder": self.folder, "port": self.port, "user": self.user}
        client = _CLIENT_CONFIGURATION.format(**values)
        self.configuration.write_text(client)

    def _make_key(self, name: str) -> None:
        options = ("-q", "-t", "ed25519", "-N", "", "-C", name)
        _run("ssh-keygen", *options, "-f", self.folder / name)

    def start(self) -> None:
        """Listen, after a stop at the same addresses and port; raise SshError."""
        if os.getuid() == 0:
            # sshd requires it. It is not removed, since another server may use it.
            Path("/run/sshd").mkdir(mode=0o755, parents=True, exist_ok=True)
        configuration = str(self.folder / "sshd_config")
        command = [str(_program("sshd")), "-D", "-e", "-f", configuration]
        log = self.folder / "sshd.log"
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )
        self._wait(self._process, log)

    def stop(self) -> None:
        """End the server and every connection; does nothing if it has ended."""
        if self._process is not None:
            # Each connection is a separate session, which would outlive the listening process.
            for pid in _with_descendants(self._process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait(timeout=_START_LIMIT)
            self._process = None

    def _wait(self, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + _START_LIMIT
        while True:
            has_ended = process.poll() is not None or time.monotonic() > deadline
            text = log.read_text(errors="replace")
            if text.count("Server listening on ") >= len(self.addresses):
                return
            if has_ended:
                raise SshError(f"OpenSSH's server did not start: {text}")
            time.sleep(0.02)


def _with_descendants(pid: int) -> list[int]:
    """Return a process and all that it started, directly or not."""
    with suppress(OSError):  # it has ended
        task = Path(f"/proc/{pid}/task/{pid}")
        children = (task / "children").read_text()
        found = [_with_descendants(int(child)) for child in children.split()]
        return [pid, *chain.from_iterable(found)]
    return []


def _run(name: str, *arguments: str | Path) -> None:
    command = [str(_program(name)), *map(str, arguments)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, text=True, check=False
    )
    if done.returncode != 0:
        raise SshError(f"{name}: {done.stderr.strip()}")
