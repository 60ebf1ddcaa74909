"""Whatever happens to the notes, and wherever a sync stops, the end is that of a fresh build."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract import Tier
from gateway.services.objects import ObjectService, StorageError
from tests.examples import examples

PATHS = ["tags/a.md", "tags/x/a.md", "notes/a.md", "notes/b.md", "links/index.md", "README.md"]
TEXTS = {
    "tag": "---\npublish: true\ntype: tag\n---\nOne.",
    "other": "---\npublish: true\ntitle: Two\n---\nTwo.",
    "members": "---\npublish: true\ntier: members\ndate: 2024-10-16\n---\nThree.",
    "draft": "---\npublish: true\ndraft: true\n---\nFour.",
    "broken": "---\npublish: [\n---\nFive.",
}
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(sorted(TEXTS))),
    st.tuples(st.just("delete"), st.sampled_from(PATHS)),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("sync"), st.integers(0, 12)),
    st.tuples(st.just("restart")),
)


class Failing(ObjectService):
    """A store on disk that refuses everything after ``left`` writes and removals."""

    left = 10**9

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StorageError(5, "the disk is gone")

    async def put(self, key: str, data: bytes) -> None:
        self._count()
        await super().put(key, data)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            self._count()
            await super().delete(key)


async def apply(library: Any, edit: tuple[Any, ...]) -> None:
    kind, *arguments = edit
    if kind == "write":
        library.write(arguments[0], TEXTS[arguments[1]])
    elif kind == "delete":
        (library.notes / arguments[0]).unlink(missing_ok=True)
    elif kind == "rename" and (library.notes / arguments[0]).exists():
        (library.notes / arguments[1]).parent.mkdir(parents=True, exist_ok=True)
        (library.notes / arguments[0]).replace(library.notes / arguments[1])
    elif kind == "restart":
        await library.start()
    elif kind == "sync":
        library.objects.left = arguments[0]
        with suppress(StorageError):
            await library.sync()
        library.objects.left = 10**9


NOT_KNOWN_AFRESH: Any = {"synced_at": True, "changed_at": True, "metadata": {"date"}}
"""What a fresh build may say otherwise: a file that says again what it said keeps its date."""


async def contents(library: Any) -> dict[str, Any]:
    found = {}
    for key in library.keys:
        document = await library.document(key)
        found[key] = document.model_dump(exclude=NOT_KNOWN_AFRESH)
    return found


async def check(make: Callable[[Path, Any], Any], root: Path, edits: list[Any]) -> None:
    library = make(root, Failing(str(root / "objects")))
    await library.start()
    for edit in edits:
        await apply(library, edit)
    for path in library.notes.rglob("*.md"):
        os.utime(path, ns=(10**18, 10**18))
        if path.read_text() == TEXTS["broken"]:
            path.write_text(TEXTS["draft"])
    await library.start()
    await library.sync()
    await library.agrees()
    assert not (await library.sync()).changed

    fresh = make(root, ObjectService(str(root / "fresh")))
    await fresh.start()
    await fresh.sync()
    mine, theirs = await contents(library), await contents(fresh)
    assert mine.keys() == theirs.keys()
    disputed = {problem.split(": ")[1].split(" is also")[0] for problem in fresh.problems}
    assert {k: v for k, v in mine.items() if k not in disputed} == {
        k: v for k, v in theirs.items() if k not in disputed
    }
    assert len(library.problems) == len(fresh.problems)
    assert all(
        library.store.entry(key, Tier.OPEN) is None for key in mine if mine[key]["tier"] != "open"
    )


@settings(max_examples=examples(60), deadline=None)
@given(edits=st.lists(EDITS, max_size=25))
def test_store_and_index_equal_a_fresh_build_after_any_history(
    library_class: Any, edits: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as root:
        asyncio.run(check(library_class, Path(root), edits))
