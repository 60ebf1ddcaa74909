"""The index files in the portal's object store, and a stamp that tells when they change."""

from __future__ import annotations

import secrets
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from gateway.contract import Objects
from plugins.skills_repo.index.entries import LAYOUT_VERSION, Kind, SourceIndex, SourceTexts

_STAMP = "index/stamp"
Stored = TypeVar("Stored", SourceIndex, SourceTexts)


class IndexStore:
    """Keeps one index file for each source: skills-, agents- or docs-index.json.

    Args:
        objects: the plugin's share of the object store.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    async def load(self, source: str, kind: Kind, settings: str) -> SourceIndex | None:
        """A source's index; None where there is none of this place and layout, or it is broken.

        Args:
            source: the source's name.
            kind: what it holds.
            settings: what names the place that it is read from.
        """
        index = await self._read(f"index/{source}/{kind}-index.json", SourceIndex)
        return index if index is not None and index.settings == settings else None

    async def texts(self, source: str) -> SourceTexts:
        """What search reads of a source; nothing where there is none."""
        return await self._read(f"index/{source}/texts.json", SourceTexts) or SourceTexts()

    async def save(self, index: SourceIndex, texts: SourceTexts) -> None:
        """Keep a source's index, and tell other processes by a new stamp.

        Raises:
            OSError: the store cannot be written; what was there before stays.
        """
        base = f"index/{index.source}"
        await self._objects.put(f"{base}/texts.json", _json(texts))
        await self._objects.put(f"{base}/{index.kind}-index.json", _json(index))
        await self._objects.put(_STAMP, secrets.token_hex(8).encode())

    async def stamp(self) -> bytes:
        """What changes whenever an index is kept."""
        return await self._objects.get(_STAMP) or b""

    async def _read(self, key: str, model: type[Stored]) -> Stored | None:
        data = await self._objects.get(key)
        if data is None:
            return None
        try:
            kept = model.model_validate_json(data)
        except ValidationError:
            return None
        return kept if kept.layout == LAYOUT_VERSION else None


def _json(kept: BaseModel) -> bytes:
    return kept.model_dump_json(indent=1).encode()
