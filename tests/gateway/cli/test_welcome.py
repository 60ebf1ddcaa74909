"""What ``porch serve`` prints where a person watches."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from gateway.cli import welcome
from gateway.cli.welcome import Welcome
from gateway.contract import Health
from gateway.observability.health import HealthBoard

if TYPE_CHECKING:
    from gateway.app import PortalApp


def test_a_line_takes_the_place_of_a_bar_that_a_plugin_drew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.openpty()
    with os.fdopen(reading, "rb", buffering=0) as seen, os.fdopen(writing, "w") as screen:
        monkeypatch.setattr(sys, "stdout", screen)
        screen.write("Indexing ━━━━━━ 96/103")
        screen.flush()
        welcome._print_line("Porch listens.")
        expected = "Indexing ━━━━━━ 96/103\r\x1b[2KPorch listens.".encode()
        read = b""
        while len(read) < len(expected):
            read += seen.read(1000)
        assert read.startswith(expected)


def test_a_file_gets_the_line_alone(capsys: pytest.CaptureFixture[str]) -> None:
    welcome._print_line("Porch listens.")
    assert capsys.readouterr().out == "Porch listens.\n"


async def test_it_is_not_said_that_something_failed_while_a_plugin_is_starting(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board, there = HealthBoard(), False
    board.expect("knowledge", required=True)

    async def database(anew: bool) -> bool:
        return there

    async def well() -> Health:
        return Health(facts={"documents": 103})

    board.needs(database)
    greeting = Welcome(_app(board), cast(Any, None), with_tokens=False)
    following = asyncio.create_task(greeting._follow())
    await asyncio.sleep(2 * welcome._POLL_SECONDS)
    assert (await board.report()).status == "starting"
    there = True
    board.opened("knowledge", well)
    async with asyncio.timeout(60):
        await following
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "plugin_health" not in line] == [
        "knowledge: It is being opened.",
        "knowledge: ready. 103 documents",
        "Ready. Ctrl+C stops.",
    ]


async def test_what_failed_is_named_with_the_command_that_says_what_to_do() -> None:
    board = HealthBoard()
    board.expect("knowledge", required=True)
    board.failed("knowledge", "The bucket does not answer.")
    assert [*welcome._settled(await board.report())] == [
        "knowledge: failed. The bucket does not answer.",
        "`porch doctor` says what to mend.",
        "Serving what can be served. Ctrl+C stops.",
    ]


async def test_a_plugin_that_opens_after_the_portal_is_said_once_it_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(welcome, "_LATE_POLL_SECONDS", 0.01)
    board = HealthBoard()
    board.expect("slow", required=False)
    board.late("slow", "It did not open within 20 s.")

    async def well() -> Health:
        return Health(facts={"documents": 103})

    greeting = Welcome(_app(board), cast(Any, None), with_tokens=False)
    following = asyncio.create_task(greeting._follow())
    printed = ""
    async with asyncio.timeout(60):
        while "Ready" not in printed:
            await asyncio.sleep(0.01)
            printed += capsys.readouterr().out
        board.opened("slow", well)
        await following
    late = "slow: failed. It did not open within 20 s. It is served as soon as it has opened."
    assert late in printed.splitlines()
    assert "slow: ready. 103 documents" in capsys.readouterr().out.splitlines()


def _app(board: HealthBoard) -> PortalApp:
    return cast("PortalApp", SimpleNamespace(running=SimpleNamespace(board=board)))


def test_facts_are_counted_in_words() -> None:
    facts = {"documents": 1200, "miniPrompts": 28, "old_pages": 2, "errors": 0, "problems": []}
    assert welcome._counts(Health(facts=facts)) == "1,200 documents, 28 mini prompts, 2 old pages"
    assert welcome._counts(Health(facts={"skills": 1, "openRuns": 1})) == "1 skill, 1 open run"
    assert welcome._counts(Health(facts={"repositories": 1, "entities": 2})) == (
        "1 repository, 2 entities"
    )


@pytest.mark.parametrize(
    "started_as", [".venv/bin/porch", "gateway/cli/__main__.py"], ids=["by name", "by --reload"]
)
def test_it_shows_the_program_as_it_can_be_typed(
    started_as: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", [str(tmp_path / started_as), "serve"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv/bin/python"))
    assert welcome._program() == ".venv/bin/porch"
