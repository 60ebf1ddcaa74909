"""Whom a caller may know of, as plugins see it: people of a shared group, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from auth import Caller


@dataclass(frozen=True, slots=True)
class Fellow:
    """Somebody who shares a group with a caller.

    Attributes:
        id: the person's.
        name: what the portal calls them.
        groups: the groups that both are in; no others of theirs.
    """

    id: str
    name: str
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class Attribution:
    """How somebody's work is signed where everybody may read it.

    Attributes:
        name: what the portal calls them.
        email: the address that GitHub itself gives to commits of their account there, so that they
            are shown as theirs; None without such an account. No other address of theirs is told.
    """

    name: str
    email: str | None = None


class People(Protocol):
    """What a plugin may ask about people."""

    async def attribution(self, person: str) -> Attribution | None:
        """How a person's work is signed; None for a person who is not known."""
        ...

    async def names(self, ids: Collection[str]) -> Mapping[str, str]:
        """What the portal calls people, by their ids; those that nobody has are left out.

        Who has no name is called by their id.
        """
        ...

    async def caller(self, person: str) -> Caller | None:
        """Somebody as every check would see them now, without a credential's limits.

        It is for what acts on somebody's word while they are away, such as a link that they have
        made: it shows no more than they may see themselves. None for a person who is not known.
        """
        ...

    async def fellows(self, caller: Caller, name: str) -> Sequence[Fellow]:
        """People who share a group with a caller and whose name is, or comes near, this one.

        Returns:
            20 at most, the nearest first; nobody where the caller is in no group.
        """
        ...

    def groups(self) -> frozenset[str]:
        """The groups that the rules for the public and the members tier can put somebody in."""
        ...


class Nobody:
    """The people of a portal that is not open: there are none."""

    async def attribution(self, person: str) -> Attribution | None:
        """Nobody's."""
        return None

    async def names(self, ids: Collection[str]) -> Mapping[str, str]:
        """None."""
        return {}

    async def caller(self, person: str) -> Caller | None:
        """Nobody."""
        return None

    async def fellows(self, caller: Caller, name: str) -> Sequence[Fellow]:
        """None."""
        return ()

    def groups(self) -> frozenset[str]:
        """None."""
        return frozenset()


NOBODY = Nobody()
