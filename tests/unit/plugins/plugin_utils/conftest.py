# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Test what Ansible before ansible-core 2.19 needs with any version."""

import pytest
from ansible.utils import unsafe_proxy


class UnsafeText(str):
    """Text that is marked unsafe; the class of later versions of Ansible returns plain text."""

    __slots__ = ()


@pytest.fixture
def unsafe_text(monkeypatch):
    """Return the class of text that is marked unsafe."""
    monkeypatch.setattr(unsafe_proxy, "AnsibleUnsafeText", UnsafeText, raising=False)
    return UnsafeText
