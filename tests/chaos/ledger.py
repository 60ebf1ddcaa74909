"""What a chaotic while has promised, and what became of it."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

PATIENCE_SECONDS = 30.0
"""Seconds within which every queue must move, whatever has died."""


@dataclass
class Batch:
    """A batch that the portal has taken.

    Attributes:
        results: where its progress is read, below a portal's address.
        texts: what it writes.
        taken_at: when it was taken, in the clock's seconds.
        done_at: when it was seen to be done, or None.
        is_given_up: whether it has not moved for so long that nobody waits for it.
        told: what was heard of it last.
    """

    results: str
    texts: list[str]
    taken_at: float
    done_at: float | None = None
    is_given_up: bool = False
    told: str = "nothing"


@dataclass
class Ledger:
    """What clients have seen.

    Attributes:
        tell: takes a line about each promise that is broken, when it is.
        answers: how often each kind of request was answered how.
        broken: promises that were broken, one sentence each.
        written: the ids of entries whose creation was acknowledged, by their text.
        sent: texts whose creation was sent and never answered.
        batches: batches that were taken.
        seconds: how long open searches took, by what was broken meanwhile; calm without.
    """

    tell: Callable[[str], None]
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    batches: list[Batch] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def broke(self, promise: str) -> None:
        """Write down a promise that was broken."""
        self.broken.append(promise)
        self.tell(f"BROKEN: {promise}")

    def note(self, what: str, status: int, expected: frozenset[int], fault: str) -> None:
        """Count an answer; one that is not expected breaks a promise.

        Args:
            what: the kind of request.
            status: the HTTP status.
            expected: the statuses that may be.
            fault: what was broken just then.
        """
        self.answers[what, str(status)] += 1
        if status not in expected:
            self.broke(f"{what} was answered with {status} (just then: {fault})")

    def waiting(self) -> Iterator[Batch]:
        """The batches that are not done."""
        return (each for each in self.batches if each.done_at is None and not each.is_given_up)

    def watch_queues(self, healed_at: float) -> None:
        """See that batches move.

        Args:
            healed_at: since when nothing stands in their way, in the clock's seconds.
        """
        now = time.monotonic()
        for batch in self.waiting():
            waited = now - max(batch.taken_at, healed_at)
            if waited > PATIENCE_SECONDS:
                batch.is_given_up = True
                stands = f"has not moved for {waited:.0f} s: {batch.told}"
                self.broke(f"the batch {batch.results} {stands}")

    def slowness(self, fault: str) -> float:
        """How many times as long open searches took meanwhile, at the 99th percentile."""
        return percentile(self.seconds[fault]) / percentile(self.seconds["calm"])


def percentile(seconds: list[float], share: float = 0.99) -> float:
    """What that share of some durations does not exceed; not a number where there are none."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
