# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Show the collection at work, from an empty folder to a command on servers that an API listed."""

from __future__ import annotations

import shlex
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sandbox import Sandbox
from support.collection import build, install
from support.run import CommandError, Runner, write_inventory
from support.sshd import SshError, SshServer

INVENTORY = "demo.server_management.yml"
SERVERS = 6  # few, so that the graph fits a screen; one of them is not running
PING = ("ansible", "-i", INVENTORY, "status_running", "-m", "ansible.builtin.ping")
NEXT = """\
What to try next
  python3 tests/sandbox --port 8080  runs a sandbox, and says how to use it
  README.md                          points the same file at your own account
  make test                          proves what is promised, on the sandbox
"""


class Demo:
    """A folder with the collection installed beside it, and the commands run in it."""

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
        """Set a variable for the commands to come, and show it."""
        self.runner.environment[name] = value
        print(f"$ export {name}={shlex.quote(value)}")

    def run(self, *command: str) -> None:
        """Show a command and what it prints; raise CommandError where it fails."""
        print(f"$ {shlex.join(command)}", flush=True)
        result = self.runner.run(*command, cwd=self.folder).ok()
        print(result.output.rstrip(), end="\n\n", flush=True)


def reach(demo: Demo, stack: ExitStack, sandbox: Sandbox) -> list[str]:
    """Open a way to the servers, say which, and return the options that take it."""
    addresses = [server["ipv4"] for server in sandbox.servers]
    title = "Run a command on the servers that are running"
    try:
        server = stack.enter_context(SshServer(demo.folder / "ssh", addresses))
    except SshError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        demo.step(title, "With a local connection, not over SSH:", f"{reason}.")
        return ["-c", "local"]
    demo.step(
        title,
        "Over SSH. The addresses are this machine's own: an OpenSSH server answers",
        f"on {addresses[0]} to {addresses[-1]}, port {server.port}, with keys made for this run.",
    )
    demo.runner.environment.update(server.environment)
    return []


def show(demo: Demo, stack: ExitStack) -> None:
    """Go through the steps; raise CommandError at the first command that fails."""
    sandbox = stack.enter_context(Sandbox(servers=SERVERS, addresses="loopback"))
    demo.step(
        f"Start a sandbox: the provider's API, with {SERVERS} made-up servers",
        f"It answers at {sandbox.url}, to this machine only.",
    )

    tarball = build(demo.runner, demo.folder)
    install(demo.runner, tarball, demo.folder / "collections")
    demo.step("Build the collection and install it, as Galaxy would", tarball.name)

    demo.step("Write an inventory file; the token stays out of it")
    write_inventory(demo.folder, {"base_url": sandbox.url}, INVENTORY)
    demo.export("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    demo.export("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "true")
    demo.run("cat", INVENTORY)

    demo.step("See the servers, grouped by region, plan and status")
    demo.run("ansible-inventory", "-i", INVENTORY, "--graph")

    demo.step("See what is known of one of them: these are its variables")
    demo.run("ansible-inventory", "-i", INVENTORY, "--host", sandbox.servers[0]["name"])

    demo.run(*PING, *reach(demo, stack, sandbox))
    print(NEXT, end="")


def main() -> int:
    """Run the demo in a temporary folder and return the exit status."""
    # As an exception it ends what was started, as Ctrl-C does.
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
