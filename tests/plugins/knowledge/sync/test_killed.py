"""A portal that is killed with SIGKILL, again and again, at any moment: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.examples import seed, times
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.plugins.knowledge.sync.portal_process import SINGLE
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import NOTHING, History

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

KILLS = times(thorough=50, ordinary=12)
SEED = seed(7)
FOLDERS = ("tags", "notes", "links", "artifacts/patterns")
WORDS = ("cell", "wallet", "garden", "river", "hat", "steward", "quorum", "season")
BROKEN = b"---\na: [\n---\n"


class Author:
    """Writes a history, and knows what of it must be served in the end.

    Args:
        history: the repository.
        chance: what decides.
    """

    def __init__(self, history: History, chance: random.Random) -> None:
        self.history = history
        self._chance = chance
        self._names = 0
        self.before = NOTHING
        self.after = history.commit({f"notes/first-{n}.md": self._text() for n in range(4)})

    @property
    def paths(self) -> list[str]:
        """The notes that there are."""
        return self.history.git("ls-files").split("\n")

    def push(self) -> dict[str, Any]:
        """Make some changes; the delivery that tells of them."""
        self.before = self.after
        for _ in range(self._chance.randint(1, 3)):
            kinds = (self._add, self._modify, self._rename, self._delete, self._unpublish)
            more = (self._break, self._force, self._add_many)
            chosen = self._chance.choices((*kinds, *more), (4, 4, 2, 2, 2, 1, 1, 1))
            self.after = chosen[0]() or self.after
        return self.history.push(self.before, self.after, NAME)

    def mended(self) -> dict[str, Any]:
        """Mend what is broken, so that what must be served does not depend on what was."""
        self.before = self.after
        broken = [path for path in self.paths if self._read(path) == BROKEN]
        self.after = self.history.commit({path: self._text() for path in broken})
        return self.history.push(self.before, self.after, NAME)

    def served(self) -> dict[str, bytes]:
        """The notes that must be served, by their paths."""
        notes = {path: self._read(path) for path in self.paths}
        return {path: data for path, data in notes.items() if b"draft" not in data}

    def _read(self, path: str) -> bytes:
        return (self.history.directory / path).read_bytes()

    def _text(self, **fields: Any) -> bytes:
        words = " ".join(self._chance.choices(WORDS, k=self._chance.randint(3, 400)))
        return note(f"# {self._chance.choice(WORDS)}\n\n{words}.", **fields)

    def _path(self) -> str:
        self._names += 1
        return f"{self._chance.choice(FOLDERS)}/note-{self._names}.md"

    def _add(self) -> str:
        return self.history.commit({self._path(): self._text()})

    def _add_many(self) -> str:
        return self.history.commit({self._path(): self._text() for _ in range(2 * SINGLE)})

    def _modify(self) -> str:
        return self.history.commit({self._chance.choice(self.paths): self._text()})

    def _rename(self) -> str:
        path = self._chance.choice(self.paths)
        return self.history.commit({path: None, self._path(): self._read(path)})

    def _delete(self) -> str:
        paths = self.paths
        return self.history.commit({self._chance.choice(paths): None}) if len(paths) > 3 else ""

    def _unpublish(self) -> str:
        return self.history.commit({self._chance.choice(self.paths): self._text(draft="true")})

    def _break(self) -> str:
        return self.history.commit({self._chance.choice(self.paths): BROKEN})

    def _force(self) -> str:
        if self.history.resolve("main~2") is None:
            return ""
        self.history.git("reset", "-q", "--hard", "main~2")
        return self._add()


class Portals:
    """Portals on one data directory, one after the other.

    Args:
        program: ``portal_process`` as a program.
    """

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program

    def begin(self, push: dict[str, Any], *, leave: bool = False) -> int:
        """Start one; its process."""
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps({"push": push, "leave": leave}) + "\n")
        self._program.stdin.flush()
        return int(self.heard())

    def until(self, line: str) -> None:
        """Wait until it says something."""
        while (said := self.heard()) != line:
            assert not said.startswith("ended"), said

    def kill(self, process: int) -> None:
        """End it as ``kill -9`` does."""
        os.kill(process, signal.SIGKILL)
        while not self.heard().startswith("ended"):
            pass

    def left(self, push: dict[str, Any]) -> dict[str, Any]:
        """What one says that leaves once all is served."""
        self.begin(push, leave=True)
        self.until("served")
        told: dict[str, Any] = json.loads(self.heard())
        assert self.heard() == "ended 0"
        return told

    def heard(self) -> str:
        assert self._program.stdout is not None
        line = self._program.stdout.readline()
        assert line, "the program has ended"
        return line.strip()


@contextmanager
def portals(data: Path, url: str) -> Iterator[Portals]:
    """Portals on a data directory, for as long as the block lasts."""
    module = "tests.plugins.knowledge.sync.portal_process"
    root = str(Path(__file__).parents[4])
    with (
        (data.parent / "printed").open("a") as printed,
        subprocess.Popen(
            [sys.executable, "-m", module, str(data), url],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            text=True,
        ) as program,
    ):
        yield Portals(program)


def some_time_later(chance: random.Random, running: Portals) -> None:
    """Let a portal come as far as it may: it starts, it syncs, or it has just synced."""
    how = chance.random()
    if how < 0.15:
        time.sleep(chance.uniform(0, 0.4))
        return
    running.until("open")
    if how < 0.9:
        time.sleep(chance.uniform(0, 0.5))
    else:
        running.until("served")


def test_killed_at_many_moments_what_is_served_is_what_a_clean_build_serves(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("kills", KILLS)
    record_property("seed", SEED)
    chance = random.Random(SEED)
    with GithubContents() as github:
        history = History.begun(tmp_path / "kb")
        github.repos[NAME] = Repo(history.directory, history=history)
        author = Author(history, chance)
        with portals(tmp_path / "data", github.url) as running:
            for _ in range(KILLS):
                process = running.begin(author.push())
                some_time_later(chance, running)
                running.kill(process)
            last = author.mended()
            killed = running.left(last)
        with portals(tmp_path / "clean", github.url) as running:
            clean = running.left(last)
    assert killed["differences"] == clean["differences"] == []
    served = author.served()
    found = {each["path"]: each["content"] for each in killed["documents"].values()}
    bodies = {path: data.decode().split("---\n", 2)[2] for path, data in served.items()}
    assert found == bodies
    assert killed == clean
