"""Which collection answers while another model's, or another layout's, is being filled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
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

    Which one has answered last, and which is being filled, is in a file of the process's own data,
    as each process may have an index of its own.

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
        found = await asyncio.to_thread(_read, opened._file)
        last = found.answers
        if found.filling not in {"", name, last}:  # it was given up before it was whole
            await opened.replaced.add([found.filling])
        if last and last != name:
            opened._former_name = last
            opened.former = await LastingCollection.open(
                host.vectors, last, spec(found.dimensions, found.vectors), lambda: None
            )
            await opened._write(replace(found, filling=name))
        elif not last or found.filling:
            await opened._write(opened._own())
        return opened

    async def complete(self) -> None:
        """The new collection answers from now on; the former one is replaced."""
        former, self.former, self._former_name = self._former_name, None, ""
        await self.replaced.add([former])
        await self._write(self._own())

    def _own(self) -> _State:
        """What the file says where the new collection answers."""
        return _State(self._name, self._dimensions, tuple(spec(self._dimensions).dense))

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
    """

    answers: str = ""
    dimensions: int | None = None
    vectors: Sequence[str] = ()
    filling: str = ""


def _read(file: Path) -> _State:
    try:
        said = json.loads(file.read_bytes())
        vectors, filling = said.get("vectors", LAYOUT_4), str(said.get("filling", ""))
        return _State(str(said["answers"]), said["dimensions"], vectors, filling)
    except (OSError, ValueError, LookupError, TypeError):  # none yet, or damaged: nothing answers
        return _State()
