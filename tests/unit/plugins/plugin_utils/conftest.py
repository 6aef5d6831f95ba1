# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text that Ansible before ansible-core 2.19 does not render, in a test of any version."""

import pytest
from ansible.utils import unsafe_proxy


class UnsafeText(str):
    """Text with a mark, which a later version of Ansible would lose."""

    __slots__ = ()


@pytest.fixture
def unsafe_text(monkeypatch):
    """Return the class of text that is marked unsafe."""
    monkeypatch.setattr(unsafe_proxy, "AnsibleUnsafeText", UnsafeText)
    return UnsafeText
