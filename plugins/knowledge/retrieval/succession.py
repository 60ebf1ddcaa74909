"""Which collection answers while another model's, or another layout's, is being filled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from gateway.contract import Collection, Embedder, Host
from gateway.toolkit.atomic_file import write_atomically
from plugins.knowledge.retrieval.lasting_collection import LastingCollection
from plugins.knowledge.retrieval.points import LAYOUT, spec
from plugins.knowledge.retrieval.replaced import Replaced

LAYOUT_4 = ("passage", "head")
"""The vectors of collections whose file names none."""


@dataclass(frozen=True, slots=True)
class Former:
    """A collection that answers until another one is whole.

    Attributes:
        collection: it.
        embedder: the model whose vectors it has; None where it cannot be asked by these.
    """

    collection: Collection
    embedder: Embedder | None


class Succession:
    """One collection that takes the place of another, once it is whole.

    Which one has answered last, and which is being filled, is in a file of the process's own data,
    as each process may have an index of its own.

    Args:
        host: the services.
        name: the collection that is to answer.
        model: whose vectors it has; None without one.

    Attributes:
        former: what answers until then; None where nothing did before.
        replaced: what has answered before, and goes once nobody asks it any more.
    """

    def __init__(self, host: Host, name: str, model: Embedder | None) -> None:
        self.former: Former | None = None
        self.replaced = Replaced(host, "notes", lambda: {self._name, self._former_name})
        self._name = name
        self._model = model
        self._open = AsyncExitStack()
        self._file = host.data_dir / "index.json"
        self._former_name = ""

    @classmethod
    async def open(cls, host: Host, name: str, model: Embedder | None) -> Succession:
        """See which collection has answered last."""
        opened = cls(host, name, model)
        found = await asyncio.to_thread(_read, opened._file)
        last = found.answers
        if found.filling not in {"", name, last}:  # it was given up before it was whole
            await opened.replaced.add([found.filling])
        if last and last != name:
            opened._former_name = last
            collection = await LastingCollection.open(
                host.vectors, last, spec(found.dimensions, found.vectors), lambda: None
            )
            opened.former = Former(collection, await opened._asked_by(host, found))
            await opened._write(replace(found, filling=name))
        elif found != opened._own():
            await opened._write(opened._own())
        return opened

    async def _asked_by(self, host: Host, found: _State) -> Embedder | None:
        """The model by which the collection that has answered last can be asked still."""
        if self._model is None or not found.model or found.layout != LAYOUT:
            return None
        if found.model == self._model.model:
            return self._model
        return await self._open.enter_async_context(host.other_model(found.model))

    async def close(self) -> None:
        """Close the model of the former collection, where one was opened."""
        await self._open.aclose()

    async def complete(self) -> None:
        """The new collection answers from now on; the former one is replaced."""
        former, self.former, self._former_name = self._former_name, None, ""
        await self.replaced.add([former])
        await self._write(self._own())

    async def look(self) -> None:
        """Have what was replaced go, once nobody asks it: its model, and its collection."""
        if self.former is None:
            await self.close()
        await self.replaced.look()

    def _own(self) -> _State:
        """What the file says where the new collection answers."""
        model = self._model
        dimensions = None if model is None else model.dimensions
        vectors = tuple(spec(dimensions).dense)
        name = "" if model is None else model.model
        return _State(self._name, dimensions, vectors, model=name, layout=LAYOUT)

    async def _write(self, state: _State) -> None:
        await asyncio.to_thread(write_atomically, self._file, json.dumps(asdict(state)).encode())


@dataclass(frozen=True, slots=True)
class _State:
    """What the file says.

    Attributes:
        answers: the collection that has answered last; "" where none has.
        dimensions: of its vectors.
        vectors: their names.
        filling: the collection that is to take its place; "" where none is.
        model: the name of the model that made its vectors; "" where that is not known.
        layout: its layout, likewise 0.
    """

    answers: str = ""
    dimensions: int | None = None
    vectors: Sequence[str] = ()
    filling: str = ""
    model: str = ""
    layout: int = 0


def _read(file: Path) -> _State:
    try:
        said = json.loads(file.read_bytes())
        return _State(
            answers=str(said["answers"]),
            dimensions=said["dimensions"],
            vectors=tuple(said.get("vectors", LAYOUT_4)),
            filling=str(said.get("filling", "")),
            model=str(said.get("model", "")),
            layout=int(said.get("layout", 0)),
        )
    except (OSError, ValueError, LookupError, TypeError):  # none yet, or damaged: nothing answers
        return _State()
