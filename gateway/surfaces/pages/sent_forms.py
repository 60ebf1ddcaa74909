"""The same form sent twice is done once: a double click, a reload while it is on its way.

Each form that a page shows has an id of its own, so the same form of a page that was loaded anew is
another one. Two of the same id and the same words are one: the second waits for the first, and is
answered alike. Where they come to two replicas, the second is told what has happened. What has
failed may be sent again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from auth.single_use import SingleUseStore
from auth.stores import StoreUnavailable, utc_now
from gateway.surfaces.pages.forms import Refused

KEPT_SECONDS = 120.0
"""How long the outcome of a form is known, for its second sending."""
ELSEWHERE_SECONDS = 30.0
"""How long other replicas refuse to begin the same."""
MOST_KEPT = 1_000
"""Outcomes that are kept at most."""
T = TypeVar("T")


class Outcome(NamedTuple, Generic[T]):
    """What came of a form.

    Attributes:
        value: what its work gave.
        again: whether it is the outcome of an earlier sending.
    """

    value: T
    again: bool


class SentForms(Generic[T]):
    """The forms that were sent a moment ago.

    Args:
        spent: knows which were sent, on all replicas together.
    """

    def __init__(self, spent: SingleUseStore) -> None:
        self._spent = spent
        self._sent: OrderedDict[str, tuple[float, asyncio.Task[T]]] = OrderedDict()

    async def once(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> Outcome[T]:
        """Do the work of a form, if nobody has begun it yet.

        Args:
            key: the form, as :func:`form_key` says it; empty for one that has no id.
            work: does it; what it raises is raised to each sending.

        Raises:
            Refused: another replica has begun it.
        """
        if not key:
            return Outcome(await work(), again=False)
        self._forget()
        known = self._sent.get(key)
        if known is not None and not _has_failed(known[1]):
            return Outcome(await asyncio.shield(known[1]), again=True)
        # A task of its own: a browser that sends again gives up on its first request.
        task = asyncio.create_task(work() if known else self._first(key, work))
        self._sent[key] = time.monotonic() + KEPT_SECONDS, task
        return Outcome(await asyncio.shield(task), again=False)

    async def _first(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        try:
            until = utc_now() + timedelta(seconds=ELSEWHERE_SECONDS)
            is_first = await self._spent.spend(f"form:{key}", until)
        except StoreUnavailable:  # what needs the database says so itself
            is_first = True
        if not is_first:
            raise Refused(
                409,
                "You sent this form twice",
                "It came in twice within a moment, and is done once: the first one counts. Load "
                "the page again to see what has become of it.",
            )
        return await work()

    def _forget(self) -> None:
        now = time.monotonic()
        while self._sent:
            key, (until, _) = next(iter(self._sent.items()))
            if until > now and len(self._sent) < MOST_KEPT:
                return
            del self._sent[key]


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def form_key(binding: str, path: str, values: Mapping[str, Sequence[str]], id: str) -> str:
    """What one sending of a form has in common with the same one again; empty without an id.

    Args:
        binding: the session, or the browser, that sends it.
        path: where to.
        values: all of its fields.
        id: the form's own.
    """
    if not id:
        return ""
    sent = json.dumps([binding, path, sorted((name, *each) for name, each in values.items())])
    return hashlib.sha256(sent.encode()).hexdigest()
