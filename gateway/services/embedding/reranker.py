"""Cross-encoders, which read a question and a passage together and judge how well they fit.

Optional: there is no embedded one. A setting names a fastembed model or a local ONNX directory.
"""

from __future__ import annotations

import asyncio
import functools
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.services.embedding.model_files import (
    ModelUnavailable,
    file_hash,
    is_directory,
    model_file,
)
from gateway.services.embedding.model_thread import ModelThread, Urgency, Usage

if TYPE_CHECKING:
    from gateway.services.embedding.pair_models import PairModel

BATCH_PAIRS = 8
"""How many pairs go to the model at once: twenty candidates take three short runs."""


class ThreadedReranker:
    """A :class:`~gateway.contract.services.Reranker` over a model on its own thread.

    Args:
        identity: says what identifies the model; asked once.
        load: opens the model, at the first use.
    """

    def __init__(self, identity: Callable[[], str], load: Callable[[], PairModel]) -> None:
        self._identity = functools.cache(identity)
        self._thread = ModelThread("reranking", load)

    @property
    def model(self) -> str:
        """The model's identity."""
        return self._identity()

    @property
    def usage(self) -> Usage:
        """How much the model was used so far."""
        return self._thread.usage

    @property
    def waiting(self) -> int:
        """How many batches and questions wait for their turn."""
        return self._thread.waiting

    async def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the query: the sigmoid of the model's judgement.

        Returns:
            One number in 0..1 a passage, in the order given.

        Raises:
            ModelUnavailable: the model cannot be opened.
        """
        logits: list[float] = []
        for start in range(0, len(passages), BATCH_PAIRS):
            batch = passages[start : start + BATCH_PAIRS]
            run = functools.partial(_judge, query, batch)
            judged = self._thread.submit(Urgency.QUERY, len(batch), run)
            waiting = asyncio.wrap_future(judged)
            logits += await waiting
        return [_sigmoid(value) for value in logits]

    async def warm(self) -> None:
        """Open the model now, off the event loop.

        Raises:
            ModelUnavailable: the model cannot be opened; says what the admin can do.
        """
        await asyncio.wrap_future(self._thread.submit(Urgency.QUERY, 0, lambda model: None))

    async def close(self) -> None:
        """Finish what waits and release the model; a later call would open it again."""
        await asyncio.to_thread(self._thread.close)


def open_reranker(setting: str) -> ThreadedReranker | None:
    """The reranker that a setting names; cheap, as the model opens at first use.

    Args:
        setting: ``none``, a directory with an ONNX cross-encoder and its tokenizer, or the name
            of a fastembed cross-encoder.

    Raises:
        ModelUnavailable: it is plain already that the model cannot be opened.
    """
    if setting == "none":
        return None
    if not is_directory(setting):
        return ThreadedReranker(lambda: f"fastembed:{setting}", lambda: _fastembed(setting))
    directory = Path(setting).expanduser()
    file = model_file(directory)
    return ThreadedReranker(
        lambda: f"{directory.name}-{file_hash(file)[:10]}", lambda: _onnx(directory)
    )


def _onnx(directory: Path) -> PairModel:
    from gateway.services.embedding.pair_models import OnnxPairs

    return OnnxPairs(directory)


def _fastembed(name: str) -> PairModel:
    from gateway.services.embedding.pair_models import FastembedPairs

    return FastembedPairs(name)


def _judge(query: str, passages: Sequence[str], model: PairModel) -> list[float]:
    return model.logits(query, passages)


def _sigmoid(value: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * value))


def main(arguments: Sequence[str]) -> int:
    """``python -m gateway.services.embedding.reranker NAME``: fetch a named cross-encoder once."""
    from gateway.services.embedding.fastembed_models import open_fastembed

    try:
        for name in arguments:
            open_fastembed(name, fetch=True, kind="TextCrossEncoder")
    except ModelUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
