"""Fills the vector store after a change of the model; until then words answer, and say so."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from plugins.knowledge.memory.store.failure_log import FailureLog
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.upkeep.vector_repair import VectorRepair

RETRY_INTERVAL_S = 5.0
"""Seconds after which it is tried again where a store does not answer, and looked for what was
lost."""


@dataclass(frozen=True, slots=True)
class VectorSuccession:
    """Makes the points of a model that has none yet.

    Attributes:
        inventory: what there is.
        vectors: the store; ``vectors.behind`` says whether something is missing in it.
        failed: hears why a store does not answer.
    """

    inventory: Inventory
    vectors: MemoryVectors
    failed: FailureLog

    async def run(self) -> None:
        """Fill the store where it is empty, was lost or half filled, for as long as it is awaited.

        Then the points of other models go.
        """
        looked = False
        while True:
            try:
                if self.vectors.behind or not looked:
                    await self._fill()
                    looked = True
            except Exception as error:
                self.failed("vectors of a new model", error)
            await asyncio.sleep(RETRY_INTERVAL_S)

    async def _fill(self) -> None:
        models = await self.vectors.kept.models()
        is_half_filled = bool(models - {self.vectors.embedder.model})
        if self.vectors.behind or is_half_filled or await self._is_empty():
            self.vectors.behind = True
            repair = VectorRepair(self.inventory, self.vectors)
            await repair()
            # Where a model came back, its points stand and what it made of them is kept no more.
            await repair.fill(await self.vectors.kept.of_other_models())
            await self.vectors.remove_former(models)
        self.vectors.behind = False

    async def _is_empty(self) -> bool:
        """Whether the store holds nothing though an entry has a vector."""
        return await self._has_vectors() and await self.vectors.is_empty()

    async def _has_vectors(self) -> bool:
        """Whether any entry has a vector."""
        async for page in self.inventory.embedded():
            if page:
                return True
        return False
