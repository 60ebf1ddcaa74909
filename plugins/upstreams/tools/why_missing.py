"""``why_missing``: where a tool went that somebody expects, of any plugin or server."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcp_types import ToolAnnotations
from pydantic import Field

from gateway.contract import Absent, BriefResult, Caller, Exchange, Tier, Tool, ToolResult, near

MAX_TOLD = 100
"""Absent things in one answer."""


class MissingItem(ToolResult):
    """Something that the caller does not see, or cannot use now."""

    name: str = Field(description="What it is called, or would be.")
    kind: str = Field(description="tool, prompt, resource, or source: a server or a plugin.")
    why: str = Field(
        description="tier, limits, set_aside, malformed, quarantined, excluded, cut, down, new, "
        "not_listed, no_search, closed, connection_needed or connection_expired; there is what "
        "may be used."
    )
    reason: str = Field(description="Why, in a sentence.")
    link: str = Field(description="Where something can be done about it, or nothing.")
    detail: str = Field(description="What else admins should know; nothing for others.")


class WhyMissing(ToolResult, BriefResult):
    """Why something is not there."""

    missing: list[MissingItem] = Field(description="What is not there, and why.")
    more: int = Field(description="How many more there are: ask by name.")
    note: str = Field(description="What else to know, or nothing.")

    def brief(self) -> str:
        """One line for each."""
        lines = [" ".join(filter(None, _words(each))) for each in self.missing]
        return "\n".join([*lines, *([self.note] if self.note else [])])


def _words(each: MissingItem) -> Sequence[str]:
    return f"{each.name} ({each.why}):", each.reason, each.link, each.detail


def why_missing_tool(exchange: Callable[[], Exchange]) -> Tool:
    """The tool.

    Args:
        exchange: gives the call that is running.
    """

    async def why_missing(caller: Caller, name: str | None = None) -> WhyMissing:
        """Say why a tool is not there, or does not work: tier, quarantine, a server that is down.

        Use it when a tool that somebody expects is missing from the list.

        Args:
            name: the tool's name; everything that is missing if not given.
        """
        found = await exchange().missing(name)
        note = "" if found else "Nothing that you might see is missing."
        if name is not None and not any(each.kind != "source" for each in found):
            others = [each.name for each in await exchange().missing() if each.kind != "source"]
            close = near(name, others)
            meant = f" Near it, and missing: {', '.join(close)}." if close else ""
            note = f"Nothing that you may know of is called {name}.{meant}"
        if found and name is not None and all(each.name == name for each in found):
            note = ""
        return WhyMissing(
            missing=[_item(each) for each in found[:MAX_TOLD]],
            more=max(0, len(found) - MAX_TOLD),
            note=note,
        )

    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return Tool.of(why_missing, tier=Tier.OPEN, annotations=hints)


def _item(absent: Absent) -> MissingItem:
    return MissingItem(
        name=absent.name,
        kind=absent.kind,
        why=absent.why,
        reason=absent.reason,
        link=absent.link,
        detail=absent.detail,
    )
