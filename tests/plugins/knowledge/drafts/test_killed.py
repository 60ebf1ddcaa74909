"""A process killed with SIGKILL at any of its requests to GitHub: nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from plugins.knowledge.drafts import drafts
from tests.examples import seed, times
from tests.plugins.knowledge.drafts.garden import WATER, Ground
from tests.plugins.skills_repo.waiting import until
from tests.servers.forked import Forked

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

REQUESTS = 9
"""Requests to write, or to look before it, that one draft takes."""
KILLS = times(thorough=3 * REQUESTS, ordinary=4)
PATH = "artifacts/patterns/water-rights.md"


def killed(begun: Ground, at: int, *, before: bool) -> bool:
    """Have a process propose a draft, and kill it at one of its requests.

    Args:
        begun: GitHub, and the portal's data.
        at: at which of the requests that the stand-in's writing side answers.
        before: whether it dies before the request has an effect, or before it has the answer.

    Returns:
        Whether it was killed; else it had done all of it before.
    """
    module = "tests.plugins.knowledge.drafts.drafting_process"
    fields = (str(begun.data), begun.server.url, json.dumps(WATER))
    process = Forked(fields, Path.cwd(), os.environ, Path(os.devnull), module=module)
    counted, over = 0, threading.Event()

    def seen(asked: str) -> None:
        nonlocal counted
        counted += 1
        if counted == at and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            over.set()
            if before:
                raise ConnectionError("nobody is there to be answered")

    begun.writes.seen = seen
    process.wait()
    begun.writes.seen = lambda asked: None
    return over.is_set()


async def test_a_draft_whose_process_is_killed_is_proposed_once(
    begun: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "FRESH", timedelta(seconds=-1))
    chance = random.Random(seed(5))
    for _ in range(KILLS):
        killed(begun, chance.randint(1, REQUESTS), before=chance.random() < 0.5)
    async with begun.opened(schedule="* * * * * *") as garden:
        if not (await garden.done("list_drafts", {"mine": True}))["drafts"]:
            await garden.done("create_draft", WATER)  # each died before it wrote anything down

        async def proposed() -> bool:
            (one,) = (await garden.done("list_drafts", {"mine": True}))["drafts"]
            return bool(one["status"] == "open" and one["version"] == 1)

        await until(proposed)
        assert len(garden.writes.pulls) == 1
        (name,) = [each for each in garden.writes.branches() if each != "main"]
        assert garden.writes.pulls[1]["head"]["ref"] == name
        assert garden.history.git("rev-list", "--count", f"main..{name}") == "1"
        assert "Who may use the well" in garden.file(name, PATH)
