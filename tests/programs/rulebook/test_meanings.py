# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from support.http_meanings import RESPONSES, URL_MEANINGS, VARIABLE_MEANINGS, Responses
from support.meanings import EVENT_MEANINGS, MEANINGS, Meaning

EVERY = (*MEANINGS, *EVENT_MEANINGS, *RESPONSES, *URL_MEANINGS, *VARIABLE_MEANINGS)


def _source(module: str) -> str:
    """Return the source of a module without importing it: other tests remove some."""
    package, *parts = module.split(".")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed")
    folder = Path(spec.origin).parent.joinpath(*parts)
    places = [folder.with_suffix(".py"), folder / "__init__.py"]
    return next((place.read_text("utf-8") for place in places if place.is_file()), "")


@pytest.mark.parametrize("meaning", EVERY, ids=lambda meaning: meaning.modules[0])
def test_the_source_still_gives_the_text_its_meaning(meaning: Meaning | Responses) -> None:
    sources = [source for module in meaning.modules if (source := _source(module))]
    assert sources
    assert any(meaning.mark in source for source in sources)
