"""Known models are pooled and prefixed as their authors do it; unknown ones as ever."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateway.services.embedding.model_profiles import Profile, of_directory, of_name
from gateway.services.embedding.onnx_text import OnnxText
from gateway.services.embedding.sentence_models import OnnxSentences
from gateway.services.embedding.service import open_embedder
from tests.gateway.services.embedding.tiny_models import sentence_encoder, token_encoder


@pytest.mark.parametrize(
    ("name", "pooling", "query", "passage"),
    [
        ("intfloat/multilingual-e5-large", "mean", "query: ", "passage: "),
        ("multilingual-e5-small-int8", "mean", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "mean", "Instruct: ", ""),
        ("BAAI/bge-small-en-v1.5", "cls", "Represent this sentence", ""),
        ("BAAI/bge-m3", "cls", "", ""),
        ("BAAI/bge-small-zh-v1.5", "cls", "\u4e3a\u8fd9\u4e2a\u53e5\u5b50", ""),
        ("snowflake/snowflake-arctic-embed-s", "cls", "Represent this sentence", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "cls", "query: ", ""),
        ("nomic-ai/nomic-embed-text-v1.5-Q", "mean", "search_query: ", "search_document: "),
        ("Qwen/Qwen3-Embedding-0.6B", "last", "Instruct: ", ""),
        ("thenlper/gte-base", "mean", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "mean", "", ""),
        ("nature57-notes", "mean", "", ""),
    ],
)
def test_a_family_is_known_by_its_name(name: str, pooling: str, query: str, passage: str) -> None:
    found = of_name(name)
    assert found.pooling == pooling
    assert found.query.startswith(query)
    assert bool(found.query) == bool(query)
    assert found.passage == passage


def test_what_the_files_say_goes_before_the_family(tmp_path: Path) -> None:
    directory = tmp_path / "bge-ours"
    (directory / "1_Pooling").mkdir(parents=True)
    assert of_directory(directory).pooling == "cls"
    pooling = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    (directory / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    prompts = {"prompts": {"query": "ask: ", "document": "read: "}}
    (directory / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    assert of_directory(directory) == Profile("mean", "ask: ", "read: ")


def test_a_directory_without_a_telling_name_says_what_it_was_made_of(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"_name_or_path": "intfloat/e5-base-v2"}')
    assert of_directory(tmp_path).passage == "passage: "


def test_broken_files_are_as_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[1")
    (tmp_path / "config_sentence_transformers.json").write_text("[]")
    assert of_directory(tmp_path) == Profile()


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_a_model_is_pooled_as_its_profile_says(tmp_path: Path, pooling: str) -> None:
    directory = token_encoder(tmp_path / "tokens")
    texts = ["porch door garden", "hat"]
    tokens, mask = OnnxText(directory).run(texts)
    assert tokens.ndim == 3
    real = [row[: int(ones.sum())] for row, ones in zip(tokens, mask, strict=True)]
    wanted: dict[str, Any] = {
        "mean": [one.sum(0) for one in real],
        "cls": tokens[:, 0],
        "last": [one[-1] for one in real],
    }
    rows = np.array(wanted[pooling])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    made = OnnxSentences(directory, Profile(pooling)).passages(texts)  # type: ignore[arg-type]
    np.testing.assert_allclose(made, rows, atol=1e-5)


async def test_prefixes_are_put_before_questions_and_stored_texts(tmp_path: Path) -> None:
    plain = OnnxSentences(sentence_encoder(tmp_path / "plain"))
    embedder = open_embedder(str(sentence_encoder(tmp_path / "nomic-embed-tiny")))
    assert embedder is not None
    for made, text in (
        (await embedder.query("hat"), "search_query: hat"),
        ((await embedder.passages(["hat"]))[0], "search_document: hat"),
    ):
        np.testing.assert_allclose(made, plain.query(text), atol=1e-5)
    await embedder.close()


def test_vectors_of_another_way_of_use_have_another_identity(tmp_path: Path) -> None:
    named, plain = (sentence_encoder(tmp_path / name) for name in ("e5-tiny", "tiny"))
    assert "+" in identity(str(named))
    assert "+" not in identity(str(plain))
    assert "+" in identity("BAAI/bge-small-en-v1.5")
    assert identity("thenlper/gte-base") == "fastembed:thenlper/gte-base"


def identity(setting: str) -> str:
    embedder = open_embedder(setting)
    assert embedder is not None
    return embedder.model
