# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the inventory plugin with others, and write docs/benchmarks.md.

make bench                                           the figures of the page, in about 20 minutes
make bench ARGS="--help"                             all options
make bench ARGS="--cores 2.21 --sizes 10 --rounds 3 --output /tmp/bench"    a part, elsewhere
"""
