"""Which collection answers while another model's, or another layout's, is being filled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from gateway.contract import Collection, Host
from gateway.toolkit.atomic_file import write_atomically
from plugins.knowledge.retrieval.points import spec

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
    """

    def __init__(self, host: Host, name: str, dimensions: int | None) -> None:
        self.former: Collection | None = None
        self._host = host
        self._name = name
        self._dimensions = dimensions
        self._file = host.data_dir / "index.json"
        self._former_name = ""

    @classmethod
    async def open(cls, host: Host, name: str, dimensions: int | None) -> Succession:
        """See which collection has answered last."""
        opened = cls(host, name, dimensions)
        last, length, done, vectors = await asyncio.to_thread(_read, opened._file)
        if done and done != name:
            await host.vectors.drop(done)
        if last and last != name:
            opened._former_name = last
            opened.former = await host.vectors.collection(last, spec(length, vectors))
        elif not last:
            await opened._write()
        return opened

    async def complete(self) -> None:
        """The new collection answers from now on; the former one goes.

        In a store that other processes share it goes at the next start: they may still ask it.
        """
        self.former = None
        await self._write(done=self._former_name)
        if self._host.vectors.own:
            await self._host.vectors.drop(self._former_name)

    async def _write(self, done: str = "") -> None:
        state = {
            "answers": self._name,
            "dimensions": self._dimensions,
            "vectors": list(spec(self._dimensions).dense),
            "replaced": done,
        }
        await asyncio.to_thread(write_atomically, self._file, json.dumps(state).encode())


def _read(file: Path) -> tuple[str, int | None, str, Sequence[str]]:
    try:
        state = json.loads(file.read_bytes())
        vectors = state.get("vectors", LAYOUT_4)
        return str(state["answers"]), state["dimensions"], str(state["replaced"]), vectors
    except (OSError, ValueError, LookupError, TypeError):  # none yet, or damaged: nothing answers
        return "", None, "", ()
