"""``porch knowledge sync``: bring every source to what it holds now, with or without a portal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext, ToolFailed
from gateway.toolkit.progress_bar import Tell, progress_bar
from plugins.knowledge.commands.portal import open_here, run_in_portal

if TYPE_CHECKING:
    from plugins.knowledge.sync.admin_routes import SyncState


class SyncArgs(BaseModel):
    """What ``porch knowledge sync`` takes."""

    emptied: bool = Field(
        False,
        description="Remove the documents of a directory that is empty all at once; else they are "
        "kept, as its volume may not be mounted.",
    )


async def sync(args: SyncArgs, context: CommandContext) -> int:
    """Sync every source; 1 where one of them stays behind."""
    try:
        with progress_bar(None if context.json else context.echo) as tell:
            state = await _beside_portal(args, context, tell) or await _alone(args, context, tell)
    except (ToolFailed, OSError, ValueError) as error:
        return _failed(context, str(error))
    except asyncio.CancelledError:  # Ctrl-C
        if not context.json:
            context.echo("Stopped. What was fetched is kept: run it again, and it goes on.")
        raise
    if context.json:
        context.emit(state.model_dump(mode="json"))
    else:
        for line in _state_lines(state):
            context.echo(line)
    return 1 if state.errors else 0


async def _beside_portal(args: SyncArgs, context: CommandContext, tell: Tell) -> SyncState | None:
    """Have the portal that runs do it; None where none does."""
    from plugins.knowledge.sync.admin_routes import SyncState

    def seen(answer: dict[str, Any]) -> SyncState:
        state = SyncState.model_validate(answer)
        tell(state.doing, state.done, state.total)
        return state

    return await run_in_portal(context, "/sync", args.model_dump(), seen)


async def _alone(args: SyncArgs, context: CommandContext, tell: Tell) -> SyncState:
    from plugins.knowledge.sync.admin_routes import handle_state

    async with open_here(context) as handle:
        handle.sync_loop.progress.tell = tell
        return handle_state(handle, await handle.sync_loop.sync_all(emptied=args.emptied))


def _failed(context: CommandContext, reason: str) -> int:
    if context.json:
        context.emit({"error": reason})
    else:
        context.echo(reason)
    return 1


def _state_lines(state: SyncState) -> list[str]:
    lines = [f"{each.path}:{each.line}: {each.reason}" for each in state.rejected if each.is_error]
    lines += [f"{error}." for error in state.errors]
    lines += [_source(each.source, each.commit) for each in state.sources if not each.behind]
    lines.append(f"{_count(state.documents, 'document')} served.")
    return lines


def _source(name: str, commit: str) -> str:
    return f"{name} is at {commit[:12]}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun} is" if number == 1 else f"{number:,} {noun}s are"


SYNC = Command(
    name="sync",
    summary="Bring every source to what it holds now; the portal may run or not.",
    args=SyncArgs,
    run=sync,
)
