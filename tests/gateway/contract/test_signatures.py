"""What a function's signature becomes, also where it is read again."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from gateway.contract.signatures import read


def tool(default: Any) -> Any:
    """A tool, made anew as each opening of a plugin makes it."""

    async def count(of: Any = default) -> str:
        """Count.

        Args:
            of: what to count.
        """
        return str(of)

    return count


@pytest.mark.parametrize("default", [1, "one", None])
def test_a_function_that_is_read_again_has_the_model_that_it_had(default: Any) -> None:
    assert read(tool(default)).model is read(tool(default)).model


def described() -> Any:
    """A tool whose argument is described where it is annotated."""

    async def grow(seeds: Annotated[int, Field(description="How many.", ge=1)]) -> str:
        """Grow."""
        return str(seeds)

    return grow


def test_so_has_one_whose_annotations_make_objects() -> None:
    assert read(described()).model is read(described()).model


MODULE = '''
from __future__ import annotations

from pydantic import BaseModel

class Seed(BaseModel): ...

async def grow(seed: Seed) -> None:
    """Grow.

    Args:
        seed: what.
    """
'''


def test_a_module_that_is_loaded_again_has_its_new_types() -> None:
    module: dict[str, Any] = {"__name__": "garden"}
    for _ in range(2):
        exec(MODULE, module)
        annotation = read(module["grow"]).model.model_fields["seed"].annotation
        assert annotation is module["Seed"]


@pytest.mark.parametrize("other", [True, 1.0, 2, "1", None, [1], {"one": 1}])
def test_each_default_is_its_own(other: Any) -> None:
    models = [read(tool(default)).model for default in (1, other, 1)]
    defaults = [model().model_dump()["of"] for model in models]
    assert [repr(each) for each in defaults] == ["1", repr(other), "1"]


def test_what_was_read_again_runs_the_function_that_it_was_read_of() -> None:
    ran = []

    def noting(word: str) -> Any:
        async def note() -> str:
            """Note."""
            ran.append(word)
            return word

        return note

    first, second = read(noting("first")), read(noting("second"))
    for each in (second, first):
        with pytest.raises(StopIteration):
            each.run(each.model(), None).send(None)  # type: ignore[attr-defined]
    assert ran == ["second", "first"]
