"""One thread that runs one model, urgent work first."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

M = TypeVar("M")
R = TypeVar("R")


class Urgency(IntEnum):
    """The order of waiting work: someone waits for a query, and mostly for a few passages."""

    QUERY = 0
    FEW_PASSAGES = 1
    PASSAGES = 2
    STOP = 3


@dataclass(slots=True)
class Usage:
    """What a model did since the process started.

    Attributes:
        seconds: time spent in the model, tokenising included, loading excluded.
        calls: how often the model ran.
        texts: how many texts (or pairs) it read.
    """

    seconds: float = 0.0
    calls: int = 0
    texts: int = 0


@dataclass(order=True, slots=True)
class _Work(Generic[M]):
    urgency: Urgency
    number: int
    run: Callable[[M], object] = field(compare=False)
    texts: int = field(compare=False)
    done: Future[object] = field(compare=False)


class ModelThread(Generic[M]):
    """Runs functions of one model, one at a time, on a thread of its own.

    The model is loaded by the first work that needs it. A load that fails fails that work, and
    the next work tries again.

    Args:
        name: the thread's name in a debugger.
        load: opens the model.
    """

    def __init__(self, name: str, load: Callable[[], M]) -> None:
        self.usage = Usage()
        self._name = name
        self._load = load
        self._model: M | None = None
        self._waiting: queue.PriorityQueue[_Work[M]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """How much work waits for its turn."""
        return self._waiting.qsize()

    def submit(self, urgency: Urgency, texts: int, run: Callable[[M], R]) -> Future[R]:
        """Queue ``run(model)``; equally urgent work runs in the order it came.

        Args:
            urgency: what goes before what.
            texts: how many texts the work reads, for :attr:`usage`; 0 only loads the model.
            run: called on the model's thread.

        Returns:
            A future; cancelled before its turn, the work is skipped.
        """
        done: Future[R] = Future()
        self._waiting.put(_Work(urgency, next(self._numbers), run, texts, done))  # type: ignore[arg-type]
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
        return done

    def close(self) -> None:
        """Finish the work that waits, then release the model and the thread."""
        thread = self._thread
        if thread is not None:
            self._waiting.put(
                _Work(Urgency.STOP, next(self._numbers), lambda model: None, 0, Future())
            )
            thread.join()
            self._thread = self._model = None

    def _serve(self) -> None:
        while (work := self._waiting.get()).urgency is not Urgency.STOP:
            if work.done.set_running_or_notify_cancel():
                self._do(work)

    def _do(self, work: _Work[M]) -> None:
        try:
            if self._model is None:
                self._model = self._load()
            started = time.perf_counter()
            result = work.run(self._model)
            self._record(work.texts, time.perf_counter() - started)
        except BaseException as error:  # handed to the one who waits for it
            work.done.set_exception(error)
        else:
            work.done.set_result(result)

    def _record(self, texts: int, seconds: float) -> None:
        if texts:
            self.usage.seconds += seconds
            self.usage.calls += 1
            self.usage.texts += texts
