"""Asks several layers at the same time, and makes one list of what they find.

A layer that is late, or fails, is named in the result and costs the others nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plugins.knowledge.memory.asking import Answers, AskedLayer, Question
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.ranking import Scored, merged

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

DEADLINE = 2.0
"""Seconds that one layer may take."""
QUIET_SECONDS = 60.0
"""How long the failures of a layer are not logged after one was."""
Failed = Callable[[Layer, Exception], None]
"""``failed(layer, error)``: hears why a layer is missing from an answer, or not whole."""


class FailureLog:
    """Logs why layers, and what they stand on, fail: each once a minute at most.

    Args:
        log: the plugin's.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self, log: FilteringBoundLogger, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log, self._clock = log, clock
        self._logged: dict[str, float] = {}

    def __call__(self, layer: str, error: Exception) -> None:
        """Log a failure, unless one of this layer was just logged."""
        now = self._clock()
        last = self._logged.get(layer)
        if last is None or now - last >= QUIET_SECONDS:
            self._logged[layer] = now
            self._log.error("memory layer failed", layer=str(layer), exc_info=error)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the layers found together.

    Attributes:
        found: all of it, the best first.
        asked: the layers that were asked, in their order.
        contributed: those of which something is in the list.
        notes: what to know of a layer: that it was late, or failed, or left something out.
        layers: where each was found, by its id.
        failed: those of which an error kept something back.
    """

    found: Sequence[Scored] = ()
    asked: Sequence[Layer] = ()
    contributed: Sequence[Layer] = ()
    notes: Mapping[Layer, str] = field(default_factory=dict)
    layers: Mapping[str, Layer] = field(default_factory=dict)
    failed: frozenset[Layer] = frozenset()


async def gather(
    layers: Sequence[AskedLayer], question: Question, failed: Failed, deadline: float = DEADLINE
) -> Gathered:
    """Ask all of them.

    Args:
        layers: whom; several may stand for the same one.
        question: what.
        failed: hears why one is missing, or not whole.
        deadline: seconds that each may take.
    """
    answers = await asyncio.gather(*(_asked(each, question, deadline) for each in layers))
    notes: dict[Layer, str] = {}
    contributed: list[Layer] = []
    for layer, answer in zip(layers, answers, strict=True):
        if answer.note:
            notes[layer.layer] = answer.note
        if answer.error is not None:
            failed(layer.layer, answer.error)
        if answer.found:
            contributed.append(layer.layer)
    return Gathered(
        found=merged(answer.found for answer in answers),
        asked=_once(layer.layer for layer in layers),
        contributed=_once(contributed),
        notes=notes,
        layers={
            one.id: layer.layer
            for layer, answer in zip(layers, answers, strict=True)
            for one in answer.found
        },
        failed=frozenset(
            layer.layer for layer, answer in zip(layers, answers, strict=True) if answer.error
        ),
    )


async def _asked(layer: AskedLayer, question: Question, deadline: float) -> Answers:
    try:
        async with asyncio.timeout(deadline):
            return await layer.search(question)
    except TimeoutError as error:
        return Answers(note=f"It did not answer within {deadline:g} s.", error=error)
    except Exception as error:
        return Answers(note="It does not answer.", error=error)


def _once(layers: Iterable[Layer]) -> list[Layer]:
    return list(dict.fromkeys(layers))
