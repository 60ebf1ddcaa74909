"""The tools over drafts. What others see of one waits for its person's yes."""

from __future__ import annotations

from typing import Any

from mcp_types import ToolAnnotations

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.drafts.draft import DraftArgs
from plugins.knowledge.drafts.drafts import Drafts
from plugins.knowledge.drafts.results import DraftAnswer, DraftList


def tools(drafts: Drafts) -> list[Tool]:
    """The tools, in the order in which a model should consider them."""
    return [_preview(drafts), _create(drafts), *_reading(drafts), _withdraw(drafts)]


def _preview(drafts: Drafts) -> Tool:
    async def run(args: Any, caller: Caller) -> DraftAnswer:
        return await drafts.preview(args, caller)

    return Tool(
        "preview_draft",
        "Prepare a page for the knowledge base, new or changed, and see what it would be: its "
        "file, where it goes, what is wrong with its fields by line, where its links lead, the "
        "diff. It is kept for its person alone; nothing is sent anywhere. They look at it on "
        "`page`, and can propose it there. Do this before create_draft.",
        run,
        args=DraftArgs,
        result=DraftAnswer,
        title="Preview a draft",
        tier=Tier.MEMBERS,
        floor=Tier.PUBLIC,
        annotations=_hints(read_only=False, destructive=False, open_world=False),
    )


def _create(drafts: Drafts) -> Tool:
    async def run(args: Any, caller: Caller) -> DraftAnswer:
        return await drafts.create(args, caller)

    return Tool(
        "create_draft",
        "Propose a page for the knowledge base to its reviewers: a pull request, or a file among "
        "the drafts of a directory. With `draft`, its next version goes to the same place. Your "
        "person says yes first. A draft with problems, or to a page that somebody has changed "
        "meanwhile, is kept and not proposed. It may be called again: nothing is opened twice.",
        run,
        args=DraftArgs,
        result=DraftAnswer,
        title="Propose a draft",
        tier=Tier.MEMBERS,
        floor=Tier.PUBLIC,
        approve="caller",
        annotations=_hints(read_only=False, destructive=False, open_world=True),
    )


def _reading(drafts: Drafts) -> list[Tool]:
    async def list_drafts(mine: bool = False, *, caller: Caller) -> DraftList:
        """List the drafts of pages that wait for review, with what reviewers say, and your
        person's own that were merged, closed or never proposed.

        Args:
            mine: Whether only your person's own are listed.
        """
        return await drafts.listed(caller, mine=mine)

    async def get_draft(draft: str, *, caller: Caller) -> DraftAnswer:
        """Get a draft whole: its file, what reviewers say, and of your person's own what it
        changes and what is wrong with it.

        Args:
            draft: The id of the draft.
        """
        return await drafts.get(draft, caller)

    # They ask the source how a draft stands.
    hints = _hints(read_only=True, destructive=False, open_world=True)
    common: dict[str, Any] = {"tier": Tier.MEMBERS, "floor": Tier.PUBLIC, "annotations": hints}
    return [
        Tool.of(list_drafts, title="List drafts", **common),
        Tool.of(get_draft, title="Get a draft", **common),
    ]


def _withdraw(drafts: Drafts) -> Tool:
    async def withdraw_draft(draft: str, *, caller: Caller) -> DraftAnswer:
        """Take back a draft of your person's own: its pull request is closed and its branch
        deleted, or its file removed. They say yes first.

        Args:
            draft: The id of the draft.
        """
        return await drafts.withdraw(draft, caller)

    return Tool.of(
        withdraw_draft,
        title="Withdraw a draft",
        tier=Tier.MEMBERS,
        floor=Tier.PUBLIC,
        approve="caller",
        annotations=_hints(read_only=False, destructive=True, open_world=True),
    )


def _hints(*, read_only: bool, destructive: bool, open_world: bool) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=read_only,
        destructive_hint=destructive,
        idempotent_hint=True,
        open_world_hint=open_world,
    )
