"""Which collection answers while another model's, or another layout's, is being filled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from gateway.contract import Collection, Host
from gateway.toolkit.atomic_file import write_atomically
from plugins.knowledge.retrieval.lasting_collection import LastingCollection
from plugins.knowledge.retrieval.points import spec
from plugins.knowledge.retrieval.replaced import Replaced

LAYOUT_4 = ("passage", "head")
"""The vectors of collections whose file names none."""


class Succession:
    """One collection that takes the place of another, once it is whole.

    Which one has answered last is in a file of the process's own data, as each process may have
    an index of its own.

    Args:
        host: the services.
        name: the collection that is to answer.
        dimensions: of its vectors, or None without a model.

    Attributes:
        former: what answers until then; None where nothing did before.
        replaced: what has answered before, and goes once nobody asks it any more.
    """

    def __init__(self, host: Host, name: str, dimensions: int | None) -> None:
        self.former: Collection | None = None
        self.replaced = Replaced(host, "notes", lambda: {self._name, self._former_name})
        self._name = name
        self._dimensions = dimensions
        self._file = host.data_dir / "index.json"
        self._former_name = ""

    @classmethod
    async def open(cls, host: Host, name: str, dimensions: int | None) -> Succession:
        """See which collection has answered last."""
        opened = cls(host, name, dimensions)
        last, length, vectors = await asyncio.to_thread(_read, opened._file)
        if last and last != name:
            opened._former_name = last
            opened.former = await LastingCollection.open(
                host.vectors, last, spec(length, vectors), lambda: None
            )
        elif not last:
            await opened._write()
        return opened

    async def complete(self) -> None:
        """The new collection answers from now on; the former one is replaced."""
        former, self.former, self._former_name = self._former_name, None, ""
        await self.replaced.add([former])
        await self._write()

    async def _write(self) -> None:
        state = {
            "answers": self._name,
            "dimensions": self._dimensions,
            "vectors": list(spec(self._dimensions).dense),
        }
        await asyncio.to_thread(write_atomically, self._file, json.dumps(state).encode())


def _read(file: Path) -> tuple[str, int | None, Sequence[str]]:
    try:
        state = json.loads(file.read_bytes())
        return str(state["answers"]), state["dimensions"], state.get("vectors", LAYOUT_4)
    except (OSError, ValueError, LookupError, TypeError):  # none yet, or damaged: nothing answers
        return "", None, ()
