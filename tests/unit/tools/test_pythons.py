# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from tools.pythons import OWN, choose, find_pythons, newest_core

# No machine has such Pythons.
CORES = {"2.22": ["9.4", "9.5"], "2.21": ["9.3", "9.2"], "2.20": ["9.2"]}


def test_the_newest_core_with_a_python_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}/shims")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    # The shim of a version manager fails.
    for name in ("shims/python9.4", "versions/9.2.1/bin/python9.2"):
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
    find_pythons()
    assert newest_core(CORES) == ("2.21", "9.2")


def test_without_a_suitable_python_the_last_one_is_reported():
    assert choose(["9.3", "9.1"]) == "9.1"
    assert newest_core(CORES) == ("2.22", OWN)
