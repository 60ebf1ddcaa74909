"""A text model in ONNX format with its tokenizer, run directly by onnxruntime.

Why not through fastembed: ``docs/decisions/0010-embedding.md``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gateway.services.embedding.model_files import ModelUnavailable, model_file

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

Text = str | tuple[str, str]
"""One text, or a question and a passage that a cross-encoder reads together."""

DEFAULT_MAX_TOKENS = 512
MAX_CHARACTERS_PER_TOKEN = 32
"""Text beyond this many characters per token of the limit is not even looked at."""


class OnnxText:
    """An ONNX model that reads tokens.

    Args:
        directory: holds ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and, for the
            length limit, ``tokenizer_config.json``.

    Raises:
        ModelUnavailable: a file is missing or cannot be read.
    """

    def __init__(self, directory: Path) -> None:
        model = model_file(directory)
        try:
            self.max_tokens = _max_tokens(directory)
            self._tokenizer = _open_tokenizer(directory / "tokenizer.json", self.max_tokens)
            self._session = _open_session(model)
        except Exception as error:  # the libraries raise bare exceptions for unreadable files
            raise ModelUnavailable(f"The model in {directory} cannot be read: {error}") from error
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def run(self, texts: Sequence[Text]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Run the model once.

        Args:
            texts: padded to the longest of them, so best of similar length.

        Returns:
            The first output as float32, its first axis the texts; and the attention mask, int64
            of shape (texts, tokens), 1 for a real token.
        """
        rows = self._tokenizer.encode_batch([clean(text, self.max_tokens) for text in texts])
        mask = _matrix([row.attention_mask for row in rows])
        feed = {"input_ids": _matrix([row.ids for row in rows]), "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = _matrix([row.type_ids for row in rows])
        output: Any = self._session.run(None, feed)[0]
        return output.astype(np.float32, copy=False), mask


def _max_tokens(directory: Path) -> int:
    settings = directory / "tokenizer_config.json"
    stated = json.loads(settings.read_bytes()) if settings.is_file() else {}
    # Files without a limit state an astronomically large one.
    return min(int(stated.get("model_max_length", DEFAULT_MAX_TOKENS)), 8192)


def _open_tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    padding = tokenizer.padding or {}
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding(
        pad_id=padding.get("pad_id", tokenizer.token_to_id("[PAD]") or 0),
        pad_token=padding.get("pad_token", "[PAD]"),
    )
    return tokenizer


def _open_session(file: Path) -> InferenceSession:
    """Open the model for a server that does other things too (figures in the decision record).

    No spinning: waiting threads would take the cores from everyone else. No memory arena: it
    keeps the memory of the longest batch for ever.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(os.cpu_count() or 1, 4)
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def clean(text: Text, max_tokens: int) -> Any:
    """Cut what no token limit can reach, and replace lone surrogates, which are not text."""
    if isinstance(text, tuple):
        return tuple(clean(part, max_tokens) for part in text)
    cut = text[: max_tokens * MAX_CHARACTERS_PER_TOKEN]
    return cut.encode("utf-8", "replace").decode("utf-8")


def _matrix(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.asarray(rows, dtype=np.int64)
