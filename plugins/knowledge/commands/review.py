"""``porch knowledge review``: documents that their authors should look at."""

from __future__ import annotations

from pydantic import BaseModel

from gateway.contract import Command, CommandContext
from gateway.toolkit.counts import counted
from plugins.knowledge.commands.portal import open_here
from plugins.knowledge.config import KnowledgeConfig

_NO_AGE = (
    "No type has an age. Say in portal.yaml after how many days which type wants a look:",
    "  plugins:",
    "    knowledge:",
    "      review_days: {practice: 365, project: 90}",
)


class ReviewArgs(BaseModel):
    """What ``porch knowledge review`` takes: nothing."""


async def review(args: ReviewArgs, context: CommandContext) -> int:
    """Name every document that is past its type's age, or says that it holds no more.

    The portal that runs is asked; where none does, the base is opened here.
    """
    # Late: its models take a while to build, and help needs none.
    from plugins.knowledge.sync.admin_routes import ReviewState, review_state

    config = context.config
    days = config.review_days if isinstance(config, KnowledgeConfig) else {}
    answer = await context.ask("GET", "/review")
    if answer is not None:
        found = ReviewState.model_validate(answer)
    else:
        async with open_here(context) as handle:
            found = review_state(handle)
    if context.json:
        context.emit(found.model_dump(mode="json"))
        return 0
    for each in found.documents:
        context.echo(f"{each.path}: {each.reason} ({', '.join(each.authors) or 'no author'})")
    if not days:
        for line in _NO_AGE:
            context.echo(line)
    context.echo(f"{counted(len(found.documents), 'document')} to look at.")
    return 0


REVIEW = Command(
    name="review",
    summary="Name the documents that their authors should look at.",
    args=ReviewArgs,
    run=review,
)
