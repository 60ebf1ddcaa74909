"""What every part of the contract suite stands on: a plugin, and portals with it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from gateway.contract import Plugin
from gateway.testing.portal import TestPortal


class SuitePart:
    """A part of ``PluginContract``.

    Attributes:
        leaves: calls by which someone leaves something of their own behind: names of tools, and
            arguments.
    """

    leaves: Sequence[tuple[str, Mapping[str, Any]]] = ()

    @property
    @abstractmethod
    def declared(self) -> Plugin:
        """What the plugin declares."""

    @abstractmethod
    def opened(
        self, tiers: Mapping[str, Any] | None = None
    ) -> AbstractAsyncContextManager[TestPortal]:
        """A portal with the plugin in it, seeded."""
