"""Where drafts go: what each kind of source can do with one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from gateway.contract import ToolFailed
from plugins.knowledge.drafts.draft import Draft, Seen
from plugins.knowledge.sync.sources import NoteSource

Trying = Callable[[Draft, str], Awaitable[Draft]]
"""``await trying(draft, blob)``: writes down what is about to be pushed."""


@dataclass(frozen=True, slots=True)
class Target:
    """What lies where a draft is to go.

    Attributes:
        blob: the file's blob; None where there is no file.
        data: its bytes.
        taken: a file whose path some file systems take for the same.
    """

    blob: str | None = None
    data: bytes | None = None
    taken: str | None = None


class Place(Protocol):
    """A source that takes drafts.

    Attributes:
        source: the source.
        label: what people are told it is called.
        is_remote: whether others than this machine's admin have to be asked.
    """

    source: NoteSource
    label: str
    is_remote: bool

    async def target(self, path: str, draft: Draft | None) -> Target:
        """What a draft would replace: the page, or what the draft has brought already.

        Raises:
            SourceFailed: the source does not say.
        """
        ...

    async def publish(self, draft: Draft, trying: Trying) -> Seen:
        """Bring a draft's text to where reviewers see it; done again, it does nothing twice.

        Raises:
            ToolFailed: ``changed_meanwhile``; somebody has changed what it is to replace.
            SourceFailed: the source refuses, or does not answer.
        """
        ...

    async def look(self, draft: Draft) -> Seen:
        """How a draft stands.

        Raises:
            SourceFailed: the source does not say.
        """
        ...

    async def withdraw(self, draft: Draft) -> Seen:
        """Take a draft back; done again, it does nothing twice.

        Raises:
            ToolFailed: somebody else has changed what would be removed.
            SourceFailed: the source refuses, or does not answer.
        """
        ...


def changed_meanwhile(draft: Draft, where: str) -> ToolFailed:
    """The failure where somebody else has changed what a draft is to replace."""
    text = (
        f"Somebody has changed {draft.path} {where} since your draft was begun. The draft is kept, "
        f"and nothing was written. Call preview_draft with draft {draft.id!r}, take their change "
        "in, and propose it again with the base that it gives."
    )
    return ToolFailed("changed_meanwhile", text, {"draft": draft.id, "path": draft.path})
