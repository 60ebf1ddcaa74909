"""Searches several layers at the same time, and merges their results.

A layer that fails or takes too long is named in the result and does not affect the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.toolkit.eager_start import within
from plugins.knowledge.memory.algorithms.relevance import merge_results
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import LayerAnswers, Question, Scored, SearchLayer

LAYER_TIMEOUT_S = 2.0
"""Seconds that one layer may take."""
OnFailure = Callable[[Layer, Exception], None]
"""``failed(layer, error)``: called where a layer's results are missing or incomplete."""


@dataclass(frozen=True, slots=True)
class CombinedAnswers:
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


async def search_layers(
    layers: Sequence[SearchLayer],
    question: Question,
    failed: OnFailure,
    deadline: float = LAYER_TIMEOUT_S,
) -> CombinedAnswers:
    """Ask all of them.

    Args:
        layers: whom; several may stand for the same one.
        question: what.
        failed: hears why one is missing, or not whole.
        deadline: seconds that each may take.
    """
    asking = [_search(each, question, deadline) for each in layers]
    # One layer needs no task of its own, nor a timer where it never waits.
    answers = [await asking[0]] if len(asking) == 1 else await asyncio.gather(*asking)
    notes: dict[Layer, str] = {}
    contributed: list[Layer] = []
    for layer, answer in zip(layers, answers, strict=True):
        if answer.note:
            notes[layer.layer] = answer.note
        if answer.error is not None:
            failed(layer.layer, answer.error)
        if answer.found:
            contributed.append(layer.layer)
    return CombinedAnswers(
        found=merge_results(answer.found for answer in answers),
        asked=_unique(layer.layer for layer in layers),
        contributed=_unique(contributed),
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


async def _search(layer: SearchLayer, question: Question, deadline: float) -> LayerAnswers:
    try:
        return await within(deadline, layer.search(question), TimeoutError)
    except TimeoutError as error:
        return LayerAnswers(note=f"It did not answer within {deadline:g} s.", error=error)
    except Exception as error:
        return LayerAnswers(note="It does not answer.", error=error)


def _unique(layers: Iterable[Layer]) -> list[Layer]:
    return list(dict.fromkeys(layers))
