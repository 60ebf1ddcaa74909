"""Views at a glance: several plugins' answers side by side on one page of the portal.

Each is asked on its own and at the same time; what fails or is slow says so in its own place, and
the page has the rest. A tool that waits for a person's yes is not called: a page that is opened for
something else asks nobody for one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gateway.catalog.items import Item
from gateway.catalog.views import declared_view
from gateway.contract import ToolFailed
from gateway.errors import PortalError
from gateway.observability.logs import get_logger
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.drawing import Drawing

SECONDS = 4.0
"""How long a page waits for one plugin."""
_LATE = f"It did not answer within {SECONDS:g} seconds. Ask it by itself, on its own page."

_ASKS_FIRST = "Each look at it waits for a person's yes, so it is not asked from here."

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Glance:
    """What one view shows.

    Attributes:
        title: the view's.
        name: a word for it that is good in an address.
        address: its own page, with the same arguments.
        html: what it shows; empty where it has nothing to show.
        problem: why it shows nothing, where something went wrong.
    """

    title: str
    name: str
    address: str
    html: str = ""
    problem: str = ""


class Glances:
    """Draws views at a glance.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._calls = frame.calls
        self._asks_first = frame.parts.asks_first

    async def of(
        self,
        visitor: Visitor,
        context: CallContext,
        wanted: Sequence[tuple[Item, Mapping[str, Any]]],
        *,
        counted: bool = False,
    ) -> list[Glance]:
        """What views show for some arguments, all asked at once.

        Args:
            visitor: whose page it is.
            context: who calls.
            wanted: the views, each with the arguments for its tool.
            counted: whether the calls count among those that the caller may make.
        """
        drawing = Drawing(self._calls.catalog, visitor.base, context.caller)
        asked = (self._one(drawing, context, *each, counted=counted) for each in wanted)
        return list(await asyncio.gather(*asked))

    async def _one(
        self,
        drawing: Drawing,
        context: CallContext,
        item: Item,
        given: Mapping[str, Any],
        *,
        counted: bool,
    ) -> Glance:
        view = declared_view(item)
        name, address = f"{item.plugin}-{view.name}", drawing.address(item, given)
        if self._asks_first(f"{item.plugin}/{view.tool}"):
            return Glance(view.title, name, address, problem=_ASKS_FIRST)
        try:
            async with asyncio.timeout(SECONDS):
                answered = await self._calls.call(
                    context, item.plugin, view.tool, given, counted=counted
                )
                if answered.error is not None:
                    return Glance(view.title, name, address, problem=_told(answered.error))
                shown = {} if answered.scrubbed else given
                draw = asyncio.to_thread(drawing.draw, item, shown, answered.value, glance=True)
                html = (await draw).strip()
        except TimeoutError:
            return Glance(view.title, name, address, problem=_LATE)
        except Exception as error:  # a template that fails spoils its own place alone
            log.warning("view_not_drawn", view=item.key, reason=type(error).__name__)
            problem = "It cannot be shown here now."
            return Glance(view.title, name, address, problem=problem)
        return Glance(view.title, name, address, Markup(html))  # noqa: S704  (it escapes everything)


def _told(error: Exception) -> str:
    """What a page says of a call that failed, in the place where the answer would be."""
    if isinstance(error, ToolFailed):
        return error.message
    return str(error) if isinstance(error, PortalError) else "Something went wrong there."
