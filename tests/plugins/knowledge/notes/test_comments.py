"""What an author writes between percent signs is for nobody else; code and prose stay."""

from __future__ import annotations

import time

import pytest

from plugins.knowledge.notes.comments import without_comments


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("One %%hidden%% two.", "One  two."),
        ("One.\n\n%%\nhidden\n\n```\nhidden\n```\n%%\n\nTwo.", "One.\n\n\n\nTwo."),
        ("One.\n\n  %% hidden\n\nhidden to the end", "One.\n\n  "),
        ("%%a%% %%b%%One.", " One."),
    ],
)
def test_a_comment_is_left_out(written: str, left: str) -> None:
    assert without_comments(written) == left


@pytest.mark.parametrize(
    "written",
    [
        "Say `%%` twice, `%%` indeed.",
        "```mermaid\n%% a remark\ngraph LR\n%% another\n```\nOne.",
        "~~~\n%%\n~~~\nOne.",
        "> ```\n> %%\n> ```\nOne.",
        "I am 100%% sure.",
        "Half of it: 50%.",
        "```\n%% code that nothing closes",
    ],
)
def test_code_and_signs_that_nothing_closes_stay(written: str) -> None:
    assert without_comments(written) == written


@pytest.mark.parametrize("part", ["%%", "`", "```\n", "%% ", " %%\n", "`%%"])
def test_a_hostile_text_is_read_in_time(part: str) -> None:
    started = time.process_time()
    without_comments(part * 100_000)
    assert time.process_time() - started < 20
