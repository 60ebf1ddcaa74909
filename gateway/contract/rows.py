"""Rows: what several doors of a plugin show, and ``tiers.yaml`` names once for all of them.

A document is given by a tool, found by a search, listed by a resource and read over REST. Its tier
is one fact: the plugin's own, such as that of its frontmatter, raised by the line of
``tiers.yaml`` that names it. A plugin asks for it at every read (:class:`Rows`), and declares what
kinds of rows it has (:class:`RowKind`), so that a line is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from auth import Tier


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of rows that lines of ``tiers.yaml`` name, as ``<plugin>/<kind>:<name>``.

    Attributes:
        name: the kind, in small letters, such as ``document``.
        summary: what a row's name is made of, for people: ``a document, as contentType/id``.
        names: gives the names of the rows that are known just now; for the admin's eyes alone.
    """

    name: str
    summary: str
    names: Callable[[], Collection[str]]


class Rows(Protocol):
    """Which tier a row asks for, in the end."""

    @property
    def version(self) -> int:
        """Another number whenever an answer of :meth:`tier` may be another one."""
        ...

    @property
    def ruled(self) -> bool:
        """Whether any line may raise a row of the plugin's."""
        ...

    def tier(self, row: str, own: Tier = Tier.OPEN) -> Tier:
        """The tier below which a row is not there.

        Args:
            row: its kind and name, such as ``document:pattern/coordination``.
            own: the plugin's own word, which no line lowers.
        """
        ...


class Unruled:
    """The rows of a plugin that runs outside of a portal: no line speaks about them."""

    version = 0
    ruled = False

    def tier(self, row: str, own: Tier = Tier.OPEN) -> Tier:
        """The plugin's own word."""
        return own
