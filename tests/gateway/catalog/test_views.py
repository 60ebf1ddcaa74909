"""Views that cannot be shown are set aside alone, with what their author has to mend."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.catalog.schemas import BadDeclaration
from gateway.catalog.views import view_item
from gateway.contract import Tier, Tool, View, Write
from tests.gateway.surfaces.views.painted import HERE, WRITES, tools


async def odd(csrf: str) -> str:
    """A tool with an argument that forms carry themselves.

    Args:
        csrf: Anything.
    """
    return csrf


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tool": "nothing"}, "no tool of the plugin"),
        ({"tool": "keep_thing"}, "does not say that it only reads"),
        ({"asks": "words"}, "no argument of 'show_thing'"),
        ({"writes": (Write("nothing"),)}, "no tool of the plugin"),
        ({"writes": (Write("list_things"),)}, "only reads"),
        ({"writes": (Write("keep_thing", shows=True),)}, "does not say that it only reads"),
        ({"writes": (Write("odd"),)}, "argument 'csrf'"),
    ],
)
def test_what_is_wrong_with_a_view_is_said(changes: dict[str, Any], said: str) -> None:
    offered = [*tools(), Tool.of(odd, tier=Tier.OPEN, annotations=WRITES)]
    given: dict[str, Any] = {"name": "v", "title": "V", "tool": "show_thing"}
    view = View(**given | {"template": HERE / "thing.html"} | changes)
    with pytest.raises(BadDeclaration, match=said):
        view_item("painted", view, offered)
