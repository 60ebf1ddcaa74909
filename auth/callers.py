"""Who is calling: the identity a credential proves, and the caller it resolves to."""

from __future__ import annotations

from dataclasses import dataclass

from auth.tiers import Tier


@dataclass(frozen=True, slots=True)
class Identity:
    """What a credential proves about a person, before any rule is applied.

    Attributes:
        person: a stable id, namespaced by its source, such as ``token:ci``.
        provider: where the proof comes from, such as ``static-token``.
        name: what to call the person, or None.
        granted: the tier the credential itself carries, or None where rules decide.
    """

    person: str
    provider: str
    name: str | None = None
    granted: Tier | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """The one answer to "who is calling, at which tier, and why".

    Attributes:
        person: the stable person id, or None for an anonymous caller.
        tier: the tier that every check compares with.
        reasons: why the caller has this tier, one sentence each.
        groups: hats, teams, organizations and claims, for rules inside plugins.
        admin: whether the caller may see operational details.
        name: what to call the person, or None.
    """

    person: str | None
    tier: Tier
    reasons: tuple[str, ...] = ()
    groups: frozenset[str] = frozenset()
    admin: bool = False
    name: str | None = None

    @property
    def anonymous(self) -> bool:
        """Whether no credential was presented."""
        return self.person is None


ANONYMOUS = Caller(person=None, tier=Tier.OPEN, reasons=("No credential was sent.",))
"""The caller of a request without a credential."""
