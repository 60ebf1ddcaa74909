"""Texts to unit vectors: a packaged model, a local ONNX directory or a named fastembed model.

One model a process, shared by all plugins, on a thread of its own. Stored texts are embedded in
short batches of similar length, and a query goes before every batch that still waits, so a
search during indexing waits for one batch at most (about 30 ms on two cores). So do a few texts,
such as an entry of memory that is written, before those of an index that is built.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.services.embedding import minilm
from gateway.services.embedding.model_files import (
    ModelUnavailable,
    file_hash,
    is_directory,
    model_file,
)
from gateway.services.embedding.model_profiles import Profile, of_directory, of_name
from gateway.services.embedding.model_thread import ModelThread, Urgency, Usage
from gateway.services.embedding.packaged_models import PACKAGED, packaged
from gateway.toolkit.spans import span

if TYPE_CHECKING:
    from gateway.contract.services import Matrix, Vector
    from gateway.services.embedding.sentence_models import SentenceModel

FEW_TEXTS = 8
"""So many texts at most are what somebody writes, and go before those of an index."""
_FASTEMBED = "fastembed:"
"""What the names of models begin with that are fetched by name."""
CHARACTERS_PER_TOKEN = 4
"""A rough figure for prose, good enough to make batches of similar work."""


class ThreadedEmbedder:
    """An :class:`~gateway.contract.services.Embedder` over a model on its own thread.

    Args:
        identity: says what identifies the model and its precision; asked once.
        load: opens the model, at the first use.
        dimensions: the length of a vector where it is known without opening the model.
        batch_tokens: how many tokens, padding included, go to the model at once: a question that
            comes meanwhile waits for them.
    """

    def __init__(
        self,
        identity: Callable[[], str],
        load: Callable[[], SentenceModel],
        dimensions: int | None = None,
        batch_tokens: int = minilm.BATCH_TOKENS,
    ) -> None:
        self._identity = functools.cache(identity)
        self._dimensions = dimensions
        self._batch_tokens = batch_tokens
        self._thread = ModelThread("embedding", load)

    @property
    def model(self) -> str:
        """The model's identity with its precision; vectors of two models are never compared."""
        return self._identity()

    @property
    def dimensions(self) -> int:
        """The length of a vector; for all but the packaged models the first ask opens it.

        Raises:
            ModelUnavailable: the model cannot be opened.
        """
        if self._dimensions is None:
            self._dimensions = self._thread.submit(Urgency.QUERY, 0, _dimensions_of).result()
        return self._dimensions

    @property
    def usage(self) -> Usage:
        """How much the model was used so far; an index without changes does not use it."""
        return self._thread.usage

    @property
    def waiting(self) -> int:
        """How many batches and questions wait for their turn."""
        return self._thread.waiting

    async def warm(self) -> None:
        """Open the model now, off the event loop, and learn its dimensions.

        Raises:
            ModelUnavailable: the model cannot be opened; says what the admin can do.
        """
        opened = self._thread.submit(Urgency.QUERY, 0, _dimensions_of)
        self._dimensions = await asyncio.wrap_future(opened)

    async def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed stored texts, in batches of similar length; a few go before many that wait.

        Args:
            texts: in any order; each is cut at the model's token limit.

        Returns:
            float32, shape (len(texts), dimensions), rows of length one, in the order given.

        Raises:
            ModelUnavailable: the model cannot be opened.
        """
        import numpy as np

        if self._dimensions is None:  # to ask is to wait for a turn of the model
            await self.warm()
        result = np.empty((len(texts), self.dimensions), dtype=np.float32)
        waiting = []
        urgency = Urgency.FEW_PASSAGES if len(texts) <= FEW_TEXTS else Urgency.PASSAGES
        for rows in _batches(texts, self._batch_tokens):
            run = functools.partial(_embed, [texts[row] for row in rows])
            future = self._thread.submit(urgency, len(rows), run)
            waiting.append((rows, future))
        try:
            with span("embed passages", {"porch.texts": len(texts)}):
                for rows, future in waiting:
                    done = asyncio.wrap_future(future)
                    result[rows] = await done
        finally:
            for _, future in waiting:
                future.cancel()
        return result

    async def query(self, text: str) -> Vector:
        """Embed one question, before any stored texts that still wait.

        Returns:
            float32, shape (dimensions,), of length one. Nothing is remembered between calls.

        Raises:
            ModelUnavailable: the model cannot be opened.
        """
        run = functools.partial(_ask, text)
        with span("embed query"):
            found = self._thread.submit(Urgency.QUERY, 1, run)
            vector: Vector = await asyncio.wrap_future(found)
        return vector

    async def close(self) -> None:
        """Finish what waits and release the model; a later call would open it again."""
        await asyncio.to_thread(self._thread.close)


def open_embedder(setting: str) -> ThreadedEmbedder | None:
    """The embedder that ``services.embedding`` names; cheap, as the model opens at first use.

    Args:
        setting: ``embedded``, ``english``, ``multilingual``, ``none``, a directory with an ONNX
            model and its tokenizer, or the name of a fastembed model.

    Returns:
        An embedder to be shared by the whole process, or None for ``none``.

    Raises:
        ModelUnavailable: it is plain already that the model cannot be opened.
    """
    if setting == "none":
        return None
    if setting in PACKAGED:
        return _open_packaged(setting)
    if is_directory(setting):
        return _open_directory(Path(setting).expanduser())
    mark = of_name(setting).mark
    identity = f"{_FASTEMBED}{setting}" + (f"+{mark}" if mark else "")
    return ThreadedEmbedder(lambda: identity, lambda: _fastembed(setting))


@asynccontextmanager
async def other_model(name: str) -> AsyncGenerator[ThreadedEmbedder | None]:
    """A model by what identifies it, beside the portal's, until the block ends.

    Args:
        name: as :attr:`ThreadedEmbedder.model` says it.

    Yields:
        The model, opened; None where this machine has it no more, or it was a directory's.
    """
    found = await asyncio.to_thread(_identified, name)
    async with AsyncExitStack() as stack:
        if found is not None:
            stack.push_async_callback(found.close)
            try:
                await found.warm()
            except (ModelUnavailable, OSError):
                found = None
        yield found


def _identified(name: str) -> ThreadedEmbedder | None:
    """The model that goes by a name, not opened yet."""
    bare = name.removeprefix(_FASTEMBED)
    settings = [bare.partition("+")[0]] if bare != name else [*PACKAGED]
    for setting in settings:
        with contextlib.suppress(ModelUnavailable, OSError):
            found = open_embedder(setting)
            if found is not None and found.model == name:
                return found
    return None


def prepare(setting: str) -> None:
    """Make a model ready ahead of time: convert it, fetch it or check its files.

    Raises:
        ModelUnavailable: it cannot be made ready.
    """
    if setting in PACKAGED:
        packaged(setting).prepare()
    elif setting == "none":
        return
    elif is_directory(setting):
        _onnx(Path(setting).expanduser())
    else:
        from gateway.services.embedding.fastembed_models import open_fastembed

        open_fastembed(setting, fetch=True)


def _open_packaged(setting: str) -> ThreadedEmbedder:
    model = packaged(setting)
    place, profile = model.location(), model.PROFILE
    if not place.is_dir() and not model.is_installed():
        model.prepare()  # raises, and says which package is missing
    identity = place.name + (f"+{profile.mark}" if profile.mark else "")
    return ThreadedEmbedder(
        lambda: identity,
        lambda: _onnx(model.prepare(), profile),
        model.DIMENSIONS,
        model.BATCH_TOKENS,
    )


def _open_directory(directory: Path) -> ThreadedEmbedder:
    file, mark = model_file(directory), of_directory(directory).mark
    return ThreadedEmbedder(
        lambda: f"{directory.name}-{file_hash(file)[:10]}" + (f"+{mark}" if mark else ""),
        lambda: _onnx(directory),
    )


def _onnx(directory: Path, profile: Profile | None = None) -> SentenceModel:
    from gateway.services.embedding.centring import centred
    from gateway.services.embedding.sentence_models import OnnxSentences

    model = OnnxSentences(directory, profile)
    return centred(model, model.profile)


def _fastembed(name: str) -> SentenceModel:
    from gateway.services.embedding.centring import centred
    from gateway.services.embedding.sentence_models import FastembedSentences

    model = FastembedSentences(name)
    return centred(model, model.profile)


def _dimensions_of(model: SentenceModel) -> int:
    return model.dimensions


def _embed(texts: Sequence[str], model: SentenceModel) -> Matrix:
    return model.passages(texts)


def _ask(text: str, model: SentenceModel) -> Vector:
    return model.query(text)


def _batches(texts: Sequence[str], most: int) -> Iterator[list[int]]:
    """Rows of similar length, each batch about so many tokens with its padding."""
    batch: list[int] = []
    for row in sorted(range(len(texts)), key=lambda row: len(texts[row])):
        tokens = min(len(texts[row]) // CHARACTERS_PER_TOKEN + 2, minilm.MAX_TOKENS)
        if batch and (len(batch) + 1) * tokens > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def main(arguments: Sequence[str]) -> int:
    """``python -m gateway.services.embedding.service SETTING``: make the model ready."""
    try:
        prepare(arguments[0] if arguments else "embedded")
    except ModelUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
