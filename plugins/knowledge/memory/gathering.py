"""Asks several layers at the same time, and makes one list of what they find.

A layer that is late, or fails, is named in the result and costs the others nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plugins.knowledge.memory.asking import Answers, AskedLayer, Question
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.ranking import Scored, merged

DEADLINE = 2.0
"""Seconds that one layer may take."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the layers found together.

    Attributes:
        found: all of it, the best first.
        asked: the layers that were asked, in their order.
        contributed: those of which something is in the list.
        notes: what to know of a layer: that it was late, or failed, or left something out.
    """

    found: Sequence[Scored] = ()
    asked: Sequence[Layer] = ()
    contributed: Sequence[Layer] = ()
    notes: Mapping[Layer, str] = field(default_factory=dict)


async def gather(
    layers: Sequence[AskedLayer], question: Question, deadline: float = DEADLINE
) -> Gathered:
    """Ask all of them.

    Args:
        layers: whom; several may stand for the same one.
        question: what.
        deadline: seconds that each may take.
    """
    answers = await asyncio.gather(*(_asked(each, question, deadline) for each in layers))
    notes: dict[Layer, str] = {}
    contributed: list[Layer] = []
    for layer, answer in zip(layers, answers, strict=True):
        if answer.note:
            notes[layer.layer] = answer.note
        if answer.found:
            contributed.append(layer.layer)
    return Gathered(
        found=merged(answer.found for answer in answers),
        asked=_once(layer.layer for layer in layers),
        contributed=_once(contributed),
        notes=notes,
    )


async def _asked(layer: AskedLayer, question: Question, deadline: float) -> Answers:
    try:
        async with asyncio.timeout(deadline):
            return await layer.search(question)
    except TimeoutError:
        return Answers(note=f"It did not answer within {deadline:g} s.")
    except Exception:
        return Answers(note="It does not answer.")


def _once(layers: Iterable[Layer]) -> list[Layer]:
    return list(dict.fromkeys(layers))
