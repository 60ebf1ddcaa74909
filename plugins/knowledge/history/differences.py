"""How two versions of a document differ, line by line, in bounded time and length."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import takewhile

from plugins.knowledge.notes.documents import Document

MAX_COMPARED_LINES = 2000
"""Lines between the first and the last that differ; of more, only their number is told."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed.

    Attributes:
        text: a unified difference, without the lines that name the two.
        added, removed: how many lines.
        is_cut: whether ``text`` leaves some out.
    """

    text: str
    added: int
    removed: int
    is_cut: bool


def text_of(document: Document) -> list[str]:
    """The lines of what is served of a document: its metadata, and its body."""
    fields = document.metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
    said = [f"{name}: {_said(value)}" for name, value in fields.items()]
    return [*said, "", *document.content.splitlines()]


def difference(before: Sequence[str], after: Sequence[str], most: int) -> Difference:
    """What changed from one text to another. It blocks.

    Args:
        before, after: the lines of both.
        most: characters of the difference at most.
    """
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        return Difference("", len(new), len(old), is_cut=True)
    lines = list(unified_diff(before, after, n=2, lineterm=""))[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    shown: list[str] = []
    room = most
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return Difference("\n".join(shown), added, removed, is_cut=True)
        shown.append(line)
    return Difference("\n".join(shown), added, removed, is_cut=False)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
