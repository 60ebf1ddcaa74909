"""The page of components shows what templates of views have today."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.surfaces.views import drawing
from scripts.screenshots import COMPONENTS, components


def test_the_page_of_components_is_up_to_date() -> None:
    assert COMPONENTS.read_text() == components(), "Run `make screenshots`."


def test_every_component_is_shown() -> None:
    source = Path(drawing.__file__).with_name("templates") / "components.html"
    page = COMPONENTS.read_text()
    for name in re.findall(r"{% macro (\w+)", source.read_text()):
        assert f"<code>{name}(" in page, name
