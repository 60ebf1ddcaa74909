"""The rights with which work is done later: those that its asker has now."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from gateway.contract import Caller, Tier


class DelegatedRights(BaseModel):
    """A caller's rights as they are stored; the caller's id is stored beside them.

    Attributes:
        tier: the caller's tier.
        groups: their groups, sorted.
        admin: whether they are an admin of the portal.
    """

    tier: Tier
    groups: list[str]
    admin: bool

    @classmethod
    def of(cls, caller: Caller) -> DelegatedRights:
        """The rights of a caller."""
        return cls(tier=caller.tier, groups=sorted(caller.groups), admin=caller.admin)

    def caller(self, person: str) -> Caller:
        """The caller with these rights.

        Args:
            person: the id of the person whose rights they are.
        """
        return Caller(person, self.tier, groups=frozenset(self.groups), admin=self.admin)


def limit_to_approver(asker: Caller, approver: Caller) -> Caller:
    """The asker, as an admin only where the approver is one too.

    Nothing here can tell whether the asker still has the rights of then; an approver vouches only
    for rights of their own.

    Args:
        asker: the person who asked, with the rights that they had then.
        approver: the person who approves, with the rights that they have now.
    """
    return replace(asker, admin=asker.admin and approver.admin)
