"""``sign_in:``, ``chains:`` and ``roles:`` of ``portal.yaml``: how people prove who they are.

Who may use what, and which roles it takes, stands in ``tiers.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from auth.claims import MIN_CLAIMS_AGE_S
from auth.portal_addresses import is_safe
from auth.proof_expiry import CONTRACT_PROOF_LIFETIME
from gateway.contract.config_types import (
    Address,
    Duration,
    SafeUrl,
    SecretRef,
    is_reference,
    safe_url,
    whole_url,
)

_HATS = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
_SLUG = re.compile(r"[^a-z0-9]+")
_MIN_LIFETIME, _MAX_LIFETIME = timedelta(seconds=1), timedelta(days=3650)
_MIN_CLAIMS_AGE = timedelta(seconds=MIN_CLAIMS_AGE_S)
_MIN_POLL_INTERVAL, _MAX_POLL_INTERVAL = timedelta(milliseconds=100), timedelta(seconds=10)
_MAX_ACCESS_LIFETIME = timedelta(days=30)  # as long as a grant without refresh tokens is kept

Challenged = Literal["auto", "sentence", "http"]
"""Who is challenged for a call above their tier: ``sign_in.challenge``."""


class Section(BaseModel):
    """A section of ``portal.yaml``: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _issuer(value: str) -> str:
    # An account is named ISSUER#SUBJECT, which must mean one person only.
    if urlsplit(value).query or "#" in value:
        raise ValueError("must be an issuer's address: without a query and a fragment (? and #)")
    return whole_url(value)


def _endpoint(value: str) -> str:
    return value if is_reference(value) else safe_url(whole_url(value))


def _life(value: timedelta) -> timedelta:
    if not _MIN_LIFETIME <= value <= _MAX_LIFETIME:
        raise ValueError(f"must be from {_MIN_LIFETIME.seconds}s to {_MAX_LIFETIME.days}d")
    return value


def _look(value: timedelta) -> timedelta:
    if not _MIN_POLL_INTERVAL <= value <= _MAX_POLL_INTERVAL:
        raise ValueError("must be from 100ms to 10s, so that a role that is taken away ends soon")
    return value


def _access_life(value: timedelta) -> timedelta:
    if value > _MAX_ACCESS_LIFETIME:
        raise ValueError(
            f"must be at most {_MAX_ACCESS_LIFETIME.days}d; clients refresh by themselves"
        )
    return value


Issuer = Annotated[str, AfterValidator(_issuer)]
"""An issuer: an address that is compared letter by letter, so that a slash at its end stays."""
Life = Annotated[Duration, AfterValidator(_life)]
"""How long a credential lives."""


class Wallet(Section):
    """Signing in with an Ethereum wallet (EIP-4361)."""

    enabled: bool = Field(True, description="Whether people may sign in with a wallet.")
    chains: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        (1, 10, 8453, 42161),
        min_length=1,
        description="The chain ids that a sign-in message may name; the chains below count too.",
    )
    statement: str = Field(
        "Sign in to {name}. This costs nothing and moves nothing.",
        pattern=r"^[ -~]+$",
        description="What the wallet shows; {name} stands for the portal's name.",
    )

    contract_proof: Life = Field(
        CONTRACT_PROOF_LIFETIME,
        description="How long a contract wallet counts after it has signed in, as its owners may "
        "change; then it must sign in again.",
    )


class Github(Section):
    """Signing in with GitHub, by an OAuth app of the community's own."""

    client_id: str = Field(description="The OAuth app's client id.")
    client_secret: SecretRef = Field(description="Its secret, as env:NAME or file:PATH.")
    token: SecretRef | None = Field(
        None,
        description="A token that may read who is in the organizations and teams that tiers.yaml "
        "names; without it only public membership counts.",
    )
    url: SafeUrl = Field("https://github.com", description="GitHub, or a GitHub Enterprise server.")
    api_url: SafeUrl = Field("https://api.github.com", description="Its API.")


class Oidc(Section):
    """Signing in with an OpenID Connect provider."""

    name: str = Field(min_length=1, description="What the sign-in button says.")
    issuer: Annotated[Issuer, AfterValidator(safe_url)] = Field(
        description="The issuer, exactly as the provider writes it."
    )
    client_id: str = Field(description="The portal's client id there.")
    client_secret: SecretRef | None = Field(
        None, description="Its secret, as env:NAME or file:PATH; none for a public client."
    )
    scopes: tuple[str, ...] = Field(
        ("openid", "profile", "email"), description="The scopes to ask for."
    )

    @property
    def slug(self) -> str:
        """The name as a part of a path."""
        return _SLUG.sub("-", self.name.lower()).strip("-") or "oidc"


