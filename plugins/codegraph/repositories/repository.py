"""A repository as the registry has it, and who may see it."""

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
    """A repository that is to be added; all of it was checked.

    Attributes:
        name: what it is called.
        kind: ``path``, a directory that is read in place, or ``git``, an https address.
        location: the absolute path, or the address.
        branch: the branch of an address, or None for the host's default one.
        tier: the tier that may see it, or None for whatever the portal's default is.
        groups: who of that tier may: those of one of these; empty for all.
        declared: whether it stands in ``portal.yaml``.
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
        """The portal, unless it names a group: then the first one it names."""
        return self.groups[0] if self.groups else PORTAL


@dataclass(frozen=True, slots=True)
class State:
    """What is being done to a repository's index.

    Attributes:
        holder: who works on it, "" for nobody.
        requested: when an index was asked for that is not made yet, or None.
        done: how far the work is, of ``total`` (0 where that is not known).
        message: what it does just now.
        error: why the last index failed, "" where it did not.
        failures: how many failed one after the other.
        finished: when the last one ended.
        summary: what the last one found, as JSON values.
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
    def under_way(self) -> bool:
        """Whether an index is being made, or will be in a moment."""
        return bool(self.holder) or (self.requested is not None and not self.error)

    def __str__(self) -> str:
        """For a person: "" where the index stands."""
        if self.holder:
            message = self.message or "indexing"
            counted = any(each.isdigit() for each in message)
            of = f", {self.done:,} of {self.total:,}" if self.total and not counted else ""
            return f"{message}{of}"
        if self.error:
            return f"the last indexing failed: {self.error}"
        return "waiting to be indexed" if self.requested else ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the registry.

    Attributes:
        id: 16 hexadecimal digits, its own for ever.
        org: whose it is (:attr:`Draft.org`).
        name, kind, location, branch, tier, groups, declared: as in :class:`Draft`.
        layer: the layer that is served, or None before the first index.
        generation: how often that layer was changed in place.
        commit: the commit that was indexed, or "".
        on: the branch that was indexed, or "".
        indexed: when.
        problem: what was wrong with it then.
        embedded: whether its vectors are those of what is served.
        tier_given: whether its tier was said, rather than the portal's default.
        vectors_of: the layer that its vectors are of, or None where it has none.
        scip: what the SCIP indexers did (``scip/merge.py``), or None.
        state: what is being done to it.
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
        """Whether it is open only because the portal is for this machine alone."""
        return self.tier is Tier.OPEN and not (self.tier_given or self.groups)

    def seen_by(self, caller: Caller) -> bool:
        """Whether a caller may see it: by the tier, and by one of the groups where it names any."""
        in_group = not self.groups or not caller.groups.isdisjoint(self.groups)
        return caller.tier.allows(self.tier) and in_group
