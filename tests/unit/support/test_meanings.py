# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from support.meanings import MEANINGS, Meaning


def _source(module: str) -> str:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return ""
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda meaning: meaning.modules[0])
def test_ansible_still_gives_the_text_its_meaning(meaning: Meaning) -> None:
    sources = [source for module in meaning.modules if (source := _source(module))]
    assert sources
    assert any(meaning.mark in source for source in sources)
