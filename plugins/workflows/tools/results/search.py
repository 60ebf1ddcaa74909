"""What looking for workflows and skill cards answers with."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Viewer
from plugins.workflows.search.search import Found, Hit
from plugins.workflows.tools.results.base import SummaryInfo
from plugins.workflows.tools.results.ratings import StandingInfo


class FoundItem(SummaryInfo):
    """A workflow or a skill card that was found."""

    score: float | None = Field(
        description="How well it fits, 0 to 1; 1 where the task is its name, null in a list."
    )

    @classmethod
    def found(cls, hit: Hit, viewer: Viewer) -> FoundItem:
        """What an answer shows of it, for a viewer."""
        score = None if hit.score is None else round(hit.score, 4)
        return cls(**cls.fields_of(hit.summary, viewer), score=score)

    @classmethod
    def each(cls, found: Found, viewer: Viewer) -> list[FoundItem]:
        """What an answer shows of all that was found, in the same order."""
        return [cls.found(hit, viewer) for hit in found.hits]


class FoundWorkflow(FoundItem):
    """A workflow that was found."""

    standing: StandingInfo | None = Field(
        description="What others think of it, as of a minute ago at most; null where nobody "
        "has rated or walked it."
    )


class _SearchResult(ToolResult):
    mode: Literal["semantic", "text"] | None = Field(
        description="semantic: compared by meaning; text: by words alone; null where no task was "
        "given: then they are in the order of their names."
    )
    note: str | None = Field(description="What to know about this answer.")


class AvailableWorkflows(_SearchResult):
    """The workflows that fit, best first."""

    workflows: list[FoundWorkflow] = Field(description="select_workflow takes the id of one.")

    @classmethod
    def of(cls, found: Found, viewer: Viewer) -> AvailableWorkflows:
        """The answer to a search, for a viewer."""
        shown = [
            FoundWorkflow(**dict(each), standing=StandingInfo.of(found.standings.get(each.id)))
            for each in FoundItem.each(found, viewer)
        ]
        return cls(workflows=shown, mode=found.mode, note=found.note)


class AvailableSkills(_SearchResult):
    """The skill cards that fit, best first."""

    skills: list[FoundItem] = Field(description="get_selected_skill takes the id of one.")

    @classmethod
    def of(cls, found: Found, viewer: Viewer) -> AvailableSkills:
        """The answer to a search, for a viewer."""
        return cls(skills=FoundItem.each(found, viewer), mode=found.mode, note=found.note)
