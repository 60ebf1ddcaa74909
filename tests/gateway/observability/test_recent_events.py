"""What happened to the process of late, as the log's lines tell it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from gateway.observability import logs
from gateway.observability import recent_events as module
from gateway.observability.recent_events import KEPT_EVENTS, Lately
from gateway.observability.redaction import Redactor

SECRET = "correct-horse-battery-staple"


def noted(*events: dict[str, Any]) -> list[tuple[str, int]]:
    """What is told after some events: the sentences, and how often each was said in a row."""
    lately = Lately()
    for event in events:
        assert lately.step(None, "info", event) is event
    return [(each["said"], each["times"]) for each in lately.told()]


def test_what_changes_is_told_in_sentences_and_the_rest_of_the_log_is_not() -> None:
    away = {"event": "server_away", "server": "PostgreSQL at db:5432", "reason": "refused"}
    back = {"event": "server_back", "server": "PostgreSQL at db:5432", "seconds": 4.2}
    assert noted(away, {"event": "indexed", "documents": 3}, back) == [
        ("PostgreSQL at db:5432 stopped answering: refused", 1),
        ("PostgreSQL at db:5432 answers again, after 4.2 s", 1),
    ]


def test_the_same_again_is_counted() -> None:
    given_back = {"event": "jobs_of_a_dead_replica_given_back", "jobs": ["a", "b"]}
    said = "Jobs of a dead replica go on: a, b"
    assert noted(given_back, dict(given_back)) == [(said, 2)]


def test_a_plugin_is_told_of_when_it_fails_and_when_it_is_well_again() -> None:
    def health(state: str, detail: str = "") -> dict[str, Any]:
        return {"event": "plugin_health", "plugin": "k", "state": state, "detail": detail}

    found = noted(health("starting"), health("ok"), health("failed", "No rain."), health("ok"))
    assert [said for said, _ in found] == ["The plugin k is failed: No rain.", "The plugin k is ok"]


def test_a_line_without_its_values_is_told_all_the_same() -> None:
    assert noted({"event": "server_away"}) == [("stopped answering", 1)]


def test_only_so_many_are_kept_the_newest() -> None:
    found = noted(
        *({"event": "audit_not_written", "error": str(n)} for n in range(KEPT_EVENTS + 5))
    )
    assert len(found) == KEPT_EVENTS
    assert found[-1] == (f"Audit records wait: {KEPT_EVENTS + 4}", 1)


def test_no_secret_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Redactor()
    own.register(SECRET)
    monkeypatch.setattr(module, "redactor", own)
    [(said, _)] = noted({"event": "server_away", "server": "db", "reason": f"no {SECRET}"})
    assert SECRET not in said


def test_what_is_not_printed_is_remembered_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = Lately()
    monkeypatch.setattr(logs, "LATELY", own)
    root = logging.getLogger()
    before = root.handlers, root.level
    try:
        logs.configure("warning", json=True)
        log = logs.get_logger("gateway.sample")
        log.info("server_back", server="Redis", seconds=2)
        log.info("something_else")
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
        logs.configure("warning")
    assert [each["said"] for each in own.told()] == ["Redis answers again, after 2 s"]
    assert capsys.readouterr().err == ""
