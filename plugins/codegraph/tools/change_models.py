"""The result models of what changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from gateway.contract import ToolResult
from plugins.codegraph.changes.compare import ChangeKind
from plugins.codegraph.changes.history import PastChange, PastUpdate
from plugins.codegraph.changes.log import UpdateKind
from plugins.codegraph.changes.told import Side, Told
from plugins.codegraph.justification.columns import JUSTIFIED
from plugins.codegraph.model import EntityKind, parse_key, shown_key
from plugins.codegraph.tools.notes import Note
from plugins.codegraph.tools.result_models import MAX_SIGNATURE_LENGTH

MAX_NAMES = 10
"""The most callers that are named with one change."""


class Place(ToolResult):
    """An entity before or after a change."""

    name: str = Field(description="Its qualified name within the file.")
    file: str
    line: int
    end_line: int
    signature: str | None = None


class Cascade(ToolResult):
    """What came of a change for what calls the changed code."""

    state: Literal["waiting", "done"] = Field(
        description="waiting: why code exists is being worked out again since this change."
    )
    meaning: Literal["same", "changed", "gone", "unknown"] | None = Field(
        None,
        description="What became of what it is for. changed: its class, feature or technology, or "
        "more than the wording of its purpose; unknown: nothing is said of it, as of tests.",
    )
    callers: int = Field(
        description="Callers up to two steps away, before the change: they are looked at again "
        "because of it where the meaning changed or it is gone."
    )
    named: list[str] = Field(description="The nearest of them.")
    changed: list[str] | None = Field(
        None, description="Those of which something else is said since."
    )


class Changed(ToolResult):
    """What became of one entity."""

    change: ChangeKind = Field(
        description="renamed: the same text under another name, or in another file; or it is part "
        "of something that was renamed."
    )
    kind: EntityKind
    key: str | None = Field(
        None, description="Its key, which every tool takes as a name; none if it is gone."
    )
    index: int = Field(description="Of which index this is, see meta.indexes.")
    commit: str | None = None
    edited: bool | None = Field(None, description="true: it was renamed, and its text is another.")
    before: Place | None = None
    after: Place | None = None
    diff: str | None = Field(
        None, description="The first lines that differ, as a unified diff with the file's lines."
    )
    cut: bool | None = Field(None, description="true: more lines differ than are shown.")
    cascade: Cascade | None = None
    note: str | None = None


class Index(ToolResult):
    """One index that changed something: a push that was fetched, or files that were saved."""

    index: int
    at: datetime
    told: str = Field(description="In one line.")
    commit: str | None = Field(
        None, description="The commit that it brought; none where files were saved uncommitted."
    )
    former_commit: str | None = None
    author: str | None = Field(None, description="Of the newest commit.")
    subject: str | None = Field(None, description="The first line of the newest commit's message.")
    branch: str | None = None
    files: int
    added: int = 0
    updated: int = 0
    deleted: int = 0
    renamed: int = 0
    left_out: int | None = Field(None, description="Changes that were counted and are not listed.")
    cascade: Literal["waiting", "done"] | None = None


class ChangesNote(Note):
    """What a list of changes is of."""

    indexes: list[Index] = Field(
        default_factory=list, description="The indexes that it tells of, newest first."
    )


def index_of(update: PastUpdate) -> Index:
    """The model of an index."""
    counts = {kind.value: update.counts.get(kind.value, 0) for kind in ChangeKind}
    files = update.counts.get("files", 0)
    state = "waiting" if update.cascade is None else "done"
    return Index(
        index=update.id,
        at=update.at,
        told=_in_words(update, files, counts),
        commit=update.commit[:12] if update.is_commit else None,
        former_commit=update.former_commit[:12] or None,
        author=(update.author or None) if update.is_commit else None,
        subject=(update.subject or None) if update.is_commit else None,
        branch=update.branch or None,
        files=files,
        **counts,
        left_out=(update.changed - update.kept) or None,
        cascade=state if update.kind is UpdateKind.ENTITIES else None,
    )


def left_out(shown: Iterable[PastUpdate]) -> list[str]:
    """Which indexes have more changes than are kept."""
    reasons = []
    for each in shown:
        when = f"the index of {each.at:%Y-%m-%d %H:%M} UTC"
        if each.kind is UpdateKind.FILES:
            reasons.append(f"{when} changed so much that only files are told")
        elif each.kind is UpdateKind.ENTITIES and each.changed > each.kept:
            reasons.append(f"{when} changed {each.changed}, of which {each.kept} are kept")
    return reasons


def changed(change: PastChange, update: PastUpdate, names: Mapping[int, str]) -> Changed:
    """The model of a change.

    Args:
        change: the change.
        update: the index that it is of.
        names: what callers are called, by key.
    """
    told = change.told
    side = told.after or told.before
    renamed = change.kind is ChangeKind.RENAMED
    return Changed(
        change=change.kind,
        kind=EntityKind.FILE if side is None else side.kind,
        key=None if told.after is None else shown_key(told.after.key),
        index=change.update,
        commit=update.commit[:12] if update.is_commit else None,
        edited=(told.edited or None) if renamed else None,
        before=_place(told.before),
        after=_place(told.after),
        diff=_diff(told) or None,
        cut=any(each is not None and each.cut for each in (told.before, told.after)) or None,
        cascade=_cascade(change, update, names),
        note=told.note or None,
    )


def _in_words(update: PastUpdate, files: int, counts: Mapping[str, int]) -> str:
    in_files = f"{files:,} file{'' if files == 1 else 's'}"
    if update.kind is UpdateKind.FIRST:
        things = update.counts.get("entities", 0)
        return f"The first index: {in_files}, {things:,} entities. Nothing was there before."
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    of = " (files alone: it is too much to be told one by one)"
    more = of if update.kind is UpdateKind.FILES else ""
    return f"{in_files}: {said or 'no entity changed'}{more}."


def _place(side: Side | None) -> Place | None:
    if side is None:
        return None
    return Place(
        name=side.qualified,
        file=side.path,
        line=side.line,
        end_line=side.end_line,
        signature=side.signature[:MAX_SIGNATURE_LENGTH] or None,
    )


def _diff(told: Told) -> str:
    """The kept lines of both sides as one hunk of a unified diff, numbered as in their files."""
    (old, first), (new, then) = _excerpt(told.before), _excerpt(told.after)
    if old == new:
        return ""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    lines = [f"@@ -{first},{len(old)} +{then},{len(new)} @@"]
    for what, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if what == "equal":
            lines += [f" {line}" for line in old[old_from:old_to]]
        else:
            lines += [f"-{line}" for line in old[old_from:old_to]]
            lines += [f"+{line}" for line in new[new_from:new_to]]
    return "\n".join(lines)


def _excerpt(side: Side | None) -> tuple[list[str], int]:
    """The lines that are kept of a side, and the number of the first."""
    if side is None or not side.text_line:
        return [], 0
    return side.text.split("\n"), side.text_line


def _cascade(change: PastChange, update: PastUpdate, names: Mapping[int, str]) -> Cascade | None:
    told = change.told
    if told.before is None or told.before.kind not in JUSTIFIED:
        return None
    if update.kind is not UpdateKind.ENTITIES:
        return None
    keys = [*told.callers, *told.beyond]
    callers = {"callers": len(keys), "named": [names[k] for k in keys if k in names][:MAX_NAMES]}
    if update.cascade is None:
        return Cascade(state="waiting", **callers)
    outcome = update.cascade.get(str(change.number), {})
    other = [parse_key(each) for each in outcome.get("changed", ())]
    return Cascade(
        state="done",
        meaning=outcome.get("meaning", "unknown"),
        **callers,
        changed=[names.get(key, shown_key(key)) for key in other] or None,
    )
