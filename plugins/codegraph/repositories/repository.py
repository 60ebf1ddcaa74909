"""A repository in the registry, and who may see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gateway.contract import Caller, Tier

PORTAL = "portal"
"""The organisation of a repository that names no group."""

Kind = Literal["path", "git"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A repository to be added, already validated.

    Attributes:
        name: its name.
        kind: ``path``, a directory that is read in place, or ``git``, an https address.
        location: the absolute path, or the address.
        branch: the branch at an address, or None for the host's default one.
        tier: the tier that may see it, or None for the portal's default.
        groups: only members of one of these may see it; empty for all of that tier.
        declared: whether it is declared in ``portal.yaml``.
        created_by: the person that added it, or None.
    """

    name: str
    kind: Kind
    location: str
    branch: str | None = None
    tier: Tier | None = None
    groups: tuple[str, ...] = ()
    declared: bool = False
    created_by: str | None = None

    @property
    def org(self) -> str:
        """The first of its groups, or the portal if it names none."""
        return self.groups[0] if self.groups else PORTAL


LOOKING = "looking for changes"
"""What somebody does who does not index yet, and perhaps will not."""

WITHDRAWN = "withdrawn"
"""Where a summary says that the host took the repository out of what the portal's app may read; the
next index that succeeds writes a summary without it."""


@dataclass(frozen=True, slots=True)
class State:
    """The state of a repository's index.

    Attributes:
        holder: who works on it, "" for nobody.
        requested: when the pending index was requested, or None.
        done: the progress of the work, out of ``total`` (0 if unknown).
        message: what is being done.
        error: why the last index failed, or "".
        failures: the number of consecutive failures.
        finished: when the last one ended.
        summary: the summary of the last one, as JSON values.
    """

    holder: str = ""
    requested: datetime | None = None
    done: int = 0
    total: int = 0
    message: str = ""
    error: str = ""
    failures: int = 0
    finished: datetime | None = None
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def indexing(self) -> bool:
        """Whether an index is being made; one who only looks for changes has made none stale."""
        return bool(self.holder) and self.message != LOOKING

    @property
    def under_way(self) -> bool:
        """Whether an index is being made, or about to be."""
        return self.indexing or (self.requested is not None and not self.error)

    def word(self, *, indexed: bool) -> str:
        """In a word, how the index is: ``waiting``, ``indexing``, ``ready`` or ``failed``.

        Args:
            indexed: whether there is one already.
        """
        if self.indexing:
            return "indexing"
        if self.error:
            return "failed"
        return "waiting" if self.requested or not indexed else "ready"

    def __str__(self) -> str:
        """A description for people; "" if nothing is happening."""
        if self.indexing:
            message = self.message or "indexing"
            counted = any(each.isdigit() for each in message)
            of = f", {self.done:,} of {self.total:,}" if self.total and not counted else ""
            return f"{message}{of}"
        if self.error:
            if WITHDRAWN in self.summary:
                return self.error
            return f"the last indexing failed: {self.error}"
        return "waiting to be indexed" if self.requested else ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the registry.

    Attributes:
        id: 16 hexadecimal digits, never reused.
        org: its organisation (:attr:`Draft.org`).
        name, kind, location, branch, tier, groups, declared: as in :class:`Draft`.
        layer: the layer that is served, or None before the first index.
        generation: how often that layer was changed in place.
        commit: the commit that was indexed, or "".
        on: the branch that was indexed, or "".
        indexed: when.
        problem: what was wrong with it then.
        embedded: whether its vectors match what is served.
        tier_given: whether its tier was set explicitly, rather than by the portal's default.
        vectors_of: the layer that its vectors belong to, or None if it has none.
        scip: what the SCIP indexers did (``scip/merge.py``), or None.
        state: the state of its index.
    """

    id: str
    org: str
    name: str
    kind: Kind
    location: str
    branch: str | None
    tier: Tier
    groups: tuple[str, ...]
    declared: bool
    layer: int | None = None
    generation: int = 0
    commit: str = ""
    on: str = ""
    indexed: datetime | None = None
    problem: str = ""
    embedded: bool = False
    vectors_of: int | None = None
    scip: dict[str, Any] | None = None
    state: State = field(default_factory=State)
    tier_given: bool = True

    @property
    def local(self) -> bool:
        """Whether it is open only because the portal serves this machine alone."""
        return self.tier is Tier.OPEN and not (self.tier_given or self.groups)

    @property
    def entities(self) -> int:
        """The number of entities at the end of the last index."""
        return int(self.state.summary.get("entities", 0))

    def seen_by(self, caller: Caller) -> bool:
        """Whether a caller may see it: by the tier, and by one of its groups if it has any."""
        in_group = not self.groups or not caller.groups.isdisjoint(self.groups)
        return caller.tier.allows(self.tier) and in_group
