# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Provide the fixtures of the end-to-end tests."""

from __future__ import annotations

from e2e.conftest import sandbox, source

__all__ = ["sandbox", "source"]