class Accepted(Section):
    """JWTs of another issuer that are taken as credentials."""

    issuer: Issuer = Field(description="The tokens' issuer, exactly as it writes itself.")
    audience: str = Field(min_length=1, description="The audience that its tokens must be for.")
    jwks_url: SafeUrl | None = Field(
        None, description="Where its keys are; found by OpenID Connect discovery if not given."
    )
    algorithms: tuple[Literal["RS256", "PS256", "ES256", "EdDSA"], ...] = Field(
        ("RS256", "ES256"), min_length=1, description="The signature algorithms to accept."
    )

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.jwks_url is None and not is_safe(self.issuer):
            raise ValueError(
                "its keys are found at the issuer, which must begin with https:// unless it is on "
                "this machine; or give jwks_url"
            )
        return self


SignatureAlgorithms = Annotated[
    tuple[Literal["RS256", "PS256", "ES256", "EdDSA"], ...], Field(min_length=1)
]


class DeclaredClient(Section):
    """An OAuth client that an admin declares, which signs to prove who it is (private_key_jwt)."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="Its client_id.")
    name: str | None = Field(None, min_length=1, max_length=80, description="What people call it.")
    jwks: dict[str, Any] | None = Field(
        None, description="Its public keys, as a JSON Web Key Set; or else jwks_url."
    )
    jwks_url: SafeUrl | None = Field(None, description="Where it publishes its public keys.")
    algorithms: SignatureAlgorithms = Field(
        ("ES256", "RS256"), description="The signature algorithms to accept."
    )
    tier: Literal["public", "members"] | None = Field(
        None,
        description="What it may use by itself (client_credentials): public or members; without "
        "it, it has no access of its own, and only brings identity assertions of people.",
    )
    tools: tuple[str, ...] | None = Field(
        None, description="The only tools that it may use by itself, by name; without, all."
    )

    @model_validator(mode="after")
    def _has_keys(self) -> Self:
        if (self.jwks is None) == (self.jwks_url is None):
            raise ValueError("needs its public keys: give either jwks or jwks_url")
        if self.jwks is not None:
            keys = self.jwks.get("keys")
            if not isinstance(keys, list) or not keys:
                raise ValueError('jwks must be a key set: {"keys": [...]}')
            if any(not isinstance(key, dict) or key.keys() & {"d", "k"} for key in keys):
                raise ValueError("jwks must hold public keys alone: make new keys, and keep yours")
        return self


class AssertingIssuer(Section):
    """An identity provider whose identity assertions (ID-JAG) about people are taken."""

    issuer: Annotated[Issuer, AfterValidator(safe_url)] = Field(
        description="The issuer, exactly as it writes itself."
    )
    jwks_url: SafeUrl | None = Field(
        None, description="Where its keys are; found by OpenID Connect discovery if not given."
    )
    algorithms: SignatureAlgorithms = Field(
        ("RS256", "ES256"), description="The signature algorithms to accept."
    )
    clients: tuple[str, ...] | None = Field(
        None, description="The ids of the only clients that may bring them; without, all."
    )


class CloudflareAccess(Section):
    """Cloudflare Access in front of the portal: its CF-Access-JWT-Assertion header counts."""

    team: SafeUrl = Field(
        description="The team's address, such as https://TEAM.cloudflareaccess.com."
    )
    audience: str = Field(min_length=1, description="The application's audience tag.")


class Tokens(Section):
    """How long the portal's own tokens live, and how many there may be."""

    access: Annotated[Life, AfterValidator(_access_life)] = Field(
        timedelta(minutes=15), description="An access token's life."
    )
    refresh: Life = Field(
        timedelta(days=30), description="A refresh token's life; each use gives a new one."
    )
    grant: Life = Field(
        timedelta(days=90),
        description="How long a client may refresh before its person must sign in again, counted "
        "from their consent.",
    )
    session: Life = Field(
        timedelta(days=7), description="How long a browser stays signed in to the portal's pages."
    )
    api: Life = Field(timedelta(days=365), description="The longest life of a personal API token.")
    per_person: int = Field(20, ge=0, le=1000, description="API tokens that one person may hold.")


_Keyed = TypeVar("_Keyed", Accepted, AssertingIssuer)


def _issuers_once(accepted: tuple[_Keyed, ...]) -> tuple[_Keyed, ...]:
    _once(each.issuer for each in accepted)
    return accepted


def _clients_once(clients: tuple[DeclaredClient, ...]) -> tuple[DeclaredClient, ...]:
    _once(each.id for each in clients)
    return clients


