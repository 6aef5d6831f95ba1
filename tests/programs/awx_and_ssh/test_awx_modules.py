# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the playbook of the AWX guide with the real modules of awx.awx, but without AWX."""

from support.guides import read_files, read_tasks
from support.run import Runner


def test_the_playbook_has_only_options_of_the_modules(tmp_path):
    text = read_files("awx")["set_up_awx.yml"]
    playbook = tmp_path / "set_up_awx.yml"
    playbook.write_text(text)
    # Without the collections that other tests install: those of the package are used.
    runner = Runner(tmp_path / "home")
    runner.playbook("--syntax-check", playbook).ok()
    tasks = read_tasks(text)
    modules = [name for name in tasks if name.startswith("awx.awx.")]
    docs = runner.doc("-t", "module", "-j", *modules).ok().json()
    for module in modules:
        options = tasks[module]
        documented = docs[module]["doc"]["options"]
        assert set(options) <= set(documented), module
        for name, rules in documented.items():
            if name in options:
                assert options[name] in rules.get("choices", [options[name]]), name
            else:
                assert not rules.get("required"), name
