"""Vectors of what tools say, made behind the calls and kept by their text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gateway.contract import Embedder
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background
from gateway.toolkit.vectors import middle

if TYPE_CHECKING:
    from gateway.toolkit.vectors import Vector

MAX_KEPT = 20_000
"""Texts whose vectors are kept: about 30 MB."""
RETRY_SECONDS = 60.0
"""Seconds after which the model is asked again, where it could not be opened."""

log = get_logger(__name__)


class Meanings:
    """Knows what tools mean, once it has been asked and had the time.

    Args:
        embedder: the portal's model, or None where it has none.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        self._wanted: dict[str, None] = {}
        self._wake = asyncio.Event()

    def of(self, texts: Sequence[Sequence[str]]) -> list[Vector] | None:
        """One vector for each tool; None where some are not there yet, which are then made.

        Args:
            texts: what each tool says, in parts.
        """
        if self._embedder is None:
            return None
        missing = [part for parts in texts for part in parts if part not in self._known]
        if missing:
            self._wanted |= dict.fromkeys(missing)
            self._wake.set()
            return None
        return [middle([self._known[part] for part in parts]) for parts in texts]

    async def question(self, text: str) -> Vector | None:
        """The vector of what is asked; None where the model does not open."""
        if self._embedder is None:
            return None
        try:
            return await self._embedder.query(text)
        except Exception as error:
            log.warning("question_not_embedded", reason=str(error))
            return None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Make what is wanted for as long as the block lasts."""
        async with background(self._make()):
            yield

    async def _make(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            wanted = list(self._wanted)
            try:
                await self._embed(wanted)
            except Exception as error:
                log.warning("tools_not_embedded", reason=str(error))
                await asyncio.sleep(RETRY_SECONDS)
                continue
            for text in wanted:
                self._wanted.pop(text, None)

    async def _embed(self, texts: Sequence[str]) -> None:
        if self._embedder is None:
            return
        if len(self._known) + len(texts) > MAX_KEPT:
            self._known.clear()
        vectors = await self._embedder.passages(texts)
        self._known.update(zip(texts, vectors, strict=True))
