# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._source import (
    is_list_of_hosts,
)


@pytest.mark.promise("secret")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"plugin":"x","api_token":"t"}\n', True),
        ('{"plugin":"x",\n"api_token":"t"}', True),
        ('{"plugin":"x","compose":{"a":"b ~ c"}}', True),
        ('---\n{"plugin":"x"} # comment with white space', True),
        ('{"plugin":"x", "api_token":"t="}', True),
        ('{"plugin": "x", "api_token": "t"}', False),
        ('{"plugin":"x", "api_token":"t"}', False),
        ("plugin: x\napi_token: t\n", False),
        ("# don't\nplugin: x\n", False),
        ("", False),
        ("# nothing\n", False),
        ("$ANSIBLE_VAULT;1.1;AES256\n3361\n", False),
        ('{\n  "plugin": "x"\n}\n', False),
    ],
)
def test_a_file_that_ansible_can_read_as_host_names(content: str, expected: bool) -> None:
    assert is_list_of_hosts(content) == expected
