# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is probably meant by an expression that fails."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

from ._hosts import RESERVED_VARIABLES

_undefined_name = re.compile(r"'(\w+)' is undefined").search


def find_hint(
    reason: str, known: Collection[str], prefix: str, source: str, can_be_text: bool
) -> str:
    """Return what is probably meant by an expression that fails with a reason, or an empty text.

    ``known`` are the variables that it could mean, and ``prefix`` is that of the API's fields.
    ``can_be_text``: constant text makes sense there.
    """
    undefined = _undefined_name(reason)
    if not undefined:
        return ""
    name = undefined[1]
    if name in known:
        return "only some servers have this field: add the filter default"
    if f"{prefix}{name}" in known:
        return f"did you mean {prefix}{name}?"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)  # as server_management_nmae
    if near:
        return f"did you mean {near[0]}?"
    # A variable that Ansible has only in plays, such as hostvars, is not meant as text.
    if can_be_text and source.strip() == name and name not in RESERVED_VARIABLES:
        return f"""text needs quotes inside the quotes: "'{name}'\""""
    return ""
