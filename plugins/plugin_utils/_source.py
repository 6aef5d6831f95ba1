# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Source files: whether a file is for this plugin, and how other plugins would read it.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

PLUGIN = "server_management.cloud.servers"

_NAMES = ("server_management.yml", "server_management.yaml")
_MAX_READ = 65536  # characters
_has_plugin_key = re.compile(
    rf"""(?:^|[{{,]\s*)(["']?)plugin\1\s*:\s*(["']?){re.escape(PLUGIN)}\2\s*(?:#|[,}}]|$)""",
    re.MULTILINE,
).search


def is_ours(path: str, warn: Callable[[str], None]) -> bool:
    """Return whether a file has the name of a source file.

    Warn of a file with the key of this plugin and another name, and of a file that Ansible can read
    as a list of host names.
    """
    has_name = path.endswith(_NAMES)
    if not has_name and not path.endswith((".yml", ".yaml")):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        content = file.read(_MAX_READ)
    if not has_name:
        if not _has_plugin_key(content):
            return False
        warn(
            f"{path}: The name of an inventory file for {PLUGIN} must end with "
            f"{' or '.join(_NAMES)}; the file is not used."
        )
    if is_list_of_hosts(content):
        warn(
            f"{path}: The file has a line without white space between its values. Ansible reads it "
            "as a host name, with the token, if this source fails. Format the file as 'jq .' does."
        )
    return has_name


def is_list_of_hosts(content: str) -> bool:
    """Return whether Ansible's ini plugin can read a source file as a list of host names.

    Ansible tries that plugin if this source fails. It reads each line as a host with variables:
    white space separates them, except in quotation marks, and each variable has an equals sign.
    """
    if content.startswith("$ANSIBLE_VAULT;"):
        return False
    try:
        lines = [shlex.split(line, comments=True) for line in content.splitlines()]
    except ValueError:
        return False
    return any(lines) and all("=" in word for words in lines for word in words[1:])
