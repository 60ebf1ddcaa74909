"""A portal that is killed while it asks a model what code is for: it goes on, once for each."""

from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.codegraph.justification.opinions.level_job import AT_ONCE
from tests.examples import seed, times
from tests.faults.conftest import Place, eventually
from tests.plugins.codegraph.justification.opinions.asked import (
    answering,
    config,
    context_of,
    honest,
    questions,
)
from tests.servers.openai_compatible import OpenAICompatible, Reply

MODULES, DEPTH = 6, 4
KILLS = times(thorough=8, ordinary=3)


def layered(root: Path) -> set[str]:
    """Modules of functions that each call one a level below, without a word on what they are for;
    their names."""
    names = set()
    for at in range(MODULES):
        lines = []
        for depth in range(DEPTH):
            name = f"work_{at}_{depth}"
            names.add(name)
            below = f"work_{at}_{depth - 1}(a)" if depth else "a"
            lines.append(f"def {name}(a):\n    open(a)\n    return {below}\n\n\n")
        (root / f"part{at}.py").write_text("".join(lines))
    return names


def rows(place: Place, query: str) -> list[tuple[Any, ...]]:
    """What the portal's database answers."""
    with closing(sqlite3.connect(place.data / "porch.db", timeout=30)) as database:
        return list(database.execute(query))


def state(place: Place) -> str:
    """How far the run is."""
    return str(rows(place, "SELECT state FROM codegraph_opinion_runs")[0][0])


def answered(place: Place) -> int:
    """How many answers are kept."""
    return int(rows(place, "SELECT count(*) FROM codegraph_opinions")[0][0])


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_a_run_that_is_killed_goes_on_and_asks_nothing_twice_that_was_answered(
    place: Place, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(seed(31))
    tree = place.root / "tree"
    tree.mkdir()
    names = layered(tree)
    with OpenAICompatible() as server:

        def slow(body: Any) -> Reply | None:
            context = context_of(body)
            if context is None:
                return None
            value = {"entities": [honest(each) for each in context["entities"]]}
            return Reply(value, delay_s=0.3)

        answering(server).rule(slow)
        settings = config(tree, server, model=True)
        off = {name: {"enabled": False} for name in ("knowledge", "skills_repo", "workflows")}
        settings["plugins"] |= off
        settings["services"] |= {"embedding": "none"}
        place.configure(yaml.safe_dump(settings))
        portal = place.serve().ready()
        indexed = "SELECT 1 FROM codegraph_repositories WHERE layer IS NOT NULL"
        eventually(lambda: rows(place, indexed), "it is indexed")
        begun = place.porch("codegraph", "justify", "tree")
        assert begun.returncode == 0, begun.stderr
        kills = 0
        for number in range(1, KILLS + 1):
            wanted = number * len(names) // (KILLS + 1)
            eventually(lambda wanted=wanted: answered(place) >= wanted, "more is answered")  # type: ignore[misc]
            time.sleep(chance.random() / 2)
            if state(place) == "done":
                break
            portal.kill()
            kills += 1
            portal = place.serve().ready()
        eventually(lambda: state(place) == "done", "the run is done")
        assert kills > 0
        kept = rows(place, "SELECT qualified, refused FROM codegraph_opinions")
        assert sorted(name for name, _ in kept) == sorted(names)
        assert all(not refused for _, refused in kept)
        asked = Counter(name for group in questions(server) for name in group)
        assert set(asked) == names
        twice = sum(asked.values()) - len(names)
        record_property("kills", kills)
        record_property("asked twice", twice)
        assert twice <= kills * AT_ONCE  # no more than were under way when it was killed
        said = portal.call("get_business_context", {"name": "work_0_0", "repo": "tree"}).json()
        justification = said["result"]["structuredContent"]["justification"]
        assert justification["purpose"] == "work_0_0 as a model sees it."
