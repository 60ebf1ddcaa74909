"""Documents of other forms take long to convert, and nothing waits for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateway.contract import Health
from plugins.knowledge.notes import conversion
from plugins.knowledge.sync import sync as syncing
from tests.plugins.knowledge.sync.test_sync_loop import Kept


@pytest.fixture
def converted(library: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Serves documents, of which three are there: what was served as each was converted."""
    library.config["sources"] = [
        {"directory": library.notes, "documents": True, "publish": "all"},
    ]
    for name in "abc":
        library.write(f"{name}.pdf", f"Text of {name}.")
    seen: list[tuple[str, Any]] = []

    def convert(data: bytes, path: str) -> bytes:
        status = library.syncing.status
        seen.append((path, (library.keys, status.ready, status.unfinished())))
        return data

    monkeypatch.setattr(conversion, "convert", convert)
    monkeypatch.setattr(syncing, "CONVERTED_TOGETHER", 2)
    return seen


def indexed(done: int) -> str:
    begins = "The knowledge base is being indexed"
    return f"{begins}: {done} of 3 documents so far. Ask again for the rest."


async def test_notes_are_found_while_documents_are_converted_and_those_as_they_are(
    library: Any, converted: list[tuple[str, Any]]
) -> None:
    library.note("z.md")
    await library.start()
    outcome = await library.sync()
    first, later = ["file/z"], ["file/a", "file/b", "file/z"]
    assert converted == [
        ("a.pdf", (first, True, indexed(0))),
        ("b.pdf", (first, True, indexed(0))),
        ("c.pdf", (later, True, indexed(2))),
    ]
    assert outcome.written == ["file/z", "file/a", "file/b", "file/c"]
    assert library.syncing.status.unfinished() == ""
    await library.agrees()


async def test_documents_that_wait_are_not_counted_as_unpublished(
    library: Any, converted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    convert = conversion.convert

    def counting(data: bytes, path: str) -> bytes:
        counted.append(library.syncing.status.unpublished)
        return convert(data, path)

    monkeypatch.setattr(conversion, "convert", counting)
    library.note("draft.md", publish=False)
    await library.start()
    await library.sync()
    assert counted == [1, 1, 1]


async def test_each_document_is_converted_once(
    library: Any, converted: list[tuple[str, Any]]
) -> None:
    await library.start()
    await library.sync()
    library.note("z.md")
    await library.sync()
    library.write("b.pdf", "Another text of b.")
    assert (await library.sync()).written == ["file/b"]
    assert [path for path, _ in converted] == ["a.pdf", "b.pdf", "c.pdf", "b.pdf"]
    await library.start()
    assert not (await library.sync()).changed
    assert len(converted) == 4


async def test_documents_that_were_converted_stay_so_when_the_process_ends(
    library: Any, converted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.start()
    taken_up = conversion.convert

    def end(data: bytes, path: str) -> bytes:
        if path == "c.pdf":
            raise KeyError("ended")
        return taken_up(data, path)

    monkeypatch.setattr(conversion, "convert", end)
    with pytest.raises(KeyError):
        await library.sync()
    monkeypatch.setattr(conversion, "convert", taken_up)
    await library.start()
    assert library.keys == ["file/a", "file/b"]
    assert (await library.sync()).written == ["file/c"]
    await library.agrees()


async def test_the_portal_is_ready_while_documents_are_converted_and_says_how_far_it_is(
    library: Any, converted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    await library.start()
    kept, told, taken_up = Kept(library), list[Health](), conversion.convert

    def convert(data: bytes, path: str) -> bytes:
        told.append(asyncio.run(kept.health()))  # it is called in a thread
        return taken_up(data, path)

    monkeypatch.setattr(conversion, "convert", convert)
    await library.sync()
    assert [one.state for one in told] == ["ok", "ok", "ok"]
    assert [one.detail for one in told] == [
        "Indexing: 0 of 3 documents.",
        "Indexing: 0 of 3 documents.",
        "Indexing: 2 of 3 documents.",
    ]
    assert (await kept.health()).detail == ""


async def test_documents_are_read_once_what_reads_them_is_installed(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.config["sources"] = [{"directory": library.notes, "documents": True, "publish": "all"}]
    library.write("a.html", "<h1>Hats</h1>")
    monkeypatch.setattr(conversion, "find_spec", lambda _: None)
    await library.start()
    await library.sync()
    assert "run `make documents`" in library.syncing.status.problems[0].reason
    monkeypatch.undo()
    await library.start()
    assert (await library.sync()).written == ["file/a"]