def _names_once(providers: tuple[Oidc, ...]) -> tuple[Oidc, ...]:
    _once(each.slug for each in providers)
    return providers


def _once(values: Iterable[str | int]) -> None:
    seen: set[str | int] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"says {value} twice; keep one of the two")
        seen.add(value)


class SignIn(Section):
    """How people prove who they are."""

    wallet: Wallet = Field(default_factory=Wallet)
    github: Github | None = Field(None)
    oidc: Annotated[tuple[Oidc, ...], AfterValidator(_names_once)] = Field(
        (), description="OpenID Connect providers."
    )
    accept: Annotated[tuple[Accepted, ...], AfterValidator(_issuers_once)] = Field(
        (), description="JWTs of other issuers to accept."
    )
    cloudflare_access: CloudflareAccess | None = Field(None)
    clients: Annotated[tuple[DeclaredClient, ...], AfterValidator(_clients_once)] = Field(
        (), description="OAuth clients that sign with keys of their own, such as machines."
    )
    identity_assertions: Annotated[tuple[AssertingIssuer, ...], AfterValidator(_issuers_once)] = (
        Field(
            (),
            description="Identity providers whose word lets clients act for people.",
        )
    )
    tokens: Tokens = Field(default_factory=Tokens)
    challenge: Challenged = Field(
        "auto",
        description="How /mcp answers a call above the caller's tier: by the HTTP challenge (401 "
        "or 403) that starts a client's sign-in, or by a sentence with a link that the model "
        "reads. auto: the challenge, but the sentence where no sign-in of the client's would "
        "help, or where it would lose its connection.",
    )
    private_hosts: tuple[str, ...] = Field(
        (),
        description="Hosts, as NAME or NAME:PORT, on private addresses that may publish the "
        "metadata of an MCP client; all others must be on public ones.",
    )


class Chain(Section):
    """One EVM chain, read by JSON-RPC."""

    id: int = Field(ge=1, description="The chain's id, such as 10 for Optimism.")
    name: str | None = Field(None, description="What messages to admins call it.")
    rpc: tuple[Annotated[Address, AfterValidator(_endpoint)], ...] = Field(
        min_length=1,
        description="JSON-RPC addresses, asked in order until one answers; env:NAME or file:PATH "
        "for one with a key in it.",
    )


def _chains_once(chains: tuple[Chain, ...]) -> tuple[Chain, ...]:
    _once(each.id for each in chains)
    return chains


Chains = Annotated[tuple[Chain, ...], AfterValidator(_chains_once)]


class Hats(Section):
    """Where roles of Hats Protocol are read."""

    chain: int = Field(10, description="The chain's id; 10 is Optimism.")
    contract: str = Field(
        _HATS, pattern=r"^0x[0-9a-fA-F]{40}$", description="The Hats contract's address."
    )
    tree: int | None = Field(
        None, ge=1, le=2**32 - 1, description="The only tree that tiers.yaml may name, if given."
    )


class Passport(Section):
    """A proof-of-personhood score, for the rule passport_score."""

    url: SafeUrl = Field(
        "https://api.passport.xyz",
        description="The endpoint; /v2/stamps/SCORER/score/ADDRESS is asked below it.",
    )
    scorer: str = Field(description="The scorer's id.")
    key: SecretRef = Field(description="The API key, as env:NAME or file:PATH.")


def _claims_age(value: timedelta) -> timedelta:
    if not _MIN_CLAIMS_AGE <= value <= _MAX_LIFETIME:
        raise ValueError(
            f"must be from 1h to {_MAX_LIFETIME.days}d; what a provider says counts so long"
        )
    return value


class Events(Section):
    """Following what chains log of roles, so that a change counts at once."""

    enabled: bool = Field(
        True, description="Whether the logs of the chains that tiers.yaml names are followed."
    )
    every: Annotated[Duration, AfterValidator(_look)] = Field(
        timedelta(seconds=5), description="The time between two looks at a chain; at most 10s."
    )


class Roles(Section):
    """Where the facts that rules ask for come from, and how long they are believed."""

    hats: Hats = Field(default_factory=Hats)
    passport: Passport | None = Field(None)
    ens: int | None = Field(
        1, description="The chain on which ENS names are looked up, where it is listed in chains."
    )
    cache: Duration = Field(
        timedelta(minutes=5),
        description="How long a fact is believed; asked again ahead of it while it is in use.",
    )
    claims: Annotated[Duration, AfterValidator(_claims_age)] = Field(
        timedelta(days=30),
        description="How long what a provider said of somebody counts (claims, a verified e-mail "
        "address); then it is unknown until they sign in again or bring a newer token.",
    )
    events: Events = Field(default_factory=Events)
