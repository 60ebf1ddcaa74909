"""What waits in plugins for people's attention, as they count it (``Offer.backlog``)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gateway.contract import Backlog, Backlogs, Caller, ToolFailed
from gateway.observability.logs import get_logger
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor
from gateway.surfaces.views.links import Links

SECONDS = 4.0
"""How long the overview waits for one plugin."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Counted:
    """A line of the overview.

    Attributes:
        plugin: whose.
        count: how much waits.
        what: what it is called after that number.
        path: the page that shows it, below the portal's base; empty where there is none.
        problem: whether it is not known now.
    """

    plugin: str
    count: int = 0
    what: str = ""
    path: str = ""
    problem: bool = False


async def waiting_in_plugins(frame: Frame, visitor: Visitor) -> list[Counted]:
    """What waits that a visitor may see, plugin by plugin, all asked at once."""
    caller = await frame.visitors.caller(visitor)
    asked = (
        _of(frame, plugin, offer.backlog, caller)
        for plugin, offer in frame.parts.offers.items()
        if offer.backlog is not None
    )
    return [each for several in await asyncio.gather(*asked) for each in several]


async def _of(frame: Frame, plugin: str, backlog: Backlogs, caller: Caller) -> list[Counted]:
    try:
        async with asyncio.timeout(SECONDS):
            several = await backlog(caller)
    except ToolFailed:  # such as: not for this tier
        return []
    except Exception as error:
        log.warning("backlog_not_known", plugin=plugin, reason=type(error).__name__)
        return [Counted(plugin, problem=True)]
    links = Links(frame.parts.catalog, plugin, "", caller)
    seen = [each for each in several if each.count and links.may(each.tool)]
    return [Counted(plugin, each.count, _word(each), links.path(each.tool)) for each in seen]


def _word(backlog: Backlog) -> str:
    return backlog.one if backlog.count == 1 else backlog.many
