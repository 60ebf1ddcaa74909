"""Tells clients what has changed, without a flood where many people write."""

from __future__ import annotations

import asyncio

from gateway.contract import Change, Host
from plugins.workflows.model import Visibility, Workflow
from plugins.workflows.resources import uri_of

NOTIFY_INTERVAL_S = 1.0
"""Seconds between two announcements that lists have changed."""


class Notifications:
    """Tells clients of changed workflows.

    Args:
        host: carries it.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._due: asyncio.TimerHandle | None = None

    def lists_changed(self) -> None:
        """Announce soon that the lists of prompts and resources have changed."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(NOTIFY_INTERVAL_S, self._announce)

    def workflow_changed(self, *states: Workflow) -> None:
        """Announce that a workflow has changed, unless it was private all along.

        Args:
            states: the workflow before and after the change.
        """
        self.lists_changed()
        if any(each.visibility is Visibility.PUBLIC for each in states):
            self._host.changed(Change(self._host.plugin, "resource", uri_of(states[0].id)))

    def close(self) -> None:
        """Drop what has not been announced yet."""
        if self._due is not None:
            self._due.cancel()

    def _announce(self) -> None:
        self._due = None
        self._host.changed(Change(self._host.plugin, "prompts"))
        self._host.changed(Change(self._host.plugin, "resources"))
