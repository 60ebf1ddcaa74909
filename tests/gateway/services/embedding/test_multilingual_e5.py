"""The multilingual model: its package's file is read right, and it brings languages together."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest

from gateway.services.embedding import multilingual_e5, service
from gateway.services.embedding.bert_onnx import build
from gateway.services.embedding.model_files import ModelUnavailable
from gateway.services.embedding.model_profiles import of_name
from gateway.services.embedding.multilingual_e5 import PackedModel, read, tokenizer
from gateway.services.embedding.sentence_models import OnnxSentences

HIDDEN, INNER = 32, 64
PIECES = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "\u2581",
    "\u2581porch",
    "\u2581door",
    "s",
    "\u4f11\u6687",
]


def packed(seed: int = 0) -> tuple[bytes, dict[str, Any]]:
    """A tiny model in the package's layout, and the tensors that are in it."""
    rng = np.random.default_rng(seed)
    layer = {
        **{f"l0.{part}.w": (HIDDEN, HIDDEN) for part in ("q", "k", "v", "ao")},
        **{f"l0.{part}.b": (HIDDEN,) for part in ("q", "k", "v", "ao", "aln", "oln", "fo")},
        **{f"l0.{part}.w": (HIDDEN,) for part in ("aln", "oln")},
        **{"l0.fi.w": (INNER, HIDDEN), "l0.fi.b": (INNER,), "l0.fo.w": (HIDDEN, INNER)},
    }
    shapes = {
        "emb.word": (len(PIECES), HIDDEN),
        "emb.pos": (16, HIDDEN),
        "emb.type": (2, HIDDEN),
        "emb.ln.w": (HIDDEN,),
        "emb.ln.b": (HIDDEN,),
        **layer,
    }
    tensors, parts = {}, {}
    for name, shape in shapes.items():
        if len(shape) == 2 and name not in ("emb.pos", "emb.type"):
            tensors[name], parts[name] = quantised(rng, shape)
        else:
            tensors[name] = rng.normal(size=shape).astype("<f4")
            parts[name] = tensors[name].tobytes()
    return file(parts, shapes), tensors


def quantised(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, bytes]:
    """A matrix whose weights 4 bits hold exactly, and its blocks."""
    numbers = rng.integers(0, 16, size=(shape[0] * shape[1] // 32, 32)).astype(np.uint8)
    scales = rng.uniform(0.01, 0.1, len(numbers)).astype("<f2")
    blocks = b"".join(
        scale.tobytes() + (row[:16] | row[16:] << 4).tobytes()
        for scale, row in zip(scales, numbers, strict=True)
    )
    values = (numbers.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]
    return values.reshape(shape), blocks


def file(parts: dict[str, bytes], shapes: dict[str, tuple[int, ...]]) -> bytes:
    """The parts in the layout of the package's file."""
    texts = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, texts)]).astype("<u4")
    scores = np.linspace(0, -3, len(texts)).astype("<f4")
    blob = b"".join(texts)
    head = b"E5S1" + struct.pack("<i7ifi", 1, HIDDEN, 1, 2, INNER, len(PIECES), 16, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(texts), 0, 2, 1, 3, len(blob))
    head += starts.tobytes() + scores.tobytes() + blob + struct.pack("<iI", 0, 0)
    names = {name: struct.pack("<H", len(name)) + name.encode() for name in parts}
    size = len(head) + 4 + sum(len(name) + 21 for name in names.values())
    directory, body = struct.pack("<i", len(parts)), b""
    for name, part in parts.items():
        is_packed = len(part) < 4 * int(np.prod(shapes[name]))
        entry = (int(is_packed), int(np.prod(shapes[name])), size + len(body), len(part))
        directory += names[name] + struct.pack("<BIQQ", *entry)
        body += part
    return head + directory + body


def test_every_tensor_is_read_with_its_name_and_shape() -> None:
    data, wanted = packed()
    found = read(data)
    assert found.shape.hidden == HIDDEN
    assert found.special == (0, 2, 1, 3)
    assert [piece for piece, _ in found.pieces] == PIECES
    assert len(found.tensors) == len(wanted)
    for name, full in {
        "emb.word": "embeddings.word_embeddings.weight",
        "emb.ln.b": "embeddings.LayerNorm.bias",
        "l0.fo.w": "encoder.layer.0.output.dense.weight",
        "l0.aln.w": "encoder.layer.0.attention.output.LayerNorm.weight",
    }.items():
        np.testing.assert_allclose(found.tensors[full], wanted[name], rtol=1e-6)


def test_the_graph_runs_on_what_was_read() -> None:
    model = read(packed()[0])
    session = onnxruntime.InferenceSession(build(model.shape, model.tensors).SerializeToString())
    ids = np.array([tokenizer(model).encode("porch doors").ids])
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": ids * 0}
    vector = session.run(None, feed)[0]
    assert vector.shape == (1, HIDDEN)
    np.testing.assert_allclose(np.linalg.norm(vector), 1, atol=1e-5)


def test_text_is_cut_as_the_vocabulary_says() -> None:
    made = tokenizer(
        PackedModel(
            read(packed()[0]).shape,
            list(zip(PIECES, [0.0] * 4 + [-1.0] * 5, strict=True)),
            (0, 2, 1, 3),
            {},
        )
    )
    assert made.encode("porch\t\n \uff44\uff4f\uff4f\uff52s\x07").tokens == [
        "<s>",
        "\u2581porch",
        "\u2581door",
        "s",
        "</s>",
    ]
    assert "\u4f11\u6687" in made.encode("\u4f11\u6687").tokens


def test_another_file_is_refused() -> None:
    with pytest.raises(ModelUnavailable, match="unknown layout"):
        read(b"ONNX" + bytes(100))


def test_without_the_package_the_setting_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    monkeypatch.setattr(multilingual_e5, "PACKAGE", "no-such-package-here")
    with pytest.raises(ModelUnavailable, match="make multilingual"):
        service.open_embedder("multilingual")


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_a_question_is_near_its_answer_in_another_language() -> None:
    if not multilingual_e5.is_installed():
        pytest.skip(f"{multilingual_e5.PACKAGE} is not installed: run 'make multilingual'.")
    model = OnnxSentences(multilingual_e5.prepare(), of_name("multilingual-e5-small"))
    leave, travel = model.passages(
        ["How to ask for parental leave.", "Hotel and train costs are paid back."]
    )
    for question in (
        "Wie beantrage ich Elternzeit?",
        "\u80b2\u5150\u4f11\u6687\u306f\u3069\u3046\u7533\u8acb\u3057\u307e\u3059\u304b",
        "\u00bfC\u00f3mo pido un permiso parental?",
    ):
        asked = model.query(question)
        assert asked @ leave > asked @ travel + 0.05
