"""Who is asked about again, since what they call turned out to be for something else.

kap10, phase 5 ("Cascade re-justification"): where the cosine distance of what was said before and
what is said now is over 0.3, the callers are asked about again, up to two steps away. What is asked
again by that goes no further: its former answer is gone, so there is nothing to differ from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.contract import Database, Embedder
from plugins.codegraph.changes.callers import callers_of
from plugins.codegraph.justification.meaning import MEANING_DISTANCE, word_distance
from plugins.codegraph.justification.opinions.opinion import Opinion, Said
from plugins.codegraph.justification.opinions.opinion_store import Opinions


@dataclass(frozen=True, slots=True)
class Ripples:
    """Follows up on answers that differ from former ones.

    Attributes:
        database: the plugin's database.
        opinions: keeps answers.
        embedder: compares meanings; without one, words are compared.
    """

    database: Database
    opinions: Opinions
    embedder: Embedder | None

    async def before(self, org: str, repo: str, layer: int, found: Sequence[Opinion]) -> int:
        """Have callers asked again; call it before answers are kept, so that a kill loses nothing.

        Args:
            org, repo: the repository.
            layer: its layer, which knows who calls whom.
            found: the answers, about entities that were changed or never asked about.

        Returns:
            How many entities are asked about again.
        """
        former = await self.opinions.on(org, repo, [each.key for each in found])
        both = [
            (former[each.key], each)
            for each in found
            if each.key in former and not each.refused and not former[each.key].refused
        ]
        other = [each.key for was, each in both if await self._is_other(was.said, each.said)]
        if not other:
            return 0
        async with self.database.read() as connection:
            callers = await callers_of(connection, layer, other)
        keys = {key for near, beyond in callers.values() for key in (*near, *beyond)}
        return await self.opinions.drop(org, repo, keys - {each.key for each in found})

    async def _is_other(self, before: Said, after: Said) -> bool:
        """Whether an answer says something else than before, and not only in other words."""
        place = (before.type, before.feature, before.technology)
        if place != (after.type, after.feature, after.technology):
            return True
        if before.purpose == after.purpose:
            return False
        return await self._distance(before.purpose, after.purpose) > MEANING_DISTANCE

    async def _distance(self, one: str, other: str) -> float:
        if self.embedder is None:
            return word_distance(one, other)
        first, second = await self.embedder.passages([one, other])
        return 1.0 - float(first @ second)
