"""``porch knowledge sync``, ``verify`` and ``review``: with no portal, and beside one that runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.faults.conftest import Place
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

pytestmark = pytest.mark.heavy


@pytest.fixture
def github() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
def history(github: GithubContents, tmp_path: Path) -> History:
    begun = History.begun(tmp_path / "kb")
    github.repos[NAME] = Repo(begun.directory, history=begun)
    begun.commit({f"notes/{number:02}.md": note(f"Body {number}.") for number in range(20)})
    return begun


@pytest.fixture
def place(tmp_path: Path, github: GithubContents) -> Iterator[Place]:
    (tmp_path / "portal").mkdir()
    made = Place(tmp_path / "portal")
    knowledge = {"sources": [{"github": NAME}], "github": {"api_url": github.url}}
    settings = {"services": {"embedding": "none"}, "plugins": {"knowledge": knowledge}}
    made.configure(yaml.safe_dump(settings | {"limits": {"calls": "none"}}))
    yield made
    for portal in made.running:
        portal.process.kill()
        portal.process.wait()


def read(github: GithubContents) -> list[str]:
    return [path for path in github.asked.elements() if "/contents/" in path]


def test_everything_is_synced_and_compared_without_a_portal(
    place: Place, history: History, github: GithubContents
) -> None:
    done = place.porch("knowledge", "sync")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert f"{NAME}@main: fetching (20)" in lines
    assert lines[-1] == "20 documents are served."
    assert lines[-2] == f"{NAME}@main is at {history.resolve('main')[:12]}."  # type: ignore[index]
    assert len(read(github)) == 20
    again = json.loads(place.porch("knowledge", "sync", "--json").stdout)
    assert (again["documents"], again["errors"], again["running"]) == (20, [], False)
    assert len(read(github)) == 20
    compared = place.porch("knowledge", "verify")
    assert (compared.returncode, compared.stdout.splitlines()[-1]) == (
        0,
        "20 documents: source, store and index are the same.",
    )


def test_an_emptied_directory_is_served_until_somebody_says_that_it_is_meant(
    place: Place, tmp_path: Path
) -> None:
    notes = tmp_path / "volume"
    notes.mkdir()
    (notes / "a.md").write_text("# A")
    knowledge = {"sources": [{"directory": str(notes), "publish": "all"}]}
    settings = {"services": {"embedding": "none"}, "plugins": {"knowledge": knowledge}}
    place.configure(yaml.safe_dump(settings))
    assert place.porch("knowledge", "sync").returncode == 0
    (notes / "a.md").unlink()
    kept = place.porch("knowledge", "sync")
    assert kept.returncode == 1
    assert "volume is empty, and documents of it are served (1)" in kept.stdout
    assert kept.stdout.splitlines()[-1] == "1 document is served."
    meant = place.porch("knowledge", "sync", "--emptied")
    assert (meant.returncode, meant.stdout.splitlines()[-1]) == (0, "0 documents are served.")


def test_what_is_damaged_is_named_with_1_and_mended_with_0(place: Place, history: History) -> None:
    place.porch("knowledge", "sync")
    (place.data / "objects/knowledge/content/file/03.json").unlink()
    found = place.porch("knowledge", "verify")
    assert found.returncode == 1
    assert "document file/03 (notes/03.md): missing" in found.stdout.splitlines()
    mended = place.porch("knowledge", "verify", "--repair")
    assert mended.returncode == 0, mended.stdout
    assert "mended: document file/03 (notes/03.md): missing" in mended.stdout.splitlines()
    told = json.loads(place.porch("knowledge", "verify", "--json").stdout)
    assert told == {"documents": 20, "differences": [], "mended": []}


def test_github_away_is_said_with_1(place: Place, history: History, github: GithubContents) -> None:
    github.repos.clear()
    done = place.porch("knowledge", "sync")
    assert done.returncode == 1
    assert f"There is no branch to read of {NAME} at main." in done.stdout.splitlines()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_is_broken_off_goes_on_and_fetches_nothing_twice(
    place: Place, history: History, github: GithubContents, how: signal.Signals
) -> None:
    github.prompt, github.delay = 12, 60.0  # some of the files, and then none while it runs
    process = subprocess.Popen(
        [sys.executable, "-m", "gateway.cli", "knowledge", "sync"],
        cwd=place.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        deadline = time.monotonic() + 60
        while len(list((place.data / "objects").rglob("fetched/**/*.md"))) < 5:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(how)
        said, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert how is signal.SIGKILL or "run it again, and it goes on" in said
    github.delay = 0.0
    while github.open:  # what it had asked for
        time.sleep(0.01)
    kept = len(list((place.data / "objects").rglob("fetched/**/*.md")))
    github.requests.clear()
    done = place.porch("knowledge", "sync")
    assert done.returncode == 0, done.stdout
    assert len(read(github)) == 20 - kept < 20
    assert place.porch("knowledge", "verify").returncode == 0


def test_a_portal_that_runs_does_it_itself(
    place: Place, history: History, github: GithubContents
) -> None:
    portal = place.serve().ready()
    commit = history.commit({"notes/new.md": note("New.")})
    done = place.porch("knowledge", "sync")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{NAME}@main is at {commit[:12]}." in done.stdout.splitlines()
    assert portal.health()["plugins"]["knowledge"]["facts"]["documents"] == 21
    (place.data / "objects/knowledge/raw/notes/03.md").unlink()
    found = place.porch("knowledge", "verify")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "original file/03 (notes/03.md): missing" in found.stdout.splitlines()
    assert place.porch("knowledge", "verify", "--repair").returncode == 0
    assert json.loads(place.porch("knowledge", "verify", "--json").stdout)["differences"] == []


def test_while_github_limits_a_sync_ends_with_1_and_everything_says_why(
    place: Place, history: History, github: GithubContents
) -> None:
    portal = place.serve().ready()
    commit = history.commit({"notes/new.md": note("New.")})
    github.limit(429, {"retry-after": "600"})
    limited = "GitHub takes no more requests for now. Try again after "
    for _ in range(2):  # the second one finds the first still waiting
        done = place.porch("knowledge", "sync")
        assert done.returncode == 1, done.stdout + done.stderr
        assert any(line.startswith(limited) for line in done.stdout.splitlines()), done.stdout
    told = json.loads(place.porch("knowledge", "sync", "--json").stdout)
    assert told["sources"][0]["behind"].startswith(limited)
    health = portal.health()["plugins"]["knowledge"]
    assert health["state"] == "degraded"
    assert health["detail"].startswith(limited)
    assert portal.stop() == 0
    asked = len(github.requests)
    alone = place.porch("knowledge", "sync")
    assert alone.returncode == 1
    assert any(line.startswith(limited) for line in alone.stdout.splitlines()), alone.stdout
    assert len(github.requests) == asked + 1
    github.answers()
    assert f"{NAME}@main is at {commit[:12]}." in place.porch("knowledge", "sync").stdout


def test_what_wants_a_look_is_told_with_no_portal_and_beside_one_that_runs(
    place: Place, history: History
) -> None:
    ended = "---\npublish: true\nvalidUntil: 2020-01-01\nauthor: ana\n---\nThe old rules.\n"
    history.commit({"notes/rules.md": ended.encode()})
    place.porch("knowledge", "sync")
    alone = place.porch("knowledge", "review")
    place.serve().ready()
    beside = place.porch("knowledge", "review")
    for done in (alone, beside):
        assert done.returncode == 0, done.stdout + done.stderr
        (line,) = (each for each in done.stdout.splitlines() if each.startswith("notes/rules.md: "))
        assert line.endswith("(ana)")
        assert "      review_days: {practice: 365, project: 90}\n" in done.stdout
    told = json.loads(place.porch("knowledge", "review", "--json").stdout)
    assert [each["id"] for each in told["documents"]] == ["file/rules"]
