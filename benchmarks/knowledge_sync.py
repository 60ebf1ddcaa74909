"""How soon a push is searchable: ``porch serve`` over HTTP, and a GitHub on loopback with civic-kb.

Everything is the embedded default with its model. The clock runs from the moment the webhook is
delivered until the portal says that the pushed commit is indexed; a search must then find each note
by a title that it has had since.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.judged import data_directory
from benchmarks.portal import Portal, configured
from benchmarks.table import Bar, Row
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

SECTION = "knowledge_sync"
NAME = "garden/kb"
MANY = 100
ROUNDS = 5
_SECRET = "a-secret-of-this-benchmark"
_PATIENCE = 120.0
_LETTERS = "bcdfghjklmnpqrtvwxz"
"""No vowels: such a word stands in no note, and ends like none."""


def measure() -> list[Row]:
    """Push one note, a few times, and a hundred of them."""
    with tempfile.TemporaryDirectory() as place, GithubContents() as github:
        root = Path(place)
        history = _repository(root / "kb")
        github.repos[NAME] = Repo(history.directory, history=history)
        with served(root, github.url) as portal:
            portal.await_ready()
            notes = _median(history.directory)
            single = [pushed(portal, history, [notes[number]]) for number in range(ROUNDS)]
            many = pushed(portal, history, notes[:MANY])
            again = pushed(portal, history, notes[:MANY])
    return [
        Row(
            SECTION,
            "push of one changed note, searchable",
            median(single),
            "s",
            Bar("under", 2),
            f"median of {ROUNDS}, {max(single):.2f} s at most",
            headline=True,
        ),
        Row(
            SECTION,
            f"push of {MANY} changed notes of median length, all searchable",
            max(many, again),
            "s",
            Bar("under", 20),
            f"the slower of two, the other {min(many, again):.1f} s; as one tarball",
            headline=True,
        ),
    ]


def _repository(directory: Path) -> History:
    history = History.begun(directory)
    shutil.copytree(data_directory() / "civic-kb" / "repo", directory, dirs_exist_ok=True)
    history.commit({})
    return history


def _median(directory: Path) -> list[Path]:
    """The published notes whose length is nearest to the median of all."""
    notes = [
        path
        for path in sorted(directory.rglob("*.md"))
        if ".git" not in path.parts and b"\npublish: true" in path.read_bytes()[:2000]
    ]
    middle = median(path.stat().st_size for path in notes)
    return sorted(notes, key=lambda path: abs(path.stat().st_size - middle))


def pushed(portal: Portal, history: History, notes: Sequence[Path]) -> float:
    """Change notes, push them, and wait until a search finds each.

    Args:
        portal: serves the branch.
        history: the branch.
        notes: the files to change.

    Returns:
        The seconds from the delivery on.

    Raises:
        TimeoutError: the push is not searchable after two minutes.
        RuntimeError: a note is not found by its new title.
    """
    words = ["".join(random.choices(_LETTERS, k=12)) for _ in notes]
    made = [_with(path, word) for path, word in zip(notes, words, strict=True)]
    changed: dict[str, bytes | None] = {
        str(path.relative_to(history.directory)): text
        for path, (_, text) in zip(notes, made, strict=True)
    }
    before = history.resolve("main") or ""
    after = history.commit(changed)
    _, last = max(zip(changed, (title for title, _ in made), strict=True))
    begun = time.perf_counter()
    portal.deliver("knowledge", history.push(before, after, NAME), _SECRET)
    while not (_is_served(portal, after) and _finds(portal, last)):
        if time.perf_counter() - begun > _PATIENCE:
            raise TimeoutError(f"a push is not searchable after {_PATIENCE:g} s")
        portal.still_running()
        time.sleep(0.05)
    seconds = time.perf_counter() - begun
    if missing := [title for title, _ in made if not _finds(portal, title)]:
        raise RuntimeError(f"{len(missing)} pushed notes are not found: {missing[:3]}")
    return seconds


def _with(path: Path, word: str) -> tuple[str, bytes]:
    """A note with a word of its own in its title, which every result shows: title and note."""
    front, mark, body = path.read_bytes().partition(b"\n---\n")
    lines = [line for line in front.splitlines() if not line.startswith(b"title:")]
    title = f"{path.stem.replace('-', ' ')} {word}"
    return title, b"\n".join([*lines, f"title: {title}".encode()]) + mark + body


def _is_served(portal: Portal, commit: str) -> bool:
    """Whether the portal says that it serves a commit, and that its index is written."""
    facts = portal.health()["plugins"]["knowledge"]["facts"]
    return facts["commits"] == {f"{NAME}@main": commit} and not facts["syncing"]


def _finds(portal: Portal, title: str) -> bool:
    """Whether a search for a title finds the note that has it."""
    return any(result["title"] == title for result in portal.search(title)["results"])


@contextmanager
def served(root: Path, api_url: str, program: str = "gateway.cli") -> Generator[Portal]:
    """Run ``porch serve`` on the branch while the block lasts.

    Args:
        root: where its configuration and its data are kept.
        api_url: where GitHub answers.
        program: the module that is ``porch``.
    """
    knowledge = {
        "sources": [{"github": NAME}],
        "github": {"api_url": api_url, "webhook_secret": "env:PORCH_BENCH_HOOK"},
    }
    settings = {"plugins": {"knowledge": knowledge}}
    with configured(root, settings, {"PORCH_BENCH_HOOK": _SECRET}, program) as portal:
        yield portal
