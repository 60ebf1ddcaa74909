"""Lists that save an agent's context: one line per entry, in pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from gateway.contract import Listing, Page
from plugins.skills_repo.results import AgentInfo, AgentLine, SkillInfo, SkillLine

MAX_LINE_CHARS = 160
"""Characters of a description in a list, at most."""
MAX_PAGE_SIZE = 100
"""Entries on a page, at most; the bytes of a page often end it before."""


class _FullEntry(dict[str, Any]):
    """An entry whose every field was asked for."""


def summary_line(description: str | None) -> str | None:
    """The beginning of a description, in one line."""
    if description is None:
        return None
    words = " ".join(description.split())
    return (
        words
        if len(words) <= MAX_LINE_CHARS
        else f"{words[: MAX_LINE_CHARS - 1].rsplit(' ', 1)[0]}\u2026"
    )


def _page(whole: type[BaseModel], brief: type[BaseModel]) -> Page:
    shown = [field.alias or name for name, field in brief.model_fields.items()]

    def summarize(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        if isinstance(entry, _FullEntry):
            return entry
        short = {name: entry[name] for name in shown}
        return short | {"description": summary_line(entry["description"])}

    return Page(size=MAX_PAGE_SIZE, summarize=summarize, item=whole | brief)


SKILLS = _page(SkillInfo, SkillLine)
AGENTS = _page(AgentInfo, AgentLine)


def listing(entries: Sequence[Mapping[str, Any]], *, details: bool) -> Listing[Mapping[str, Any]]:
    """Entries as a tool returns them, for the gateway to show page by page.

    Args:
        entries: every field of each, as it is sent.
        details: whether every field is shown, and not a line alone.
    """

    async def whole(some: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return [_FullEntry(each) for each in some]

    return Listing(entries, _key, ready=whole if details else None)


def _key(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["source"], entry.get("directory", entry.get("file", ""))
