# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._hints import find_hint

KNOWN = {
    "ansible_host",
    "server_management_name",
    "server_management_region",
    "server_management_backup",
    "server_management_backups",
}


@pytest.mark.parametrize(
    ("source", "undefined", "hint"),
    [
        ("region ~ '.x'", "region", "did you mean server_management_region?"),
        (
            "server_management_nmae",
            "server_management_nmae",
            "did you mean server_management_name?",
        ),
        ("backup", "backup", "did you mean server_management_backup?"),
        (
            "server_management_backup",
            "server_management_backup",
            "only some servers have this field: add the filter default",
        ),
        ("admin", "admin", """text needs quotes inside the quotes: "'admin'\""""),
        ("admin ~ 'x'", "admin", ""),
        ("hostvars", "hostvars", ""),
    ],
)
def test_a_hint_depends_on_the_name_that_is_undefined(
    source: str, undefined: str, hint: str
) -> None:
    reason = f"'{undefined}' is undefined"
    assert find_hint(reason, KNOWN, "server_management_", source, can_be_text=True) == hint
    assert not find_hint("division by zero", KNOWN, "server_management_", source, can_be_text=True)


def test_only_where_text_makes_sense_quotes_are_suggested() -> None:
    reason = "'admin' is undefined"
    assert not find_hint(reason, KNOWN, "server_management_", "admin", can_be_text=False)
