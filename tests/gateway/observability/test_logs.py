from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
import structlog
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.observability import logs
from gateway.observability.redaction import MARK, MIN_SECRET_CHARACTERS, Redactor

SECRET = 'correct "horse" battery'


@pytest.fixture(autouse=True)
def redactor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Redactor]:
    """A redactor of the test's own; afterwards the process has its loggers back."""
    own = Redactor()
    monkeypatch.setattr(logs, "redactor", own)
    loggers = [logging.getLogger(name) for name in (None, *logs._LIBRARIES)]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    yield own
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_is_json_with_time_level_logger_and_request_id(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("info", json=True)
    token = logs.request_id.set("r-1")
    logs.get_logger("gateway.sample").info("indexed", documents=3)
    logs.request_id.reset(token)
    (line,) = lines(capsys)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "indexed",
        "level": "info",
        "logger": "gateway.sample",
        "request_id": "r-1",
        "documents": 3,
    }


@pytest.mark.parametrize("name", ["uvicorn.error", "sqlalchemy.pool", "dbos", "httpx", "other"])
def test_library_logs_take_the_same_way(capsys: pytest.CaptureFixture[str], name: str) -> None:
    logs.configure("info", json=True)
    logging.getLogger(name).warning("lost %s", {"token": "abc"}, extra={"cookie": "c"})
    (line,) = lines(capsys)
    assert line["logger"] == name
    assert line["cookie"] == MARK
    assert "abc" not in line["event"]


def test_dbos_keeps_our_handler_when_it_starts_its_own_logging(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from dbos._logger import init_logger

    logs.configure("info", json=True)
    init_logger()
    logging.getLogger("dbos").warning("queued")
    assert len(lines(capsys)) == 1


@pytest.mark.parametrize("json_lines", [True, False])
def test_a_traceback_shows_code_and_neither_locals_nor_secrets(
    capsys: pytest.CaptureFixture[str], redactor: Redactor, json_lines: bool
) -> None:
    logs.configure("info", json=json_lines)
    redactor.register(SECRET)
    value_of_a_local = "only-in-a-local-variable"
    try:
        raise ValueError(f"cannot use {SECRET} {len(value_of_a_local)}")
    except ValueError:
        logs.get_logger("gateway.sample").exception("call_failed", given=[SECRET])
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "ValueError" in shown
    assert shown.count("only-in-a-local-variable") == 0
    assert "horse" not in shown


def test_levels_hide_what_is_below_them(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning", json=True)
    logs.get_logger("gateway.sample").info("quiet")
    logging.getLogger("uvicorn.error").info("quiet too")
    logging.getLogger("httpx").info("GET /?q=private")
    assert capsys.readouterr().err == ""


def test_a_picture_that_is_laid_out_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", json=True)
    logging.getLogger("rust-sugiyama.coordinate_calculation").info("a step of a layout")
    assert capsys.readouterr().err == ""


def test_an_unknown_level_names_the_choices() -> None:
    with pytest.raises(ValueError, match="choose debug, info"):
        logs.configure("loud")


def test_without_a_terminal_lines_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure()
    logs.get_logger("gateway.sample").warning("x")
    assert lines(capsys)[0]["event"] == "x"


def formatted(secret: str, json_lines: bool) -> str:
    """A library's line that holds a secret in its message, its extras and its traceback."""
    try:
        raise ValueError({"given": [secret]})
    except ValueError:
        error = sys.exc_info()
    record = logging.LogRecord(
        "library", logging.INFO, "file.py", 1, "got %s and %r", (secret, (secret,)), error
    )
    record.deep = {"in": [{"a": (secret, secret.encode())}, {secret: 1}], "url": quote(secret)}
    return logs._formatter(json_lines).format(record)


@given(
    secret=st.text(
        st.characters(exclude_characters="*", exclude_categories=["Cs"]),
        min_size=MIN_SECRET_CHARACTERS,
    ),
    json_lines=st.booleans(),
)
def test_a_registered_secret_never_reaches_a_line(secret: str, json_lines: bool) -> None:
    assume(secret not in formatted("harmless words", json_lines))
    own = Redactor()
    own.register(secret)
    with patch.object(logs, "redactor", own):
        line = formatted(secret, json_lines)
    for spelling in (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret)):
        assert spelling not in line
