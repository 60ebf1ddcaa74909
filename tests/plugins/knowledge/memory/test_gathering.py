"""What a layer that is late or fails costs the others: nothing."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog

from plugins.knowledge.memory.asking import Answers, Question
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.gathering import QUIET_SECONDS, FailureLog, gather
from plugins.knowledge.memory.ranking import Mode, Scored

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

    async def search(self, question: Question) -> Answers:
        self.heard = question
        if self.error is not None:
            raise self.error
        if self.late:
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled = True
        return Answers([Scored(f"mem_{self.layer}", 0.5, NOON)])


def heard(layer: Layer, error: Exception) -> None:
    """Nobody listens."""


async def test_a_failing_and_a_late_layer_are_named_and_cost_the_others_nothing() -> None:
    late = Asked(Layer.EPISODIC, late=True)
    asked = [Asked(Layer.WORKING), Asked(Layer.SESSION, OSError("gone")), late]
    failures: list[tuple[Layer, Exception]] = []
    gathered = await gather(
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
    gathered = await gather(asked, QUESTION, heard)
    assert [each.heard for each in asked] == [QUESTION] * 3
    assert list(gathered.asked) == list(gathered.contributed) == [Layer.USER, Layer.WORKING]
    assert gathered.layers == {"mem_user": Layer.USER, "mem_working": Layer.WORKING}
    assert gathered.notes == {}


async def test_what_fails_is_not_told_to_who_asks() -> None:
    asked = [Asked(Layer.SESSION, OSError("/var/lib/secret-place"))]
    gathered = await gather(asked, QUESTION, heard)
    assert "secret" not in gathered.notes[Layer.SESSION]


def test_a_layers_failures_are_logged_once_a_minute_and_with_its_name() -> None:
    now, began, error = [0.0], 1000.0, OSError("gone")
    logger: Any = structlog.get_logger()
    with structlog.testing.capture_logs() as lines:
        failed = FailureLog(logger, lambda: now[0])
        for at, layer in [
            (0.0, Layer.USER),
            (1.0, Layer.USER),
            (1.0, Layer.SESSION),
            (QUIET_SECONDS, Layer.USER),
        ]:
            now[0] = began + at
            failed(layer, error)
    assert [line["layer"] for line in lines] == ["user", "session", "user"]
    assert all(line["event"] == "memory layer failed" for line in lines)
    assert all(line["exc_info"] is error for line in lines)
