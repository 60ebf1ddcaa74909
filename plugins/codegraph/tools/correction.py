"""The tool by which a member corrects what is said of an entity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Tier, Tool, ToolFailed, ToolResult
from plugins.codegraph.justification.columns import JUSTIFIED
from plugins.codegraph.justification.corrections import Corrections
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import SETS, File, Kind, Name, Repo, Wire
from plugins.codegraph.tools.entity_lookup import find
from plugins.codegraph.tools.result_models import Brief


class Correction(BaseModel):
    """What a member says; what is left out stays, and an empty text takes back what was said."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["VERTICAL", "HORIZONTAL", "UTILITY", ""] | None = Field(
        None, description="Its class."
    )
    feature_area: str | None = Field(
        None, max_length=80, description="Of VERTICAL: the feature's name."
    )
    technology_type: str | None = Field(
        None, max_length=80, description="Of HORIZONTAL: what it provides."
    )
    purpose: str | None = Field(None, max_length=600, description="What it is for, in plain words.")
    business_value: str | None = Field(None, max_length=600, description="Which need it serves.")
    take_back: bool = Field(
        False, description="true: take back all that members said of it; then give nothing else."
    )

    def values(self) -> dict[str, str | None]:
        """What is said, by name; None takes back."""
        if self.take_back:
            return dict.fromkeys(name for name in type(self).model_fields if name != "take_back")
        given = self.model_dump(exclude_none=True, exclude={"take_back"})
        return {key: text.strip() or None for key, text in given.items()}


class CorrectedAnswer(ToolResult):
    """What is said of an entity now."""

    entity: Brief
    version: int = Field(description="Name it where you correct the same again.")
    said: dict[str, str] = Field(description="All that members say of it.")
    note: str


def tools(access: Access, corrections: Corrections, now: Callable[[], datetime]) -> list[Tool]:
    """The tools of this group."""

    async def correct_justification(
        name: Name,
        version: Annotated[
            int,
            Field(
                ge=0,
                description="The correctionVersion that get_business_context gave: 0 where nobody "
                "has corrected it.",
            ),
        ],
        correction: Annotated[Correction, Field(description="What your person says of it.")],
        file: File = None,
        kind: Kind = None,
        repo: Repo = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Correct what is said of a function, method or class, when your person told you so: it
        wins over what was derived, for everybody, and stays when the code is indexed again."""
        opened = await access(caller, repo)
        kinds = () if kind is None else (kind,)
        entity = (await find(opened.graph, name, file, kinds, prefer=kind is None)).entity
        if entity.kind not in JUSTIFIED or entity.test:
            text = f"{entity.qualified} is a {entity.kind.value}, or a test: it has no class."
            raise ToolFailed("bad_input", f"{text} Name a function, method, class or interface.")
        values = correction.values()
        if not values:
            raise ToolFailed("bad_input", "Nothing is corrected: give what is to be said.")
        said = caller.person, now()
        found = await corrections.put(opened.graph.repo, entity, values, version, said)
        return CorrectedAnswer(
            entity=Brief.of(entity),
            version=found.version,
            said=dict(found.values),
            note="Everybody sees it now; counts in get_blueprint follow within seconds.",
        ).wire()

    return [
        Tool.of(
            correct_justification,
            title="Correct why code exists",
            result=CorrectedAnswer,
            tier=Tier.MEMBERS,
            floor=Tier.MEMBERS,
            annotations=SETS,
        )
    ]
