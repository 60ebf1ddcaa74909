"""``porch knowledge review``: documents that their authors should look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from gateway.contract import Command, CommandContext, Tier
from gateway.toolkit.counts import counted
from plugins.knowledge.commands.portal import open_here
from plugins.knowledge.config import KnowledgeConfig

if TYPE_CHECKING:
    from plugins.knowledge.notes.ages import Overdue


class ReviewArgs(BaseModel):
    """What ``porch knowledge review`` takes: nothing."""


async def review(args: ReviewArgs, context: CommandContext) -> int:
    """Name every document that is past its type's age, or says that it holds no more."""
    config = context.config
    days = config.review_days if isinstance(config, KnowledgeConfig) else {}
    async with open_here(context) as handle:
        found = handle.knowledge.standings.wanting_look(Tier.MEMBERS)
    if context.json:
        context.emit({"documents": [_as_json(each) for each in found]})
        return 0
    for each in found:
        authors = ", ".join(each.entry.metadata.author or ()) or "no author"
        context.echo(f"{each.entry.path}: {each.reason} ({authors})")
    if not days:
        context.echo("No type has an age: say after how many days in review_days.")
    context.echo(f"{counted(len(found), 'document')} to look at.")
    return 0


def _as_json(one: Overdue) -> dict[str, Any]:
    entry = one.entry
    return {
        "id": entry.key,
        "path": entry.path,
        "authors": list(entry.metadata.author or ()),
        "days": one.age.days,
        "reason": one.reason,
    }


REVIEW = Command(
    name="review",
    summary="Name the documents that their authors should look at.",
    args=ReviewArgs,
    run=review,
)
