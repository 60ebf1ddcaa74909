"""Answers that were compared with each other, and put in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.query.layer_search import CombinedAnswers
from plugins.knowledge.memory.query.standing import Challenges


@dataclass(frozen=True, slots=True)
class Compared:
    """Answers of all layers in their order.

    Attributes:
        gathered: what the layers found together, with what this leads to.
        challenges: what is at odds with some of it.
        found: all of it, in order.
    """

    gathered: CombinedAnswers
    challenges: Challenges
    found: Sequence[Scored]

    @property
    def layers(self) -> Mapping[str, Layer]:
        """Where each answer is, and what is at odds with it, by its id."""
        return {**self.challenges.layers, **self.gathered.layers}

    def followed_by(self, more: Compared) -> Compared:
        """These in front, and of those that were compared with more the others behind them."""
        before = {one.id for one in self.found}
        found = [*self.found, *(one for one in more.found if one.id not in before)]
        layers = {**self.gathered.layers, **more.gathered.layers}
        return Compared(replace(more.gathered, layers=layers), more.challenges, found)
