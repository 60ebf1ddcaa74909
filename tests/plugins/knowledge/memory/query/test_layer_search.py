"""What a layer that is late or fails costs the others: nothing."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import LayerAnswers, Question, Scored
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.query.layer_search import search_layers

pytestmark = pytest.mark.anyio
QUESTION = Question("rain", Mode.KEYWORD, frozenset({"tier:public"}), "person:ana", 10)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Asked:
    """A layer that answers, fails, or never answers."""

    layer: Layer
    error: Exception | None = None
    late: bool = False
    cancelled: bool = field(default=False, init=False)
    heard: Question | None = field(default=None, init=False)

    async def search(self, question: Question) -> LayerAnswers:
        self.heard = question
        if self.error is not None:
            raise self.error
        if self.late:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled = True
        return LayerAnswers([Scored(f"mem_{self.layer}", 0.5, NOON)])


def heard(layer: Layer, error: Exception) -> None:
    """Nobody listens."""


async def test_a_failing_and_a_late_layer_are_named_and_cost_the_others_nothing() -> None:
    late = Asked(Layer.EPISODIC, late=True)
    asked = [Asked(Layer.WORKING), Asked(Layer.SESSION, OSError("gone")), late]
    failures: list[tuple[Layer, Exception]] = []
    gathered = await search_layers(
        [*asked, Asked(Layer.USER)], QUESTION, lambda *told: failures.append(told), 0.01
    )
    assert {one.id for one in gathered.found} == {"mem_working", "mem_user"}
    assert list(gathered.contributed) == [Layer.WORKING, Layer.USER]
    assert set(gathered.notes) == {Layer.SESSION, Layer.EPISODIC}
    assert "within 0.01 s" in gathered.notes[Layer.EPISODIC]
    assert gathered.notes[Layer.SESSION] == "It does not answer."
    assert [layer for layer, _ in failures] == [Layer.SESSION, Layer.EPISODIC]
    assert [type(error) for _, error in failures] == [OSError, TimeoutError]
    assert late.cancelled


async def test_every_layer_hears_the_question_and_what_it_found_is_known_as_its_own() -> None:
    asked = [Asked(Layer.USER), Asked(Layer.WORKING), Asked(Layer.USER)]
    gathered = await search_layers(asked, QUESTION, heard)
    assert [each.heard for each in asked] == [QUESTION] * 3
    assert list(gathered.asked) == list(gathered.contributed) == [Layer.USER, Layer.WORKING]
    assert gathered.layers == {"mem_user": Layer.USER, "mem_working": Layer.WORKING}
    assert gathered.notes == {}


async def test_what_fails_is_not_told_to_who_asks() -> None:
    asked = [Asked(Layer.SESSION, OSError("/var/lib/secret-place"))]
    gathered = await search_layers(asked, QUESTION, heard)
    assert "secret" not in gathered.notes[Layer.SESSION]
