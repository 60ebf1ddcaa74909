"""``porch workflows import``, killed again and again, leaves what one clean import leaves."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from gateway.services.database.service import OwnedDatabase, open_database
from plugins.workflows.store.tables import skills, workflows
from tests.examples import times
from tests.faults.conftest import PATIENCE, Place, _environment
from tests.faults.playbook import configure
from tests.journeys.balancer import empty_database
from tests.plugins.workflows.files.desk import rows, tree, write
from tests.servers.forked import Forked

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600), pytest.mark.one_database]

MANY, KILLS = 40, times(thorough=6, ordinary=2)
T = TypeVar("T")


@pytest.fixture(params=["sqlite", "postgresql"])
def addresses(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Where two empty databases are."""
    if request.param == "sqlite":
        yield "sqlite", "sqlite"
        return
    with ExitStack() as stack:
        url = request.getfixturevalue("postgres_url")
        yield stack.enter_context(empty_database(url)), stack.enter_context(empty_database(url))


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Prompts, cards with files, and workflows that use them."""
    book = tmp_path / "book"
    for number in range(MANY):
        write(book, f"prompts/look-{number}.md", f"---\nname: Look {number}\n---\nLook.\n")
        listed = "files:\n- {name: list.txt, type: text/plain}"
        card = f"---\nname: Card {number}\ntags: [a]\n{listed}\n---\nTurn {number}.\n"
        write(book, f"skills/card-{number}.md", card)
        write(book, f"skills/card-{number}/list.txt", f"{number}" * 1_000)
        steps = f"[{{prompt: look-{number}}}, {{skill: card-{number}}}, {{prompt: look-0}}]"
        flow = f"name: Flow {number}\ntags: [b{number}]\nstages:\n- name: Work\n  items: {steps}\n"
        write(book, f"workflows/flow-{number}.yaml", flow)
    return book


def ask(address: str, data: Path, question: Callable[[OwnedDatabase], Awaitable[T]]) -> T:
    """Ask a database something, as another process would."""

    async def asked() -> T:
        service = open_database(address, data)
        try:
            return await question(service.for_owner("workflows"))
        finally:
            await service.close()

    return asyncio.run(asked())


async def taken(database: OwnedDatabase) -> int:
    """How many items are there; none before there are tables."""
    counts = [select(func.count()).select_from(each) for each in (skills, workflows)]
    try:
        async with database.engine.connect() as connection:
            return sum([await connection.scalar(each) or 0 for each in counts])
    except DBAPIError:
        return 0


class Importing:
    """An import that has begun, in a process of its own."""

    def __init__(self, place: Place, data: Path, address: str, book: Path) -> None:
        words = ("workflows", "import", str(book), "--data", str(data))
        self._printed = place.root / f"imported-{time.monotonic_ns()}"
        environment = _environment({"ADDRESS": address})
        self.process = Forked(words, place.root, environment, self._printed)

    def ended(self) -> str:
        """What it said, once it has ended."""
        self.process.wait(PATIENCE)
        return self._printed.read_text()


async def kill_at(goal: int, importing: Importing, database: OwnedDatabase) -> None:
    """End an import once there are so many items."""
    while await taken(database) < goal:
        assert importing.process.poll() is None, importing.ended()
        await asyncio.sleep(0.01)
    importing.process.kill()


def test_the_rows_and_files_are_those_of_one_clean_import(
    place: Place,
    addresses: tuple[str, str],
    book: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("kills", KILLS)
    configure(place, "database: env:ADDRESS" if addresses[0] != "sqlite" else "")
    one, other = place.root / "clean", place.root / "killed"
    said = Importing(place, one, addresses[0], book).ended()
    assert f"{3 * MANY} added." in said
    clean = ask(addresses[0], one, rows)
    before = 0
    for _ in range(KILLS):
        # Far from the end: on a busy machine the kill comes some items later than it should.
        goal = before + random.randint(1, MANY // KILLS)
        importing = Importing(place, other, addresses[1], book)
        ask(addresses[1], other, partial(kill_at, goal, importing))
        importing.ended()
        before = ask(addresses[1], other, taken)
    assert before < 2 * MANY, "it was finished before it was killed"
    said = Importing(place, other, addresses[1], book).ended()
    assert "unchanged" in said, said
    assert "problem" not in said
    assert ask(addresses[1], other, rows) == clean
    assert tree(other / "objects") == tree(one / "objects")
