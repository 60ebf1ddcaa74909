"""The reranker, on a tiny cross-encoder that counts the word "porch" in the passage."""

import math
from pathlib import Path

import pytest

from gateway.services.embedding import reranker as reranking
from gateway.services.embedding.model_files import ModelUnavailable
from gateway.services.embedding.reranker import open_reranker
from tests.gateway.services.embedding.tiny_models import cross_encoder


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


async def test_scores_are_sigmoids_in_the_order_given(tmp_path: Path) -> None:
    reranker = open_reranker(str(cross_encoder(tmp_path / "counts")))
    assert reranker is not None
    passages = ["door", "porch", "porch hat porch river porch", ""] * 5
    scores = await reranker.scores("porch porch porch", passages)
    assert scores == pytest.approx([sigmoid(n) for n in (-1, 1, 5, -1)] * 5)
    assert reranker.usage.texts == len(passages)
    assert reranker.model.startswith("counts-")
    await reranker.close()


async def test_no_passages_need_no_model(tmp_path: Path) -> None:
    reranker = open_reranker(str(cross_encoder(tmp_path / "counts")))
    assert reranker is not None
    assert await reranker.scores("anything", []) == []
    assert reranker.usage.calls == 0
    await reranker.close()


async def test_texts_that_are_too_long_are_cut_on_both_sides(tmp_path: Path) -> None:
    reranker = open_reranker(str(cross_encoder(tmp_path / "counts")))
    assert reranker is not None
    [score] = await reranker.scores("garden " * 50_000, ["porch " * 50_000])
    assert 0.9 < score <= 1
    await reranker.close()


async def test_extreme_judgements_stay_within_0_and_1() -> None:
    assert reranking._sigmoid(-1e4) == 0
    assert reranking._sigmoid(0) == 0.5
    assert reranking._sigmoid(1e4) == 1


def test_none_means_no_reranker() -> None:
    assert open_reranker("none") is None


def test_a_directory_without_a_model_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"needs model\.onnx"):
        open_reranker(str(tmp_path))


async def test_a_named_model_that_was_not_fetched_fails_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    reranker = open_reranker("Xenova/ms-marco-MiniLM-L-6-v2")
    assert reranker is not None
    with pytest.raises(ModelUnavailable, match=r"Fetch it once.*embedding\.reranker Xenova"):
        await reranker.scores("question", ["passage"])
    await reranker.close()
