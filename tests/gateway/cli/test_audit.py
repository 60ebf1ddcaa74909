"""``porch audit`` reads the record of calls."""

from __future__ import annotations

import json
import queue
import sys
from os import environ
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread

import pytest

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import Run

FLUSHED = {"PYTHONUNBUFFERED": "1"}


@pytest.fixture
def called(porch: Run) -> Run:
    """A portal on which two calls were made."""
    porch("call", "search_knowledge", "query=very private words")
    porch("call", "get_document", "contentType=tag", "id=garden", "--as", "open")
    return porch


def test_records_are_shown_newest_first_without_values(called: Run) -> None:
    result = called("audit")
    head, newest, oldest = result.output.splitlines()
    assert head.split() == ["time", "tier", "outcome", "took", "answer", "person", "item"]
    assert "not_allowed" in newest
    assert oldest.endswith("knowledge/search_knowledge")
    assert "private" not in result.output


def test_they_can_be_narrowed(called: Run) -> None:
    (record,) = json.loads(called("audit", "--outcome", "ok", "--since", "1h", "--json").stdout)
    assert record["item"] == "knowledge/search_knowledge"
    assert called("audit", "--tier", "public").output == "No call matches.\n"
    assert len(json.loads(called("audit", "--limit", "1", "--json").stdout)) == 1


def test_a_span_that_is_none_is_a_usage_error(porch: Run) -> None:
    assert porch("audit", "--since", "yesterday").exit_code == EXIT.USAGE


def test_a_directory_without_records_is_named(porch: Run) -> None:
    result = porch("audit")
    assert result.exit_code == EXIT.CONFIG
    assert "no portal has kept a record here" in result.output


def test_an_end_may_be_a_span_or_a_time(called: Run) -> None:
    assert called("audit", "--until", "1h").output == "No call matches.\n"
    assert called("audit", "--until", "2020-01-01").output == "No call matches.\n"
    assert len(json.loads(called("audit", "--since", "2020-01-01T10:00", "--json").stdout)) == 2


def test_calls_are_summed_by_tool_and_by_person(called: Run) -> None:
    head, *rows = called("audit", "--by", "tool").output.splitlines()
    assert head.split() == ["calls", "not", "ok", "mean", "answers", "last", "tool"]
    assert [row.split()[-1] for row in rows] == [
        "knowledge/get_document",
        "knowledge/search_knowledge",
    ]
    assert rows[0].split()[:2] == ["1", "1"]
    (local,) = json.loads(called("audit", "--by", "person", "--json").stdout)
    assert (local["name"], local["calls"], local["failed"]) == ("local", 2, 1)


def test_what_is_followed_is_not_summed_up(called: Run) -> None:
    result = called("audit", "--follow", "--by", "tool")
    assert result.exit_code == EXIT.USAGE
    assert "without --by and --until" in result.output


def test_calls_are_followed_as_they_come(called: Run, place: Path) -> None:
    command = [sys.executable, "-m", "gateway.cli", "audit", "--follow", "--json"]
    with Popen(command, cwd=place, stdout=PIPE, text=True, env=environ | FLUSHED) as following:
        output = following.stdout
        assert output is not None
        try:
            line: queue.Queue[str] = queue.Queue()
            Thread(target=lambda: line.put(output.readline()), daemon=True).start()
            while line.empty():  # it shows what comes once it has begun to look
                called("call", "search_knowledge", "query=words", "--as", "open")
            record = json.loads(line.get())
        finally:
            following.terminate()
    assert (record["item"], record["outcome"]) == ("knowledge/search_knowledge", "ok")
