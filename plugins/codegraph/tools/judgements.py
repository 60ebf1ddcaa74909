"""What tools share that answer why code exists: reading it, with the caller's uncommitted work."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pydantic import Field

from gateway.contract import People, ToolFailed
from plugins.codegraph.justification.corrections import Correction, Corrections, corrected
from plugins.codegraph.justification.live import code_of, judged_alone
from plugins.codegraph.justification.opinions.opinion import Opinion, known
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.outline import Outline
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.justification.taxonomy import EntityClass, EntryKind, Taxonomy
from plugins.codegraph.model import Entity
from plugins.codegraph.store.codes import ENTITY_CODES
from plugins.codegraph.tools.access import Opened
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.tools.result_models import Brief, brief

BEHIND = (
    "The code has changed. What changed and its callers were judged again at once; the rest, and "
    "what features add up to, follow."
)
"""Said until the rules have gone over the whole graph once more."""
_ON_BRANCH = (
    "What did not change, and what became of it, is told as of the indexed branch; files that "
    "differ are judged now, each alone."
)
_FACTS = (
    "Derived by rules from the graph and the source, without a language model, unless it is marked "
    "as said by one; a confidence of 0.8 or more is right in nine of ten cases, as measured on "
    "judged repositories."
)


class Judged(Brief):
    """An entity with its place in the system."""

    type: EntityClass
    feature_area: str | None = None
    technology_type: str | None = None
    entry_point: EntryKind | None = None
    said_purpose: str | None = Field(None, description="In its author's or a member's words.")
    class_confidence: float


@dataclass(frozen=True, slots=True)
class Judgements:
    """Reads what is said of entities.

    Attributes:
        store: what is stored.
        corrections: what members say.
        opinions: what models and agents say.
        people: what the portal calls people.
    """

    store: StatementStore
    corrections: Corrections
    opinions: Opinions
    people: People

    async def note(self, opened: Opened, *more: str) -> Note:
        """The note of an answer.

        Raises:
            ToolFailed: nothing of the repository is justified yet.
        """
        state = await self.store.state(opened.graph.repo)
        if state is None:
            raise ToolFailed(
                "not_justified",
                f"{opened.graph.repo.name} is indexed, and why its code exists is worked out now. "
                "Ask again in a minute; if it stays so, an admin runs `porch codegraph justify`.",
            )
        told = _ON_BRANCH if opened.branch is not None else ""
        said = [_FACTS, told, *more, *([BEHIND] if state.behind else [])]
        return noted(opened, note=" ".join(each for each in said if each))

    async def of(self, opened: Opened, entities: Collection[Entity]) -> dict[int, Statement]:
        """What is said of some entities, by key; files that are not as indexed are judged now."""
        view = opened.graph.repo
        found = await self.store.of(view, [each.key for each in entities])
        changed = {each.path for each in entities}.intersection(opened.differing)
        if not changed:
            return found
        wanted = {each.key: each for each in entities if each.path in changed}
        outline = await self.store.outline(view) or Outline()
        for path in sorted(changed):
            heard = known(await self.opinions.in_file(view, path))
            live = await judged_alone(opened.graph, path, outline, heard)
            for key in wanted.keys() & live.keys():
                said = await self.corrections.one(view, wanted[key])
                found[key] = live[key] if said is None else corrected(live[key], said)
        return found

    async def opinion(self, opened: Opened, entity: Entity) -> Opinion | None:
        """What a model or an agent says of an entity as it is now, or None."""
        view = opened.graph.repo
        found = await self.opinions.of(view, entity.qualified)
        if not found:
            return None
        codes = await code_of(opened.graph, entity)
        return known(found)(entity.key, entity.qualified, ENTITY_CODES[entity.kind], codes)

    async def correction(self, opened: Opened, entity: Entity) -> Correction | None:
        """What members say of an entity, or None."""
        return await self.corrections.one(opened.graph.repo, entity)


def judged(entity: Entity, statement: Statement) -> Judged:
    """The model of an entity with what is said of it in brief."""
    shown = statement.shown()
    fields = brief(entity)
    fields.pop("purpose", None)
    return Judged(
        **fields,
        type=shown.type,
        feature_area=shown.feature_area,
        technology_type=shown.technology_type,
        entry_point=shown.entry_point,
        said_purpose=statement.purpose or None,
        class_confidence=shown.confidence,
    )


UNSAID = Taxonomy.model_validate(
    {
        "type": "unknown",
        "typeBy": "facts",
        "purpose": "unknown",
        "businessValue": "unknown",
        "confidence": 0,
    }
)
"""What is said of a thing that is not classified: a file, a variable, a test."""
