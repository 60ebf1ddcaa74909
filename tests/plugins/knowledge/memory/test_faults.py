"""The vector store, the model or the notes go away: nothing is lost, and the rest keeps serving."""

import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.store.audit import AuditLog
from plugins.knowledge.memory.write import entries
from plugins.knowledge.memory.write.duplicates import say_again
from plugins.knowledge.store import Store
from tests.plugins.knowledge.memory.conftest import ANA, BEN, Opener, World
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder, document

pytestmark = pytest.mark.anyio


class Failing:
    """A collection whose server goes away when a test says so.

    Attributes:
        fails: the operations that fail from now on.
    """

    def __init__(self, inner: Any, fails: set[str]) -> None:
        self._inner, self.fails = inner, fails

    def __getattr__(self, name: str) -> Any:
        if name in self.fails:
            return self._gone
        return getattr(self._inner, name)

    async def _gone(self, *_: Any) -> Any:
        raise ConnectionError("the vector store is gone")


@pytest.fixture
async def gone(world: World) -> Callable[[Sequence[str]], None]:
    """Lets operations of the vector store fail from now on; none, to have it back."""
    vectors = world.memory.entries.vectors
    assert vectors is not None
    await world.remember(ANA, "Something to open the collections with.")
    await vectors.take_out(["mem_none"])
    fails: set[str] = set()
    for name, inner in vectors._collections.items():
        vectors._collections[name] = Failing(inner, fails)

    def let(operations: Sequence[str]) -> None:
        fails.clear()
        fails.update(operations)

    return let


Gone = Callable[[Sequence[str]], None]


async def test_words_answer_while_the_vector_store_is_gone(world: World, gone: Gone) -> None:
    await world.remember(ANA, "The rain barrel leaks.")
    await world.remember(ANA, "The barrel was bought in May.", layer="session")
    gone(["search"])
    answer = await world.ask(ANA, "rain barrel")
    assert {result.entry.content for result in answer.results} == {
        "The rain barrel leaks.",
        "The barrel was bought in May.",
    }
    failed = answer.metadata.layers_failed
    assert set(failed) == {"episodic", "semantic", "procedural", "user", "organization"}
    assert "words alone" in failed["semantic"]
    by_meaning = await world.ask(ANA, "rain barrel", mode="semantic")
    found = [result.entry.content for result in by_meaning.results]
    assert found == ["The barrel was bought in May."]
    assert set(by_meaning.metadata.layers_failed) == set(failed)


async def test_an_entry_whose_vector_cannot_be_written_is_kept_and_found_by_its_words(
    world: World, gone: Gone
) -> None:
    gone(["upsert"])
    entry = await world.remember(ANA, "The shed is red.")
    gone([])
    assert await world.found(ANA, "shed red", mode="keyword") == ["The shed is red."]
    assert (await world.found(ANA, "shed red"))[0] == "The shed is red."
    record = await world.memory.reader.entry(entry.id, ANA)
    vectors = world.memory.entries.vectors
    assert vectors is not None
    assert set(await vectors.kept.of([record])) == {entry.id}


@pytest.mark.parametrize("operation", ["upsert", "delete"])
async def test_an_update_stands_though_the_vector_store_breaks_off(
    world: World, gone: Gone, operation: str
) -> None:
    entry = await world.remember(ANA, "The gate is green.")
    gone([operation])
    await world.change(ANA, entry.id, "The gate is yellow.")
    gone([])
    assert (await world.memory.reader.entry(entry.id, ANA)).content == "The gate is yellow."
    modes = ("keyword", "hybrid") if operation == "upsert" else ("keyword", "hybrid", "semantic")
    for mode in modes:
        found = await world.found(ANA, "gate", mode=mode)
        assert [each for each in found if "gate" in each] == ["The gate is yellow."]


async def test_a_write_that_fails_leaves_search_as_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = await world.remember(ANA, "The gate is green.")

    async def breaks(*_: Any) -> Any:
        raise ConnectionError("the database is gone")

    with monkeypatch.context() as broken:
        broken.setattr("plugins.knowledge.memory.store.writes._insert_events", breaks)
        with pytest.raises(ConnectionError):
            await world.change(ANA, entry.id, "The gate is yellow.")
        with pytest.raises(ConnectionError):
            await world.remember(ANA, "The gate is new.")
    record = await world.memory.reader.entry(entry.id, ANA)
    vectors = world.memory.entries.vectors
    assert vectors is not None
    assert set(await vectors.kept.of([record])) == {entry.id}
    for mode in ("keyword", "semantic", "hybrid"):
        assert await world.found(ANA, "gate", mode=mode) == ["The gate is green."]


@pytest.mark.parametrize("hard", [False, True])
async def test_what_was_removed_is_found_by_nobody_though_its_vector_is_still_there(
    world: World, gone: Gone, hard: bool
) -> None:
    entry = await world.remember(ANA, "The key is under the mat.")
    gone(["delete"])
    request = {"id": entry.id, "options": {"hard_delete": hard}}
    await world.memory.entries.delete(DeleteRequest.model_validate(request), ANA)
    gone([])
    for mode in ("keyword", "semantic", "hybrid"):
        assert "The key is under the mat." not in await world.found(ANA, "key mat", mode=mode)


