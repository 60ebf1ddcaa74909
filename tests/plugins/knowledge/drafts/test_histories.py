"""Random histories of drafts, by two replicas, people and whoever keeps the directory.

Whatever happens in whichever order: nothing is lost that was accepted, nothing is doubled, nothing
of somebody else is written over, and what has ended stays as it ended.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from plugins.knowledge.drafts import drafts as module
from tests.examples import examples
from tests.plugins.knowledge.drafts.bench import ANA, BO, Bench, opened, page

PEOPLE = (ANA, BO)
TITLES = ("Water", "Wells")
STEPS = st.tuples(
    st.sampled_from(
        ["preview", "create", "create", "withdraw", "list", "move", "delete", "edit", "keep up"]
    ),
    st.integers(0, 1),  # who
    st.integers(0, 1),  # which page, or file
    st.integers(0, 3),  # what it says
    st.integers(0, 1),  # by which replica
)
Step = tuple[str, int, int, int, int]


class History:
    """Plays steps, and looks after each whether all that is promised still holds."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.accepted: set[str] = set()
        self.theirs: dict[str, str] = {}
        self.ended: dict[str, str] = {}

    async def play(self, step: Step) -> None:
        kind, who, which, text, replica = step
        drafts, caller = self.bench.replicas[replica], PEOPLE[who]
        asked = page(TITLES[which], f"Text {text} by {caller.name}.")
        try:
            if kind == "preview":
                await drafts.preview(asked, caller)
            elif kind == "create":
                self.accepted.add((await drafts.create(asked, caller)).text)
            elif kind == "withdraw":
                for each in (await drafts.listed(caller, mine=True)).drafts[which : which + 1]:
                    await drafts.withdraw(each.id, caller)
            elif kind == "list":
                await drafts.listed(caller)
            elif kind == "keep up":
                await drafts.keep_up(None, {})  # type: ignore[arg-type]
            else:
                self._by_hand(kind, which, text)
        except ToolFailed:
            pass

    def _by_hand(self, kind: str, which: int, text: int) -> None:
        """What whoever keeps the directory does."""
        names = sorted(self.bench.files())[which : which + 1]
        for name in names:
            file = self.bench.notes / "drafts" / name
            if kind == "delete":
                file.unlink()
                self.theirs.pop(name, None)
            elif kind == "edit":
                self.theirs[name] = f"theirs {text}"
                file.write_text(self.theirs[name])
            else:
                target = self.bench.notes / name.partition("/")[2]
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    file.rename(target)
                    self.theirs.pop(name, None)

    async def check(self) -> None:
        files = self.bench.files()
        for name, text in self.theirs.items():
            assert files.get(name) == text, "what somebody else wrote was written over"
        for name, text in files.items():
            assert name in self.theirs or text in self.accepted, "nobody said yes to this"
        kept = [each for who in PEOPLE for each in await self.bench.store.of(who.person or "")]
        live = [(each.person, each.path) for each in kept if not each.ended]
        assert len(live) == len(set(live)), "a page is drafted twice"
        names = {each.place_name("x").removeprefix("x/") for each in kept}
        assert {name.partition("/")[0] for name in files} <= names, "a file of no draft"
        for each in kept:
            if each.ended:
                assert self.ended.setdefault(each.id, each.state) == each.state
            assert each.ended or each.id not in self.ended, "what has ended has begun again"
            assert each.pushed <= each.version

    async def settle(self) -> None:
        """Everything that was begun comes to where it was going."""
        self.bench.clock.time += timedelta(hours=1)  # the leases of who has died are over
        await self.bench.drafts.keep_up(None, {})  # type: ignore[arg-type]
        for who in PEOPLE:
            for each in await self.bench.store.of(who.person or ""):
                assert each.state not in ("publishing", "withdrawing")
                if each.state == "open" and each.pushed == each.version:
                    name = f"{each.place_name('x').removeprefix('x/')}/{each.path}"
                    assert name in self.bench.files()


async def played(address: str, root: Path, steps: Sequence[Sequence[Step]]) -> None:
    async with opened(address, root) as bench:
        history = History(bench)
        for together in steps:
            await asyncio.gather(*(history.play(each) for each in together))
            await history.check()
        await history.settle()
        await history.check()


@pytest.mark.one_database
@settings(
    max_examples=examples(120, ordinary=10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=10))
def test_whatever_happens_nothing_is_lost_doubled_or_written_over(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: Any, migrated_anew: Any
) -> None:
    monkeypatch.setattr(module, "FRESH", timedelta(seconds=-1))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(played(migrated_anew(Path(folder)), Path(folder), steps))
