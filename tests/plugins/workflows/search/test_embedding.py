"""The vector of a text, and what becomes of it without a model or with a failing one."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import numpy as np
import pytest

from plugins.workflows.search.embedding import embed_texts, make_embed, vector_from_bytes
from tests.plugins.workflows.search.words_model import WordsModel


class Failing(WordsModel):
    """A model that cannot be opened."""

    async def passages(self, texts: Any) -> Any:
        raise RuntimeError("no such file")


async def test_a_text_has_the_vector_of_its_model_as_little_endian_floats() -> None:
    model = WordsModel()
    name, stored = await make_embed(model)("to rake the leaves")
    assert name == model.model
    assert stored is not None
    assert len(stored) == 4 * model.dimensions
    (expected,) = await model.passages(["to rake the leaves"])
    assert np.allclose(np.frombuffer(stored, "<f4"), expected)
    assert np.array_equal(vector_from_bytes(stored), np.frombuffer(stored, "<f4"))


async def test_the_vector_is_in_the_middle_between_head_and_body_and_of_length_one() -> None:
    model = WordsModel()
    rake = "Rake\nautumn\nGather leaves\nThen burn them"
    one, two = await embed_texts(model, [rake, "Sweep"])
    head, body, alone = await model.passages(["Rake. Gather leaves", "Then burn them", "Sweep"])
    assert np.isclose(np.linalg.norm(vector_from_bytes(one)), 1)
    assert np.isclose(vector_from_bytes(one) @ head, vector_from_bytes(one) @ body)
    assert np.allclose(vector_from_bytes(two), alone)


async def test_without_a_model_there_is_none() -> None:
    assert await make_embed(None)("to rake the leaves") == (None, None)


async def test_a_model_that_fails_gives_none_and_a_line_in_the_log() -> None:
    lines: list[tuple[str, dict[str, Any]]] = []

    class Log:
        def warning(self, event: str, **values: Any) -> None:
            lines.append((event, values))

    log: Any = Log()
    assert await make_embed(Failing(), log)("to rake the leaves") == (None, None)
    assert lines == [("workflows_not_embedded", {"reason": "no such file"})]


async def test_a_model_that_never_answers_holds_up_no_writing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Hanging(WordsModel):
        async def passages(self, texts: Any) -> Any:
            await asyncio.Event().wait()

    monkeypatch.setattr("plugins.workflows.search.embedding.EMBED_TIMEOUT_S", 0.1)
    assert await make_embed(Hanging())("to rake the leaves") == (None, None)


async def test_a_model_that_fails_is_told_of_without_a_log_too(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert await make_embed(Failing())("to rake the leaves") == (None, None)
    assert "no such file" in capsys.readouterr().out + caplog.text
