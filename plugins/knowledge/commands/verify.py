"""``porch knowledge verify``: source, store and index compared, and mended where asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from gateway.contract import Command, CommandContext, ToolFailed
from gateway.toolkit.counts import counted
from gateway.toolkit.progress_bar import Tell, progress_bar
from plugins.knowledge.commands.portal import open_here, run_in_portal

if TYPE_CHECKING:
    from plugins.knowledge.sync.differences import Verified


class VerifyArgs(BaseModel):
    """What ``porch knowledge verify`` takes."""

    repair: bool = Field(False, description="Mend what is different, and compare again.")


async def verify(args: VerifyArgs, context: CommandContext) -> int:
    """Name every difference, one a line; 1 where there is one, or one is left."""
    try:
        with progress_bar(None if context.json else context.echo) as tell:
            found = await _beside_portal(args, context, tell) or await _alone(args, context, tell)
    except (ToolFailed, OSError, ValueError) as error:
        if context.json:
            context.emit({"error": str(error)})
        else:
            context.echo(str(error))
        return 1
    if context.json:
        context.emit(found.model_dump(mode="json"))
    else:
        for line in _result_lines(found):
            context.echo(line)
    return 1 if found.differences else 0


async def _beside_portal(args: VerifyArgs, context: CommandContext, tell: Tell) -> Verified | None:
    """Have the portal that runs do it; None where none does."""
    from plugins.knowledge.sync.admin_routes import VerifyState

    def seen(answer: dict[str, Any]) -> VerifyState:
        state = VerifyState.model_validate(answer)
        tell(_doing(args), 0, 0)
        return state

    state = await run_in_portal(context, "/verify", args.model_dump(), seen)
    if state is None:
        return None
    if state.result is None:
        raise ToolFailed("not_verified", state.error)
    return state.result


async def _alone(args: VerifyArgs, context: CommandContext, tell: Tell) -> Verified:
    async with open_here(context) as handle:
        tell(_doing(args), 0, 0)
        handle.sync_loop.progress.tell = tell
        return await handle.repair.verify(repair=args.repair)


def _doing(args: VerifyArgs) -> str:
    return (
        "Comparing source, store and index, and mending"
        if args.repair
        else ("Comparing source, store and index")
    )


def _result_lines(found: Verified) -> list[str]:
    lines = [f"mended: {each}" for each in found.mended]
    lines += [str(each) for each in found.differences]
    left, documents = len(found.differences), counted(found.documents, "document")
    if left:
        advice = "" if found.mended else " `--repair` mends what can be."
        lines.append(f"{documents}: {left:,} difference{'s' * (left != 1)}.{advice}")
    else:
        lines.append(f"{documents}: source, store and index are the same.")
    return lines


VERIFY = Command(
    name="verify",
    summary="Compare source, store and index, and name every difference.",
    args=VerifyArgs,
    run=verify,
)
