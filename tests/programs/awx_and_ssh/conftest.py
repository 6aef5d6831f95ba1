# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Provide the fixtures of the end-to-end tests."""

from ansible.release import __version__ as ansible_version
from e2e.conftest import source

__all__ = ["source"]

# Of the tested versions, only the package ansible for the oldest one has the collection awx.awx.
collect_ignore = [] if ansible_version.startswith("2.16.") else ["test_awx_modules.py"]
