# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The supported versions; tests/unit/tools/test_versions.py names the places that repeat them."""

# ansible-core, the newest first, and all Pythons of each. The first Python that the machine has is
# used; the order makes each supported Python run somewhere.
CORES = {
    "2.22": ("3.14", "3.13", "3.15"),
    "2.21": ("3.13", "3.14", "3.12"),
    "2.20": ("3.12", "3.14", "3.13"),
    "2.19": ("3.11", "3.13", "3.12"),
    "2.18": ("3.12", "3.11", "3.13"),
    "2.17": ("3.11", "3.10", "3.12"),
    "2.16": ("3.10", "3.11", "3.12"),
}
PRE_RELEASES = ("2.22",)
NEWEST = next(iter(CORES))
RELEASED = next(core for core in CORES if core not in PRE_RELEASES)
OLDEST = list(CORES)[-1]

# The supported Pythons. The others of CORES are those of pre-releases.
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

REQUESTS = "2.28.0"
# The oldest requests, with the urllib3 of its time.
OLD_REQUESTS = (f"requests=={REQUESTS}", "urllib3~=1.26.0")
