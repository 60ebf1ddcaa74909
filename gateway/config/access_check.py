"""``access:`` of ``tiers.yaml`` held against ``portal.yaml``: can each condition be read at all?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from auth import hat_ids as hats
from auth.rules import Condition, Location, conditions
from auth.rules.address import OneAddress
from auth.rules.claim import Claim
from auth.rules.email import VerifiedEmail
from auth.rules.github import Github, GithubAge, GithubOrg, GithubTeam
from auth.rules.hat import Hat
from auth.rules.passport import PassportScore
from auth.rules.token import Token
from gateway.config.portal_keys import PortalConfig
from gateway.config.tiers_file import KeyFindings, Tiers
from gateway.config.yaml_source import YamlSource
from gateway.contract.suggestions import nearest
from gateway.errors import Problem

Finding = tuple[bool, str]
"""Whether it is a problem, rather than a notice, and what to do."""


def check_access(tiers: Tiers, config: PortalConfig) -> KeyFindings:
    """Find conditions that the portal cannot read as they seem to be meant.

    Args:
        tiers: what ``tiers.yaml`` says.
        config: what ``portal.yaml`` says.

    Returns:
        Problems are conditions that nobody can be judged by; notices, those that hold for fewer
        or for other people than their line suggests.
    """
    return check_conditions(_conditions(tiers), tiers.source, config)


def check_conditions(
    places: Iterable[tuple[Location, Condition]], source: YamlSource, config: PortalConfig
) -> KeyFindings:
    """The same for conditions of any file.

    Args:
        places: the conditions, each with its location in the file.
        source: the file.
        config: what ``portal.yaml`` says.
    """
    problems: list[Problem] = []
    notices: list[Problem] = []
    for place, condition in places:
        check = _CHECKS.get(type(condition), _nothing)
        for is_problem, reason in check(condition, config):
            (problems if is_problem else notices).append(source.problem(place, reason))
    return KeyFindings(tuple(problems), tuple(notices))


def _conditions(tiers: Tiers) -> Iterator[tuple[Location, Condition]]:
    """Every condition on people, with its location in the file."""
    for place, condition in tiers.access.conditions():
        yield ("access", *place), condition
    for key, approval in tiers.approvals.items():
        if approval.people is not None:
            yield from conditions(approval.people, ("items", key, "approve", "by"))


def _nothing(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    yield from ()


def _wallet(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    if not config.sign_in.wallet.enabled:
        yield False, "asks for a wallet, and sign_in.wallet of portal.yaml is not enabled"


def _address(condition: OneAddress, config: PortalConfig) -> Iterator[Finding]:
    yield from _wallet(condition, config)
    if condition.chain is not None:
        yield from _chain(condition.chain, config)


def _chain(chain: int, config: PortalConfig) -> Iterator[Finding]:
    if chain not in {each.id for each in config.chains}:
        listed = ", ".join(str(each.id) for each in config.chains) or "none"
        reason = f"the chain {chain} is not in chains: of portal.yaml; listed there: {listed}"
        yield True, reason


def _hat(condition: Hat, config: PortalConfig) -> Iterator[Finding]:
    yield from _wallet(condition, config)
    yield from _chain(config.roles.hats.chain, config)
    tree = config.roles.hats.tree
    if tree is not None and hats.tree(hats.parse(condition.hat)) != tree:
        yield True, f"the hat {condition.hat} is not of tree {tree}, roles.hats.tree of portal.yaml"


def _token(condition: Token, config: PortalConfig) -> Iterator[Finding]:
    yield from _wallet(condition, config)
    yield from _chain(condition.token.chain, config)


def _github(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    if config.sign_in.github is None:
        yield True, "nobody can sign in with GitHub; portal.yaml has no sign_in.github"


def _organization(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    yield from _github(condition, config)
    github = config.sign_in.github
    if github is not None and github.token is None:
        yield False, "counts public membership alone; set sign_in.github.token in portal.yaml"


def _team(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    yield from _github(condition, config)
    github = config.sign_in.github
    if github is not None and github.token is None:
        yield True, "teams cannot be read without sign_in.github.token in portal.yaml"


def _email(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    if config.sign_in.github is None and not _issuers(config):
        yield True, "no way to sign in tells e-mail addresses: portal.yaml has no GitHub or OIDC"


def _claim(condition: Claim, config: PortalConfig) -> Iterator[Finding]:
    issuers = _issuers(config)
    issuer = condition.claim.issuer
    if not issuers:
        yield True, "nobody says claims; portal.yaml has no OIDC provider and accepts no JWT"
    elif issuer is None and len(issuers) > 1:
        yield False, "holds whichever issuer says it; name the issuer if they are not alike"
    elif issuer is not None and issuer.rstrip("/") not in issuers:
        yield True, f"no such issuer is in portal.yaml{nearest(issuer, issuers)}"


def _issuers(config: PortalConfig) -> set[str]:
    """Everyone whose claims the portal believes."""
    sign_in = config.sign_in
    named = {each.issuer for each in sign_in.oidc} | {each.issuer for each in sign_in.accept}
    if sign_in.cloudflare_access:
        named.add(sign_in.cloudflare_access.team)
    return {issuer.rstrip("/") for issuer in named}


def _passport(condition: Any, config: PortalConfig) -> Iterator[Finding]:
    yield from _wallet(condition, config)
    if config.roles.passport is None:
        yield True, "no score can be read; portal.yaml has no roles.passport"


_CHECKS: dict[type, Callable[[Any, PortalConfig], Iterator[Finding]]] = {
    Hat: _hat,
    Token: _token,
    OneAddress: _address,
    PassportScore: _passport,
    Github: _github,
    GithubAge: _github,
    GithubOrg: _organization,
    GithubTeam: _team,
    VerifiedEmail: _email,
    Claim: _claim,
}
