"""When the rules over a whole graph may run again: not while somebody pushes or saves.

What a change touches is judged at once (``justification/follow_up.py``). The rules over the rest
take the processor that the next push needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

CALM_S = 15.0
"""Seconds that a large repository must be left alone before the rules run over it."""
_ENTITIES_PER_S = 1_000
"""So many entities of a smaller one are worth a second of that."""
PATIENCE_S = 120.0
"""Seconds after which the rules run over a repository that is never left alone."""
REST = 10
"""So many times as long as the rules took, a repository is left before they run again."""


@dataclass(slots=True)
class _Change:
    first_s: float
    newest_s: float
    state: tuple[int, int]


class Calm:
    """Says of each repository whether the rules may run.

    Args:
        clock: a clock that never goes back, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rests_until: dict[str, float] = {}
        self._changes: dict[str, _Change] = {}

    def keep(self, repos: Collection[str]) -> None:
        """Forget the changes of all repositories but these, which the rules have yet to see."""
        self._changes = {repo: each for repo, each in self._changes.items() if repo in repos}

    def may_run(self, repo: str, state: tuple[int, int], entities: int) -> bool:
        """Whether the rules may run over a repository that has changed since they last did.

        Args:
            repo: the repository.
            state: its layer and the layer's generation.
            entities: how many entities it has.
        """
        now = self._clock()
        change = self._changes.setdefault(repo, _Change(now, now, state))
        if change.state != state:
            change.newest_s, change.state = now, state
        is_calm = now - change.newest_s >= min(CALM_S, entities / _ENTITIES_PER_S)
        is_late = now - change.first_s >= PATIENCE_S
        return (is_calm or is_late) and now >= self._rests_until.get(repo, 0.0)

    def begin(self, repo: str) -> Callable[[], None]:
        """The rules begin to run; what this returns is to be called when they have ended."""
        self._changes.pop(repo, None)
        began = self._clock()

        def end() -> None:
            now = self._clock()
            self._rests_until[repo] = now + REST * (now - began)

        return end
