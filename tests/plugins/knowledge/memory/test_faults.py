"""The vector store goes away: nothing is lost, and the rest keeps serving."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from plugins.knowledge.memory.requests import DeleteRequest
from tests.plugins.knowledge.memory.conftest import ANA, World

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
    vectors = world.memory.keep.vectors
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
    await world.remember(ANA, "The barrel was bought in May.", layer="episodic")
    gone(["search"])
    answer = await world.ask(ANA, "rain barrel")
    assert {result.entry.content for result in answer.results} == {
        "The rain barrel leaks.",
        "The barrel was bought in May.",
    }
    failed = answer.metadata.layers_failed
    assert set(failed) == {"semantic", "user", "organization"}
    assert "words alone" in failed["semantic"]
    by_meaning = await world.ask(ANA, "rain barrel", mode="semantic")
    found = [result.entry.content for result in by_meaning.results]
    assert found == ["The barrel was bought in May."]
    assert set(by_meaning.metadata.layers_failed) == set(failed)


async def test_an_entry_whose_vector_cannot_be_written_is_not_half_kept(
    world: World, gone: Gone
) -> None:
    gone(["upsert"])
    with pytest.raises(ConnectionError):
        await world.remember(ANA, "The shed is red.")
    gone([])
    assert await world.found(ANA, "shed red", mode="keyword") == []
    await world.remember(ANA, "The shed is red.")
    assert await world.found(ANA, "shed", mode="semantic", options={"limit": 1}) == [
        "The shed is red."
    ]


@pytest.mark.parametrize("operation", ["upsert", "delete"])
async def test_an_update_that_breaks_off_leaves_one_version_that_is_found_by_every_mode(
    world: World, gone: Gone, operation: str
) -> None:
    entry = await world.remember(ANA, "The gate is green.")
    gone([operation])
    with pytest.raises(ConnectionError):
        await world.change(ANA, entry.id, "The gate is yellow.")
    gone([])
    stands = (await world.memory.look.entry(entry.id, ANA)).content
    assert stands == ("The gate is green." if operation == "upsert" else "The gate is yellow.")
    for mode in ("keyword", "semantic", "hybrid"):
        found = await world.found(ANA, "gate", mode=mode)
        assert [each for each in found if "gate" in each] == [stands]


@pytest.mark.parametrize("hard", [False, True])
async def test_what_was_removed_is_found_by_nobody_though_its_vector_is_still_there(
    world: World, gone: Gone, hard: bool
) -> None:
    entry = await world.remember(ANA, "The key is under the mat.")
    gone(["delete"])
    request = {"id": entry.id, "options": {"hard_delete": hard}}
    with pytest.raises(ConnectionError):
        await world.memory.keep.delete(DeleteRequest.model_validate(request), ANA)
    gone([])
    for mode in ("keyword", "semantic", "hybrid"):
        assert "The key is under the mat." not in await world.found(ANA, "key mat", mode=mode)
