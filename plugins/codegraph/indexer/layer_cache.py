"""An in-memory cache of recently used layers, so that small changes need not load them again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.store.graph import RepositoryView

MAX_FILES = 40_000
"""The most files in all cached layers together; about two kilobytes each."""
MAX_LAYERS = 8
TTL_S = 600.0
"""Seconds after which an unused layer is dropped."""


@dataclass(frozen=True, slots=True)
class _Entry:
    base: BaseLayer
    generation: int
    until: float


class LayerCache:
    """Caches layers, each in one generation.

    Args:
        now: a clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[tuple[str, str], _Entry] = {}

    def take(self, view: RepositoryView) -> BaseLayer | None:
        """Remove and return a layer in the view's generation, or None.

        The caller may modify it, and must keep it again once the database is in the same state.
        """
        self._expire()
        kept = self._kept.pop((view.org, view.id), None)
        if kept is None or (kept.base.layer, kept.generation) != (view.layer, view.generation):
            return None
        return kept.base

    def keep(self, org: str, repo: str, base: BaseLayer, generation: int) -> None:
        """Cache a layer; the oldest ones are dropped if there are too many."""
        self._kept.pop((org, repo), None)
        self._kept[org, repo] = _Entry(base, generation, self._now() + TTL_S)
        self._expire()
        while self._kept and not self._fits():
            self._kept.pop(next(iter(self._kept)))

    def forget(self, repo: str) -> None:
        """Drop the layers of a repository."""
        for key in [each for each in self._kept if each[1] == repo]:
            del self._kept[key]

    def _fits(self) -> bool:
        files = sum(len(each.base.files) for each in self._kept.values())
        return len(self._kept) <= MAX_LAYERS and files <= MAX_FILES

    def _expire(self) -> None:
        now = self._now()
        for key in [key for key, each in self._kept.items() if each.until <= now]:
            del self._kept[key]
