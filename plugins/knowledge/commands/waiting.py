"""What the commands share: the knowledge base opened here, or the portal asked and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gateway.contract import CommandContext

if TYPE_CHECKING:
    from plugins.knowledge.sync.standing import Standing

PAUSE = 0.5
"""Seconds between two questions to a portal how far it is."""


class Running(Protocol):
    """What a portal says of work that it does."""

    @property
    def running(self) -> bool:
        """Whether it is still at it."""
        ...


Said = TypeVar("Said", bound=Running)


async def waited(
    context: CommandContext,
    path: str,
    body: Mapping[str, Any],
    seen: Callable[[dict[str, Any]], Said],
) -> Said | None:
    """Have the portal that runs do something, and wait until it is done.

    Args:
        context: asks it.
        path: the route; ``POST`` begins the work, ``GET`` says how far it is.
        body: what to begin with.
        seen: reads an answer; called with each.

    Returns:
        The last answer, or None where no portal runs.

    Raises:
        ToolFailed: the portal refuses.
    """
    answer = await context.ask("POST", path, body)
    if answer is None:
        return None
    said = seen(answer)
    while said.running:
        await asyncio.sleep(PAUSE)
        answer = await context.ask("GET", path)
        if answer is None:
            raise ConnectionError("The portal has ended meanwhile; run this again, and it goes on.")
        said = seen(answer)
    return said


@asynccontextmanager
async def opened(context: CommandContext) -> AsyncGenerator[Standing]:
    """Open the knowledge base in this process, for as long as the block lasts."""
    # Late, because these need the database driver and the vector store, and help does not.
    from plugins.knowledge.sync.patience import Patience
    from plugins.knowledge.sync.standing import standing

    somebody_waits = Patience(retries=3, first=1.0, longest=60.0)
    async with context.host() as host:
        async with standing(context.config, host, somebody_waits) as found:
            yield found
