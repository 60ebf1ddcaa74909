"""What programs say is logged, and no more of it than a log can bear."""

from __future__ import annotations

from structlog import get_logger
from structlog.testing import capture_logs

from plugins.upstreams.servers.stderr_log import MAX_LINES, WINDOW_SECONDS, Said


def test_what_is_too_much_is_counted_and_the_next_minute_is_logged_again() -> None:
    now = 0.0
    with capture_logs() as logged:
        said = Said(get_logger(), lambda: now)
        for _ in range(MAX_LINES + 7):
            said("hello")
        assert [each["line"] for each in logged] == ["hello"] * MAX_LINES
        now = WINDOW_SECONDS
        said("again")
    assert logged[-2]["lines_left_out"] == 7
    assert logged[-1]["line"] == "again"


def test_a_line_clears_no_screen() -> None:
    with capture_logs() as logged:
        Said(get_logger())("\x1b[2Jgone \u202eeno")
    assert logged[0]["line"] == "\\x1b[2Jgone \\u202eeno"
