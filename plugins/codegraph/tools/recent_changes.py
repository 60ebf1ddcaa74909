"""The tool that tells what the last pushes and saves changed in a repository."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from gateway.contract import Caller, Listing, Page, Tier, Tool, ToolFailed
from plugins.codegraph.changes.compare import ChangeKind
from plugins.codegraph.changes.history import ChangeHistory, PastChange, PastUpdate
from plugins.codegraph.changes.log import KEPT_FOR, MAX_UPDATES, UpdateKind
from plugins.codegraph.model import parse_key
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import READS, RESULTS, Repo
from plugins.codegraph.tools.change_models import (
    Changed,
    ChangesNote,
    Index,
    changed,
    index_of,
    left_out,
)
from plugins.codegraph.tools.notes import Completeness, noted
from plugins.codegraph.tools.paths import ends, plain

MAX_TOLD = 1_000
"""The most changes of one answer, on all pages together."""
_OWN_WORK = "Your uncommitted work is not in it: get_workspace shows that."
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_TIME = TypeAdapter(datetime)


def _brief(item: Changed) -> Changed:
    return item.model_copy(update={"diff": None})


PAGE = Page(size=RESULTS, summarize=_brief, item=Changed, note=ChangesNote)


def tools(access: Access, history: ChangeHistory) -> list[Tool]:
    """The tools of this group."""

    async def get_recent_changes(
        since: Annotated[
            str | None,
            Field(
                max_length=64,
                description="Only what changed after this: a time (2026-05-01T09:00:00Z), or a "
                "commit that was indexed (its first 7 digits or more).",
            ),
        ] = None,
        path: Annotated[
            str | None, Field(description="Only in this file, or in this folder and below.")
        ] = None,
        change: Annotated[
            list[ChangeKind] | None, Field(description="Only these kinds; all if left out.")
        ] = None,
        limit: Annotated[
            int,
            Field(ge=1, le=MAX_UPDATES, description="How many indexes: 1 is the last push alone."),
        ] = 10,
        repo: Repo = None,
        *,
        caller: Caller,
    ) -> Listing[PastChange]:
        """What just changed on a repository's indexed branch, newest first: the functions, classes,
        variables and files that were added, updated, deleted or renamed with each push or save,
        each with its place and signature before and after, the lines that differ, and what came of
        it for what calls it. meta.indexes tells which commit and author each is of. Use it as you
        begin, to see what others did, and where something broke since yesterday."""
        opened = await access(caller, repo)
        view = opened.graph.repo
        moment, after = await _start(history, view, since)
        found = await history.updates(view, limit + 1, moment, after)
        shown = {each.id: each for each in found[:limit]}
        paths = () if path is None else ends(plain(path))
        told, total = await history.changes(view, list(shown), MAX_TOLD, paths, change or ())

        reasons = [*left_out(shown.values()), *_unseen(len(told), total)]
        if since is not None:
            reasons += await _before(history, view, moment, len(found) > limit)
        return _listing(opened, told, shown, reasons)

    return [
        Tool.of(
            get_recent_changes,
            title="What changed",
            page=PAGE,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


def _listing(
    opened: Opened,
    told: Sequence[PastChange],
    shown: Mapping[int, PastUpdate],
    reasons: Sequence[str],
) -> Listing[PastChange]:
    async def ready(items: Sequence[PastChange]) -> Sequence[Changed]:
        names = await _names(opened.graph, shown, items)
        return [changed(each, shown[each.update], names) for each in items]

    return Listing(
        told,
        key=lambda each: (each.update, each.number),
        note=_note(opened, reasons, [index_of(each) for each in shown.values()]),
        ready=ready,
    )


async def _start(
    history: ChangeHistory, view: RepositoryView, since: str | None
) -> tuple[datetime | None, int]:
    """After which time, and after which index.

    Raises:
        ToolFailed: it is neither a time nor a commit that is known.
    """
    if since is None or not since.strip():
        return None, 0
    text = since.strip().lower()
    if _COMMIT.fullmatch(text):
        number = await history.of_commit(view, text)
        if number is None:
            raise ToolFailed(
                "unknown_commit",
                f"No index of {view.name} in the last {KEPT_FOR.days} days was of a commit {text}. "
                "Give a time, or a commit of meta.indexes in the answer without since.",
            )
        return None, number
    try:
        moment = _TIME.validate_python(since.strip())
    except ValidationError:
        raise ToolFailed(
            "bad_since",
            "since is a time, such as 2026-05-01T09:00:00Z, or the first 7 digits or more of a "
            "commit.",
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)), 0


def _unseen(told: int, total: int) -> list[str]:
    more = f"{total - told} older changes fit, which a smaller limit or a path would leave out"
    return [more] if total > told else []


async def _before(
    history: ChangeHistory, view: RepositoryView, moment: datetime | None, more: bool
) -> list[str]:
    """Why changes since a time may be missing."""
    if more:
        return ["there were more indexes since then: a larger limit tells of them"]
    oldest = await history.oldest(view)
    if moment is None or (oldest is not None and moment >= oldest.at):
        return []
    if oldest is not None and oldest.kind is UpdateKind.FIRST:
        return []
    kept = f"{KEPT_FOR.days} days and {MAX_UPDATES} indexes"
    return [f"changes are kept for {kept}, and nothing is known of the time before"]


def _note(opened: Opened, reasons: Sequence[str], indexes: Sequence[Index]) -> ChangesNote:
    why = f"Not known to be complete: {'; '.join(reasons)}." if reasons else None
    complete = Completeness(state="incomplete" if reasons else "complete", why=why)
    own = opened.graph.repo.overlay is not None
    note = noted(opened, complete, _OWN_WORK if own else None)
    fields = {name: getattr(note, name) for name in type(note).model_fields}
    return ChangesNote(**fields | {"workspace": None}, indexes=list(indexes))


async def _names(
    graph: Graph, shown: Mapping[int, PastUpdate], items: Sequence[PastChange]
) -> dict[int, str]:
    """What the callers of a page are called, by key; those that are no more are left out."""
    keys: set[int] = set()
    for each in items:
        cascade = shown[each.update].cascade or {}
        outcome = cascade.get(str(each.number), {})
        keys.update(each.told.callers, each.told.beyond)
        keys.update(parse_key(key) for key in outcome.get("changed", ()))
    found = await graph.entities(keys)
    return {key: each.qualified for key, each in found.items()}
