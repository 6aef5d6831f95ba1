# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show the collection at work: from an empty folder to a command on the listed servers."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from sandbox import Sandbox
from sandbox.account import example_servers
from sandbox.cli import next_steps
from sandbox.server import DEFAULT_PORT, DEFAULT_TOKEN
from support.collection import build, install
from support.run import CommandError, Runner, write_inventory
from support.sshd import SshError, SshServer

INVENTORY = "demo.server_management.yml"
PING = ("ansible", "-i", INVENTORY, "status_running", "-m", "ansible.builtin.ping")
NEXT = """\
Next: an inventory of your own sandbox

In a terminal, in this checkout:
  {activate}ansible-galaxy collection install .
  python3 tests/sandbox --example

In another terminal:
  {activate}{commands}

The quick start continues with the servers of this sandbox:
docs/docsite/rst/guide_quickstart.rst. README.md shows how to use your own account.
"""


class Demo:
    """A folder with the collection, and the commands that run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runner = Runner(folder / "home", folder / "collections")
        self._steps = 0

    def step(self, title: str, *lines: str) -> None:
        """Announce the next step."""
        self._steps += 1
        print(f"{self._steps}. {title}")
        for line in lines:
            print(f"   {line}".rstrip())
        print(flush=True)

    def export(self, name: str, value: str) -> None:
        """Set an environment variable for the next commands, and show it."""
        self.runner.environment[name] = value
        print(f"$ export {name}={shlex.quote(value)}")

    def run(self, *command: str) -> None:
        """Show a command and what it prints; raise CommandError if it fails."""
        print(f"$ {shlex.join(command)}", flush=True)
        result = self.runner.run(*command, cwd=self.folder).ok()
        print(result.output.rstrip(), end="\n\n", flush=True)


def reach(demo: Demo, stack: ExitStack, sandbox: Sandbox) -> list[str]:
    """Prepare a connection to the servers, over SSH if possible, and return its options."""
    addresses = [server["ipv4"] for server in sandbox.servers]
    title = "Run a command on the servers that are running"
    try:
        server = stack.enter_context(SshServer(demo.folder / "ssh", addresses))
    except SshError as error:
        # The end of the server's log names the cause.
        reason = str(error).splitlines()[-4:]
        demo.step(title, "With a local connection instead of SSH:", *reason)
        return ["-c", "local"]
    demo.step(
        title,
        "Over SSH. The addresses are this machine's own: an OpenSSH server listens there",
        f"on port {server.port}, with keys made for this run.",
        "Host key checking is on. The first contact stores the key of each server by its",
        "id, not its address: that is what host_key_alias does.",
    )
    demo.runner.environment.update(server.environment, ANSIBLE_TIMEOUT="60")
    return []


def show(demo: Demo, stack: ExitStack) -> None:
    """Run the steps; raise CommandError at the first command that fails."""
    sandbox = stack.enter_context(Sandbox(example_servers()))
    demo.step(
        "Start a sandbox: the provider's API, with the servers of the guides",
        f"It listens at {sandbox.url}, for this machine only.",
    )

    tarball = build(demo.runner, demo.folder)
    install(demo.runner, tarball, demo.folder / "collections")
    demo.step("Build the collection and install it, as from Galaxy", tarball.name)

    demo.step("Write an inventory file, and keep the token out of it")
    options = {"base_url": sandbox.url, "host_key_alias": True}
    write_inventory(demo.folder, options, INVENTORY)
    demo.export("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    demo.export("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "true")
    demo.run("cat", INVENTORY)

    demo.step("See the servers, grouped by region, plan and status")
    demo.run("ansible-inventory", "-i", INVENTORY, "--graph")

    demo.step("See the variables of one of them")
    demo.run("ansible-inventory", "-i", INVENTORY, "--host", sandbox.servers[0]["name"])

    demo.run(*PING, *reach(demo, stack, sandbox))
    print(suggest(), end="")


def suggest() -> str:
    """Return the next commands to try, in the virtual environment of this demo if any."""
    activate = ""
    if sys.prefix != sys.base_prefix:
        activate = f". {shlex.quote(os.path.relpath(sys.prefix))}/bin/activate\n  "
    commands = "\n  ".join(next_steps(f"http://127.0.0.1:{DEFAULT_PORT}", DEFAULT_TOKEN))
    return NEXT.format(activate=activate, commands=commands)


def main() -> int:
    """Run the demo in a temporary folder and return the exit status."""
    # As an exception, it ends the started processes like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="server_management_demo_"))
        try:
            show(Demo(Path(folder)), stack)
        except CommandError as error:
            print(f"The demo stops here: a command {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())