class Unmodelled(WordEmbedder):
    """A model that cannot be read when a test says so."""

    broken = False

    async def query(self, text: str) -> Any:
        if self.broken:
            raise RuntimeError("the model's file is gone")
        return await super().query(text)


async def test_words_answer_while_the_model_does_not(open_world: Opener) -> None:
    model = Unmodelled()
    world = await open_world(model)
    await world.remember(ANA, "The rain barrel leaks.")
    await world.remember(ANA, "The barrel was bought in May.", layer="session")
    model.broken = True
    answer = await world.ask(ANA, "rain barrel")
    assert {result.entry.content for result in answer.results} == {
        "The rain barrel leaks.",
        "The barrel was bought in May.",
    }
    failed = answer.metadata.layers_failed
    assert "words alone" in failed["semantic"]
    assert "session" not in failed
    by_meaning = await world.ask(ANA, "rain barrel", mode="semantic")
    found = [result.entry.content for result in by_meaning.results]
    assert found == ["The barrel was bought in May."]
    assert "model" in by_meaning.metadata.layers_failed["semantic"]


async def test_notes_that_cannot_be_read_cost_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.base.put(document("pattern/cells", "A cell decides alone.", title="Cells"))
    await world.remember(ANA, "The cell was painted.")
    assert len(await world.found(ANA, "cell")) == 2

    async def breaks(*_: Any) -> Any:
        raise OSError("the objects are gone")

    monkeypatch.setattr(Store, "documents", breaks)
    answer = await world.ask(ANA, "cell")
    assert [result.entry.content for result in answer.results] == ["The cell was painted."]
    assert set(answer.metadata.layers_failed) == {"organization"}
    with pytest.raises(MemoryFailed) as failed:
        await world.ask(ANA, "cell", layer={"types": ["organization"]})
    assert failed.value.number is ErrorCode.QUERY_FAILED


def overtaken(
    patched: pytest.MonkeyPatch, meanwhile: Callable[[], Awaitable[Any]], times: int
) -> None:
    """Let somebody else write before what is said again is written, as often as a test says."""
    left = itertools.repeat(meanwhile, times)

    async def settles(*args: Any) -> Any:
        if (write := next(left, None)) is not None:
            await write()
        return await say_again(*args)

    patched.setattr(entries, "say_again", settles)


async def test_a_claim_that_was_changed_meanwhile_is_compared_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await world.remember(ANA, "The well is deep.", confidence=0.6)

    async def changed() -> None:
        request = {"entry": {"content": "The well is deep.", "metadata": {"tags": ["water"]}}}
        await world.keep(first.id, UpdateRequest.model_validate(request), ANA)

    overtaken(monkeypatch, changed, 1)
    request = {"entry": {"content": "The well is deep.", "metadata": {"tags": ["garden"]}}}
    made = await world.memory.entries.create(CreateRequest.model_validate(request), ANA)
    (result,) = (await world.ask(ANA, "well deep")).results
    assert set(result.entry.metadata.tags) == {"water", "garden"}
    assert result.entry.id == made.entry.id


async def test_a_claim_that_others_never_leave_alone_is_refused_and_nothing_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await world.remember(ANA, "The well is deep.", confidence=0.6)

    async def changed() -> None:
        await world.change(ANA, first.id, "The well is deep.")

    overtaken(monkeypatch, changed, 1000)
    request = {"entry": {"content": "The well is deep."}}
    with pytest.raises(MemoryFailed) as refused:
        await world.memory.entries.create(CreateRequest.model_validate(request), ANA)
    assert refused.value.number is ErrorCode.CONFLICT
    assert await world.found(ANA, "well deep") == ["The well is deep."]


async def test_nobody_elses_vector_is_taken_for_the_same_words(world: World) -> None:
    """A client may give any vector with a text; it counts for its own entry alone."""
    vector = [0.0] * 63 + [1.0]
    request = {"entry": {"content": "Compost.", "embedding": vector}}
    await world.memory.entries.create(CreateRequest.model_validate(request), BEN)
    mine = await world.remember(ANA, "Compost.")
    record = await world.memory.reader.entry(mine.id, ANA)
    vectors = world.memory.entries.vectors
    assert vectors is not None
    kept = (await vectors.kept.of([record]))[mine.id]
    assert kept.tolist() == pytest.approx((await vectors.embed(["Compost."]))[0].tolist())


async def test_a_write_and_its_line_in_the_audit_log_are_there_both_or_neither(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = await world.remember(ANA, "The pump is in the shed.")

    async def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(AuditLog, "add_in", full)
        with pytest.raises(OSError, match="No space"):
            await world.remember(ANA, "The pump is in the cellar.")
        with pytest.raises(OSError, match="No space"):
            await world.change(ANA, kept.id, "The pump was sold.")
        with pytest.raises(OSError, match="No space"):
            await world.memory.entries.delete(DeleteRequest(id=kept.id), ANA)
    assert await world.found(ANA, "pump") == ["The pump is in the shed."]
    audit_records = await world.memory.entries.audit.of(kept.id)
    assert [audit_record.operation for audit_record in audit_records] == ["create"]
