"""Tells clients what has changed, without a flood where many people write."""

from __future__ import annotations

import asyncio

from gateway.contract import Change, Host
from plugins.workflows.model import Visibility, Workflow
from plugins.workflows.resources import uri_of

QUIET = 1.0
"""Seconds between two announcements that lists have changed."""


class Notifications:
    """What the plugin tells of its workflows.

    Args:
        host: carries it.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._due: asyncio.TimerHandle | None = None

    def listed(self) -> None:
        """The lists of prompts and resources are others than before, for somebody."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(QUIET, self._tell)

    def written(self, *states: Workflow) -> None:
        """A workflow is another than before; nobody is told of one that was private all along.

        Args:
            states: as it was, and as it is.
        """
        self.listed()
        if any(each.visibility is Visibility.PUBLIC for each in states):
            self._host.changed(Change(self._host.plugin, "resource", uri_of(states[0].id)))

    def close(self) -> None:
        """Say no more."""
        if self._due is not None:
            self._due.cancel()

    def _tell(self) -> None:
        self._due = None
        self._host.changed(Change(self._host.plugin, "prompts"))
        self._host.changed(Change(self._host.plugin, "resources"))
