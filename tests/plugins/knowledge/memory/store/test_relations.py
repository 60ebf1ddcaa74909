"""How entries go together, as it is written: few statements, as every writer waits for them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.model.validity import Relation
from tests.plugins.knowledge.memory.conftest import ANA, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


@contextmanager
def counted() -> Generator[list[str]]:
    """The statements that are executed while the block lasts."""
    made: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        made.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield made
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def test_what_seems_to_replace_many_is_written_by_as_many_statements_as_one(
    world: World,
) -> None:
    counts = []
    for code in range(1, 11):
        sent = {"entry": {"content": f"The code of the gate is {code * 1111}."}}
        request = CreateRequest.model_validate(sent)
        with counted() as made:
            kept = await world.memory.governed.create(request, ANA)
        counts.append(len(made))
    assert kept.near[0].seems is Relation.SEEMS_TO_REPLACE
    first = counts[2]  # of the third code; the second one is the first that may be at odds
    assert counts[-1] <= first, counts
