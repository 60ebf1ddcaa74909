"""``porch status`` and ``porch doctor`` beside a portal that runs, and without one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.options import EXIT
from gateway.cli.status import lines
from gateway.observability import diagnosis
from gateway.observability.database_watch import WAITS_FOR_DATABASE
from gateway.observability.diagnosis import Weight, of_disk, of_machine, of_portal
from tests.gateway.cli.conftest import Run, served

WELL: dict[str, Any] = {
    "name": "The Commons",
    "url": "https://porch.example.org",
    "version": "1.0",
    "process": 7,
    "uptime_seconds": 93_784,
    "status": "ok",
    "plugins": [],
    "services": [],
    "jobs": [],
    "streams": {"mcp": 3, "rest": 1, "sessions": 2},
    "calls": {
        "seconds": 60.0,
        "calls": 0,
        "per_second": 0,
        "mean_milliseconds": 0,
        "at_once": 0,
        "loop_lag_milliseconds": 1234,
        "outcomes": {},
    },
    "notices": [],
    "lately": [],
}


@pytest.fixture
def beside(place: Path, porch: Run) -> Iterator[Run]:
    """Commands beside a portal that runs, and whose configuration has a mistake."""
    with (place / "config" / "tiers.yaml").open("a") as file:
        file.write("  knowledge/no_such_tool: open\n")
    with served(place):
        yield porch


def test_beside_a_portal_both_say_what_it_does_and_what_to_mend(beside: Run, place: Path) -> None:
    beside("call", "search_knowledge", "query=garden")
    result = beside("status")
    assert result.exit_code == EXIT.DONE
    assert "✓ ok, up for" in result.output
    assert "1 ok" in result.output
    assert "sqlite" in result.output
    assert "✓ knowledge" in result.output
    assert "no_such_tool" in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    assert json.loads(beside("status", "--json").stdout)["status"] == "ok"

    (place / "data").chmod(0o755)
    result = beside("doctor")
    assert result.exit_code == EXIT.PROBLEM
    heads = [line for line in result.output.splitlines() if line and line[0] not in " 0123456789"]
    assert heads[0].startswith("At risk")
    assert result.output.index("no_such_tool") < result.output.index("chmod 700")
    assert max(map(len, result.output.splitlines())) <= 80
    found = json.loads(beside("doctor", "--json").stdout)
    assert [each["weight"] for each in found] == sorted(
        (each["weight"] for each in found), key=["broken", "risk", "advice"].index
    )


def test_watched_the_status_is_told_again_until_somebody_stops_it(beside: Run, place: Path) -> None:
    command = [sys.executable, "-m", "gateway.cli", "status", "--watch"]
    with subprocess.Popen(
        [*command, "--json"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        looks = [watching.stdout.readline() for _ in range(2)]
        watching.send_signal(signal.SIGINT)
        _, errors = watching.communicate(timeout=60)
    first, second = map(json.loads, looks)
    assert second["uptime_seconds"] > first["uptime_seconds"]
    assert (watching.returncode, errors) == (EXIT.DONE, "")


def test_without_a_portal_they_say_so(porch: Run, place: Path) -> None:
    result = porch("status")
    assert result.exit_code == EXIT.PROBLEM
    assert result.output.startswith("No portal runs on")
    (place / "config/tiers.yaml").write_text("default: members\nitems:\n  greenhouse/a: open\n")
    result = porch("doctor")
    assert result.exit_code == EXIT.PROBLEM
    assert "greenhouse" in result.output
    assert "Nothing has to be done" not in result.output
    assert "No portal runs" in result.output
    assert "porch serve" in result.output


def test_the_screen_fits_80_columns_whatever_it_tells() -> None:
    told = WELL | {
        "status": "degraded",
        "services": [
            {"name": "cache", "address": "redis://a", "state": "away", "detail": "words " * 40}
        ],
        "plugins": [
            {
                "name": "knowledge",
                "state": "failed",
                "detail": "It has a long reason, and tells it. " * 5,
                "required": True,
                "behind_seconds": 7300,
            }
        ],
        "jobs": [
            {
                "name": "knowledge/sync",
                "waiting": 2,
                "running": 1,
                "oldest_seconds": 61,
                "ended": {"failed": 3, "done": 9},
            }
        ],
        "calls": WELL["calls"]
        | {"calls": 9, "per_second": 0.15, "outcomes": {"ok": 7, "internal_error": 2}},
        "replicas": ["portal-1, process 7", "portal-2, process 8"],
        "notices": ["A sentence that is long. " * 8, "\x1b[2JShort."],
        "lately": [
            {"at": "2020-02-03T12:00:00+00:00", "said": "It was long. " * 9, "times": 1},
            {"at": "2020-02-03T12:00:00+00:00", "said": "\x1b[2JIt ended", "times": 3},
        ],
    }
    shown = [*lines(told)]
    assert max(map(len, shown)) <= 80
    text = " ".join(" ".join(shown).split())
    for said in (
        "! degraded, up for 1 d 2 h",
        "7 ok, 2 internal_error; 2 failed here",
        "Loop at most 1,234 ms late in the last minute",
        "✗ away: redis://a",
        "knowledge/sync 1 running, 2 waiting (1 min 1 s); knowledge/sync 3 failed",
        "✗ knowledge failed Out of date for 2 h 1 min.",
        "- [2JShort.",
        "Replicas 2 alive: portal-1, process 7; portal-2, process 8",
        "Lately 2020-02-0",
        "[2JIt ended (3 times)",
    ):
        assert said in text


def test_what_is_broken_comes_with_what_to_do() -> None:
    told = WELL | {
        "services": [{"name": "database", "address": "x", "state": "away", "detail": "refused"}],
        "plugins": [
            {
                "name": name,
                "state": state,
                "detail": "why",
                "required": name == "a",
                "behind_seconds": behind,
            }
            for name, state, behind in (("a", "failed", 0), ("b", "failed", 0), ("c", "ok", 7200))
        ],
        "jobs": [
            {"name": "k/sync", "waiting": 1, "running": 1, "oldest_seconds": 1800, "ended": {}}
        ],
        "calls": WELL["calls"] | {"outcomes": {"ok": 5, "deadline": 2}},
        "notices": ["Look at this."],
    }
    found = {each.what: each for each in of_portal(told)}
    weights = {what.split(":")[0]: each.weight for what, each in found.items()}
    assert weights == {
        "The database is away": Weight.BROKEN,
        "The plugin a is not served": Weight.BROKEN,
        "The plugin b is not served": Weight.RISK,
        "What the plugin c serves has been out of date for 2 h.": Weight.RISK,
        "A job of k/sync has been open for 30 min, and others wait for it.": Weight.BROKEN,
        "2 calls of the last minute failed or ran out of time.": Weight.RISK,
        "Look at this.": Weight.RISK,
    }
    assert all(each.todo.endswith(".") for each in found.values())
    assert [*of_portal(WELL)] == []


def test_what_a_plugin_advises_is_worth_knowing() -> None:
    plugin = {"name": "k", "state": "ok", "detail": "", "required": True, "behind_seconds": 0}
    (found,) = of_portal(WELL | {"plugins": [plugin | {"advice": "Take another model."}]})
    assert (found.weight, found.what) == (Weight.ADVICE, "The plugin k: Take another model.")


def test_what_follows_from_a_database_that_is_away_is_told_with_it_alone() -> None:
    away = {"name": "database", "address": "x", "state": "away", "detail": "refused"}
    waits = {
        "name": "workflows",
        "state": "failed",
        "detail": WAITS_FOR_DATABASE,
        "required": True,
        "behind_seconds": 0,
    }
    told = WELL | {
        "services": [away],
        "plugins": [waits],
        "jobs": [{"name": "", "problem": "refused"}],
        "notices": ["The database has not answered for 9 s. Check it.", "Look at this."],
    }
    found = [*of_portal(told)]
    assert [each.what for each in found] == ["The database is away: refused", "Look at this."]
    assert "workflows, jobs wait for it" in found[0].todo
    alone = [*of_portal(told | {"services": []})]
    assert len(alone) == 4


def test_redis_away_is_a_risk_as_no_call_fails() -> None:
    away = {"name": "cache", "address": "x", "state": "away", "detail": "refused"}
    notices = [
        "The cache server at db:6379 has not answered for 3 s.",
        "Calls are counted in each process alone, so that limits hold for each of them: refused",
    ]
    [found] = of_portal(WELL | {"services": [away], "notices": notices})
    assert found.weight == Weight.RISK


def test_a_database_that_is_left_behind_is_told(
    porch: Run, place: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    porch("people", "list")
    assert "porch.db" not in porch("doctor").output
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", postgres_url.replace("+asyncpg", ""))
    said = " ".join(porch("doctor").output.split())
    assert "data/porch.db is not in use, since services.database names another database" in said
    assert "memory, workflows, drafts, approvals and records in it are not served" in said
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", "env:NOT_SET")
    said = " ".join(porch("doctor").output.split())
    assert "NOT_SET is not set" in said


def test_a_full_disk_open_doors_and_static_tokens_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    assert [*of_machine(data, static_tokens=True, public=False)] == []
    data.chmod(0o750)
    weights = [each.weight for each in of_machine(data, static_tokens=True, public=True)]
    assert weights == [Weight.RISK] * 2
    monkeypatch.setattr(diagnosis, "SCARCE_BYTES", 2**62)
    assert [each.weight for each in of_disk(data)] == [Weight.RISK]
    monkeypatch.setattr(diagnosis, "FULL_BYTES", 2**61)
    (full,) = of_disk(data / "not yet")
    assert full.weight == Weight.BROKEN
    assert "MiB left" in full.what
    assert "served meanwhile" in full.todo
