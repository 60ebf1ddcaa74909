"""What the commands share: they ask a running portal and wait for it, or open the base here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gateway.contract import CommandContext

if TYPE_CHECKING:
    from plugins.knowledge.sync.handle import KnowledgeHandle

POLL_INTERVAL_S = 0.5
"""Seconds between two questions to a portal how far it is."""


class WorkState(Protocol):
    """What a portal says of work that it does."""

    @property
    def running(self) -> bool:
        """Whether it is still at it."""
        ...


State = TypeVar("State", bound=WorkState)


async def run_in_portal(
    context: CommandContext,
    path: str,
    body: Mapping[str, Any],
    seen: Callable[[dict[str, Any]], State],
) -> State | None:
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
        await asyncio.sleep(POLL_INTERVAL_S)
        answer = await context.ask("GET", path)
        if answer is None:
            raise ConnectionError("The portal has ended meanwhile; run this again, and it goes on.")
        said = seen(answer)
    return said


@asynccontextmanager
async def open_here(context: CommandContext) -> AsyncGenerator[KnowledgeHandle]:
    """Open the knowledge base in this process, for as long as the block lasts."""
    # Late, because these need the database driver and the vector store, and help does not.
    from gateway.repositories import Retry
    from plugins.knowledge.sync.handle import open_handle

    somebody_waits = Retry(retries=3, first_s=1.0, max_s=60.0)
    async with context.host() as host:
        async with open_handle(context.config, host, somebody_waits) as found:
            yield found
