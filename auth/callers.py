"""Accounts that people have proved, the identity of a request, and the caller that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from auth.tiers import Tier

Signer = Literal["key", "contract"]
"""Who signed for a wallet."""


@dataclass(frozen=True, slots=True)
class Account:
    """Something a person has proved to be theirs: a wallet, a GitHub account, an OIDC subject.

    Attributes:
        subject: stable and unique: ``wallet:0xAbC…`` (EIP-55) of a key, which holds the address
            on every chain; ``wallet:eip155:10:0xAbC…`` (CAIP-10) of a contract, which stands on
            one; ``github:583231`` (the numeric id), ``oidc:https://id.example.org#SUB``.
        provider: ``wallet``, ``github`` or ``oidc``.
        name: what its provider calls it: an ENS name, a login; it may change.
        email: an address that the provider has verified, in lower case, or None.
        claims: what else the provider says and rules may ask for; JSON values.
        dated: when the provider made each claim (``email`` included), in seconds since the epoch
            by its clock; a claim that is missing here has no time. None if the provider was asked
            just now, so that its answer replaces everything older.
        outdated: the names of claims that are too old to count; ``claims`` has them no more.
        sid: the provider's session in which it was proved just now, or None; it is not stored.
        signer: for a wallet, whether its key signed or a contract confirmed the signature; None
            for old entries that did not record it, which count for no rule on wallets.
        proved: when it was proved last, if it is stored.
        lapsed: whether that is too long ago to count; set when rules are judged.
    """

    subject: str
    provider: str
    name: str | None = None
    email: str | None = None
    claims: Mapping[str, Any] = field(default_factory=dict, hash=False)
    dated: Mapping[str, float] | None = field(default=None, compare=False)
    outdated: frozenset[str] = frozenset()
    sid: str | None = field(default=None, compare=False)
    signer: Signer | None = None
    proved: datetime | None = field(default=None, compare=False)
    lapsed: bool = field(default=False, compare=False)

    @classmethod
    def of_key(cls, address: str, name: str | None = None) -> Account:
        """The account of a key, which holds its address on every chain."""
        return cls(f"wallet:{address}", "wallet", name, signer="key")

    @classmethod
    def of_contract(cls, chain: int, address: str, name: str | None = None) -> Account:
        """The account of a contract on one chain; elsewhere it may have other owners."""
        return cls(f"wallet:eip155:{chain}:{address}", "wallet", name, signer="contract")

    @property
    def id(self) -> str:
        """The subject without its provider: the address, the numeric id, ``ISSUER#SUB``."""
        return self.subject.partition(":")[2]

    @property
    def address(self) -> str:
        """A wallet's address, without its chain."""
        return self.id.rpartition(":")[2]

    @property
    def chain(self) -> int | None:
        """The chain that a contract's account is on; None for all others."""
        if self.signer != "contract":
            return None
        return int(self.id.split(":")[1])


BY_CONSENT = "access-token"
"""The kind of credential that a client gets by its person's consent (OAuth 2.1)."""


@dataclass(frozen=True, slots=True)
class SignedOut:
    """Whom a provider has signed out; at least one of ``account`` and ``sid`` is there.

    Attributes:
        issuer: the provider.
        account: the subject of the account, ``oidc:ISSUER#SUB``, or None if only the session is
            named.
        sid: the provider's session that ended, or None if all of the account's ended.
    """

    issuer: str
    account: str | None
    sid: str | None


_HOLDERS = ("grant:", "token:")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a credential proves, before any rule is applied.

    Attributes:
        person: the stable person id, such as ``person:4kq2…``, ``token:ci`` or ``client:ci``.
        provider: the kind of credential: ``access-token``, ``api-token``, ``oidc``,
            ``cloudflare-access``, ``session``, ``static-token``, ``operator-token`` or
            ``client-credentials``.
        name: what to call the person, or None.
        accounts: everything that the person has proved to be theirs.
        granted: the tier that the credential itself carries, or None where the rules decide.
        ceiling: the highest tier that the credential may be used for.
        tools: the only tools that it may be used for, by name, or None for all.
        client: the application that holds it, as people know it, or None.
        tags: what it depends on and ends with: ``grant:ID``, ``token:ID``, ``person:ID``.
        expires: when it ends by itself, in seconds since the epoch, or None.
    """

    person: str
    provider: str
    name: str | None = None
    accounts: tuple[Account, ...] = ()
    granted: Tier | None = None
    ceiling: Tier = Tier.MEMBERS
    tools: frozenset[str] | None = None
    client: str | None = None
    tags: frozenset[str] = frozenset()
    expires: float | None = None

    @property
    def holder(self) -> str | None:
        """The tag of the grant or the token that the credential belongs to, or None."""
        return next((tag for tag in self.tags if tag.startswith(_HOLDERS)), None)


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
        tools: the only tools that the credential may be used for, by name, or None for all.
        ceiling: the highest tier that the credential may be used for.
        degraded: whether a fact that decides the tier is unknown, so that the tier may be too low.
        sign_in_again: whether signing in again would make one of these facts known.
        consented: whether a client got the credential by its person's consent, so that it can ask
            for a higher ceiling; the holder of any other credential cannot.
        client: what tells the holder of the credential from others of the same person, such as
            ``grant:ID`` or ``token:ID``; None where it says only whose it is.
    """

    person: str | None
    tier: Tier
    reasons: tuple[str, ...] = ()
    groups: frozenset[str] = frozenset()
    admin: bool = False
    name: str | None = None
    tools: frozenset[str] | None = None
    ceiling: Tier = Tier.MEMBERS
    degraded: bool = False
    sign_in_again: bool = False
    consented: bool = False
    client: str | None = None

    @property
    def anonymous(self) -> bool:
        """Whether no credential was presented."""
        return self.person is None

    @property
    def signed_in(self) -> bool:
        """Whether this is a person whose tier the rules decide, rather than a token's own."""
        return self.person is not None and self.person.startswith(PERSON)


PERSON = "person:"
"""The prefix of people's ids; tokens that carry a tier themselves have other prefixes."""

ANONYMOUS = Caller(person=None, tier=Tier.OPEN, reasons=("No credential was sent.",))
"""The caller of a request without a credential."""
