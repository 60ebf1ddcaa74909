"""The embedder: order, batching, urgency, counting, and models that cannot be had."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.services.embedding import minilm
from gateway.services.embedding import service as embedding
from gateway.services.embedding.model_files import ModelUnavailable
from gateway.services.embedding.onnx_text import OnnxText
from gateway.services.embedding.sentence_models import OnnxSentences
from gateway.services.embedding.service import ThreadedEmbedder, open_embedder, other_model
from tests.gateway.services.embedding.tiny_models import sentence_encoder, write_tokenizer


class Recorder:
    """A model that remembers the order of its work and can be held up."""

    max_tokens = 256
    dimensions = 2

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.texts: list[str] = []
        self.first = threading.Event()
        self.go_on = threading.Event()

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append("passages")
        self.texts += texts
        self.first.set()
        assert self.go_on.wait(60)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    def query(self, text: str) -> np.ndarray:
        self.calls.append(f"query {text}")
        return np.array([1, 0], dtype=np.float32)


def recorded() -> tuple[Recorder, ThreadedEmbedder]:
    model = Recorder()
    return model, ThreadedEmbedder(lambda: "recorder", lambda: model)


async def test_vectors_come_back_in_the_order_of_the_texts(tmp_path: Path) -> None:
    directory = sentence_encoder(tmp_path / "tiny")
    embedder = open_embedder(str(directory))
    assert embedder is not None
    texts = ["porch " * n for n in (40, 1, 7, 0, 3, 1)] + ["hat river", "wallet"]
    vectors = await embedder.passages(texts)
    alone = np.stack([OnnxSentences(directory).query(text) for text in texts])
    assert vectors.shape == (len(texts), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    await embedder.close()


async def test_no_texts_give_an_empty_matrix(tmp_path: Path) -> None:
    embedder = open_embedder(str(sentence_encoder(tmp_path / "tiny")))
    assert embedder is not None
    assert (await embedder.passages([])).shape == (0, 8)
    assert embedder.usage.texts == 0
    await embedder.close()


@given(st.lists(st.integers(0, 3000), max_size=60), st.sampled_from((128, 512)))
def test_batches_hold_every_row_once_and_keep_to_their_size(lengths: list[int], most: int) -> None:
    texts = ["x" * length for length in lengths]
    batches = list(embedding._batches(texts, most))
    assert sorted(row for batch in batches for row in batch) == list(range(len(texts)))
    for batch in batches:
        longest = min(max(lengths[row] for row in batch) // 4 + 2, minilm.MAX_TOKENS)
        assert len(batch) == 1 or len(batch) * longest <= most


async def test_a_few_texts_go_before_the_many_that_wait() -> None:
    model, embedder = recorded()
    indexing = asyncio.create_task(embedder.passages(["word " * 300] * 20))
    await asyncio.to_thread(model.first.wait, 20)
    writing = asyncio.create_task(embedder.passages(["an entry of memory"]))
    await asyncio.sleep(0)
    model.go_on.set()
    await asyncio.gather(writing, indexing)
    assert "an entry of memory" in model.texts[:4]


async def test_a_query_goes_before_the_batches_that_wait() -> None:
    model, embedder = recorded()
    indexing = asyncio.create_task(embedder.passages(["word " * 300] * 20))
    await asyncio.to_thread(model.first.wait, 20)
    asking = asyncio.create_task(embedder.query("now"))
    await asyncio.sleep(0)
    model.go_on.set()
    await asyncio.gather(asking, indexing)
    assert model.calls[:2] == ["passages", "query now"]
    assert model.calls.count("passages") > 1
    await embedder.close()


async def test_a_cancelled_index_run_leaves_no_work_behind() -> None:
    model, embedder = recorded()
    indexing = asyncio.create_task(embedder.passages(["word " * 300] * 40))
    await asyncio.to_thread(model.first.wait, 20)
    indexing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await indexing
    model.go_on.set()
    await embedder.query("after")
    assert model.calls == ["passages", "query after"]
    await embedder.close()


async def test_the_loop_goes_on_while_the_model_works() -> None:
    model, embedder = recorded()
    indexing = asyncio.create_task(embedder.passages(["text"]))
    await asyncio.to_thread(model.first.wait, 20)
    await asyncio.sleep(0)
    assert not indexing.done()
    model.go_on.set()
    await indexing
    await embedder.close()


async def test_usage_counts_texts_runs_and_seconds_but_not_loading() -> None:
    model, embedder = recorded()
    model.go_on.set()
    await embedder.warm()
    assert (embedder.usage.texts, embedder.usage.calls, embedder.usage.seconds) == (0, 0, 0.0)
    started = time.perf_counter()
    await embedder.passages(["a", "b", "c"])
    await embedder.query("q")
    assert (embedder.usage.texts, embedder.usage.calls) == (4, 2)
    assert 0 < embedder.usage.seconds <= time.perf_counter() - started
    await embedder.close()


async def test_a_failing_load_fails_the_call_and_the_next_call_tries_again() -> None:
    model = Recorder()
    attempts: Iterator[ModelUnavailable | Recorder] = iter([ModelUnavailable("not yet"), model])

    def load() -> Recorder:
        outcome = next(attempts)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    embedder = ThreadedEmbedder(lambda: "recorder", load)
    with pytest.raises(ModelUnavailable, match="not yet"):
        await embedder.query("first")
    assert (await embedder.query("second")).tolist() == [1, 0]
    await embedder.close()


async def test_after_closing_the_model_opens_again(tmp_path: Path) -> None:
    embedder = open_embedder(str(sentence_encoder(tmp_path / "tiny")))
    assert embedder is not None
    before = await embedder.query("porch")
    await embedder.close()
    np.testing.assert_array_equal(await embedder.query("porch"), before)
    await embedder.close()


@pytest.mark.parametrize("text", ["", "\x00\x07", "\ud800 lone surrogate", "porch " * 20_000])
async def test_odd_texts_still_give_a_unit_vector(tmp_path: Path, text: str) -> None:
    embedder = open_embedder(str(sentence_encoder(tmp_path / "tiny")))
    assert embedder is not None
    assert np.linalg.norm(await embedder.query(text)) == pytest.approx(1, abs=1e-5)
    await embedder.close()


def test_a_model_that_gives_one_vector_a_token_is_pooled_by_the_mean(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    from gateway.services.embedding.bert_onnx import build
    from tests.gateway.services.embedding.tiny_models import TINY, tiny_weights

    pooled = sentence_encoder(tmp_path / "pooled")
    model = build(TINY, tiny_weights())
    tokens = model.graph.node[-3].input[0]  # what the pooling multiplies with the mask
    del model.graph.node[-3:]
    del model.graph.output[:]
    shape = ("texts", "tokens", TINY.hidden)
    model.graph.output.append(helper.make_tensor_value_info(tokens, TensorProto.FLOAT, shape))
    directory = tmp_path / "tokens"
    directory.mkdir()
    onnx.save(model, directory / "model.onnx")
    write_tokenizer(directory)
    texts = ["porch door garden", "hat"]
    np.testing.assert_allclose(
        OnnxSentences(directory).passages(texts), OnnxSentences(pooled).passages(texts), atol=1e-5
    )


def test_the_model_s_name_changes_with_its_weights(tmp_path: Path) -> None:
    one = open_embedder(str(sentence_encoder(tmp_path / "a" / "tiny", seed=1)))
    two = open_embedder(str(sentence_encoder(tmp_path / "b" / "tiny", seed=2)))
    assert one is not None
    assert two is not None
    assert one.model.startswith("tiny-")
    assert one.model != two.model


def test_none_means_no_embedder() -> None:
    assert open_embedder("none") is None


def test_a_directory_without_a_model_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"needs model\.onnx and tokenizer\.json"):
        open_embedder(str(tmp_path))
    with pytest.raises(ModelUnavailable, match=r"absent is not a model directory"):
        open_embedder(str(tmp_path / "absent"))


def test_an_unreadable_model_is_named(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        OnnxText(tmp_path)


async def test_an_unknown_name_and_a_model_not_fetched_fail_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    for name, reason in (
        ("no/such-model", "knows no model 'no/such-model'"),
        ("multilingal", "knows no model 'multilingal'; did you mean multilingual[?]"),
        ("BAAI/bge-small-en-v1.5", r"Fetch it once.*embedding\.service BAAI/bge-small-en-v1\.5"),
    ):
        embedder = open_embedder(name)
        assert embedder is not None
        assert embedder.model.startswith(f"fastembed:{name}")
        with pytest.raises(ModelUnavailable, match=reason):
            await embedder.warm()
        await embedder.close()


def test_a_model_that_cannot_be_fetched_says_why_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("no directory")
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ModelUnavailable, match=r"could not be fetched to .*: .*HF_ENDPOINT") as no:
        embedding.prepare("BAAI/bge-small-en-v1.5")
    assert "Not a directory" in str(no.value)
    assert "Fetch it once" not in str(no.value)


async def test_the_embedded_model_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not minilm.is_installed():
        pytest.skip(f"{minilm.PACKAGE} is not installed: run 'make install'.")
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    embedder = open_embedder("embedded")
    assert embedder is not None
    assert embedder.dimensions == 384
    assert embedder.model == minilm.location().name
    near, far = await embedder.passages(["tiers of access", "a recipe for soup"])
    asked = await embedder.query("Who has access to what?")
    assert asked @ near > asked @ far
    await embedder.close()


async def test_a_model_is_opened_by_its_name_beside_the_portals_own() -> None:
    portal = open_embedder("embedded")
    assert portal is not None
    async with other_model(portal.model) as other:
        assert other is not None
        asked, again = await other.query("a gate"), await portal.query("a gate")
        assert other.model == portal.model
        assert np.allclose(asked, again)
    await portal.close()


@pytest.mark.parametrize("name", ["keyword", "tiny-0123456789", "fastembed:nobody/has-this"])
async def test_a_model_that_this_machine_has_not_is_none(name: str) -> None:
    async with other_model(name) as other:
        assert other is None
