"""A long answer loses its secrets wherever they stand, and is refused where it is too long."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gateway.catalog.items import Item
from gateway.contract import Relayed, Tool, ToolFailed
from gateway.pipeline.answer_scrub import LONG_ANSWER_CHARACTERS, AnswerScrub
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(1))
MARK = "[REDACTED: GitHub personal access token (classic)]"
WORDS = "some words "


async def never(args: Any, caller: Any) -> str:
    return ""


ITEM = Item("demo", "tool", "tell", Tool("tell", "Tells.", never), {}, dict)


@pytest.mark.parametrize("end", ["", "\n"], ids=["one line", "many lines"])
@pytest.mark.parametrize("before", [0, 23_820, 23_829, 47_600, 71_400, 90_000])
async def test_a_long_text_loses_its_secrets_wherever_they_stand(before: int, end: str) -> None:
    text = (WORDS + end) * before + f" {TOKEN} " + (WORDS + end) * 50_000
    for value in (text, {"rows": [{"text": text}]}, Relayed({"text": text})):
        looked = await AnswerScrub().answer(ITEM, value)
        shown = looked.value.result if isinstance(looked.value, Relayed) else looked.value
        assert TOKEN not in str(shown)
        assert MARK in str(shown)
        assert (len(looked.found), looked.is_long) == (1, True)


async def test_a_long_answer_without_secrets_stays_the_same_object() -> None:
    for value in ([{"text": WORDS * 9}] * 5_000, [1] * 2 * LONG_ANSWER_CHARACTERS, b"\0" * 10**6):
        looked = await AnswerScrub().answer(ITEM, value)
        assert looked.value is value
        assert looked.is_long


async def test_a_long_answer_is_measured_whether_or_not_it_is_looked_through() -> None:
    sizes: list[int] = []

    def check(item: Item, size: int) -> None:
        sizes.append(size)
        raise ToolFailed("too_long", "It is too long.")

    for scrub in (AnswerScrub(), AnswerScrub(enabled=False), AnswerScrub(as_is=("demo",))):
        for value in ("a" * 10**6, b"a" * 10**6, [{"text": "a" * 100}] * 10**4):
            with pytest.raises(ToolFailed):
                await scrub.answer(ITEM, value, check)
            looked = await scrub.answer(ITEM, "short", check)
            assert not looked.is_long
    assert all(10**6 <= size < 1.4 * 10**6 for size in sizes)
