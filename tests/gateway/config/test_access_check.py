"""The rules of tiers.yaml held against portal.yaml."""

from typing import Any

import pytest

from gateway.config.access_check import check_access
from gateway.config.portal_keys import PortalConfig
from gateway.config.tiers_file import parse_tiers

GITHUB = {"client_id": "id", "client_secret": "env:SECRET"}
OIDC = {"name": "Work", "issuer": "https://id.example.org", "client_id": "id"}
OTHER = {"issuer": "https://other.example.org", "audience": "portal"}
CLOUDFLARE = {"team": "https://team.cloudflareaccess.com", "audience": "tag"}
OPTIMISM = {"chains": [{"id": 10, "rpc": ["https://rpc.example.org"]}]}
TOKEN = (
    "{token: {chain: 1, contract: 0x3bc1a0ad72417f2d411118085256fc53cbddd137, standard: erc721}}"
)


def check(condition: str, config: dict[str, Any]) -> tuple[list[str], list[str]]:
    text = f"access:\n  members:\n    any_of:\n      - signed_in\n      - {condition}\n"
    found = check_access(
        parse_tiers(text.encode(), "tiers.yaml"), PortalConfig.model_validate(config)
    )
    return [str(each) for each in found.problems], [str(each) for each in found.notices]


@pytest.mark.parametrize(
    ("condition", "config"),
    [
        ("signed_in", {}),
        ("{hat: 30.3.1}", OPTIMISM),
        ("{hat: 30.3.1}", OPTIMISM | {"roles": {"hats": {"tree": 30}}}),
        (TOKEN, {"chains": [{"id": 1, "rpc": ["https://rpc.example.org"]}]}),
        ("{address: 0x3bc1a0ad72417f2d411118085256fc53cbddd137}", {}),
        ("{github: octocat}", {"sign_in": {"github": GITHUB}}),
        ("{github_age: 90d}", {"sign_in": {"github": GITHUB}}),
        ("{github_org: a}", {"sign_in": {"github": GITHUB | {"token": "env:TOKEN"}}}),
        ("{github_team: a/b}", {"sign_in": {"github": GITHUB | {"token": "env:TOKEN"}}}),
        ("{email: a@b.org}", {"sign_in": {"github": GITHUB}}),
        ("{email: a@b.org}", {"sign_in": {"cloudflare_access": CLOUDFLARE}}),
        ("{claim: {name: a, value: b}}", {"sign_in": {"oidc": [OIDC]}}),
        (
            "{claim: {name: a, value: b, issuer: https://other.example.org/}}",
            {"sign_in": {"oidc": [OIDC], "accept": [OTHER]}},
        ),
        ("passport_score", {"roles": {"passport": {"scorer": "1", "key": "env:KEY"}}}),
    ],
)
def test_a_condition_that_can_be_read_is_fine(condition, config):
    assert check(condition, config) == ([], [])


@pytest.mark.parametrize(
    ("condition", "config", "reason"),
    [
        (
            "{hat: 30.3.1}",
            {},
            "the chain 10 is not in chains: of portal.yaml; listed there: none",
        ),
        (
            "{hat: 31.3.1}",
            OPTIMISM | {"roles": {"hats": {"tree": 30}}},
            "the hat 31.3.1 is not of tree 30, roles.hats.tree of portal.yaml",
        ),
        (TOKEN, OPTIMISM, "the chain 1 is not in chains: of portal.yaml; listed there: 10"),
        (
            "{github: octocat}",
            {},
            "nobody can sign in with GitHub; portal.yaml has no sign_in.github",
        ),
        (
            "{github_org: a}",
            {},
            "nobody can sign in with GitHub; portal.yaml has no sign_in.github",
        ),
        (
            "{github_team: a/b}",
            {"sign_in": {"github": GITHUB}},
            "teams cannot be read without sign_in.github.token in portal.yaml",
        ),
        (
            "{email: a@b.org}",
            {},
            "no way to sign in tells e-mail addresses: portal.yaml has no GitHub or OIDC",
        ),
        (
            "{claim: {name: a, value: b}}",
            {},
            "nobody says claims; portal.yaml has no OIDC provider and accepts no JWT",
        ),
        (
            "{claim: {name: a, value: b, issuer: https://id.exampel.org}}",
            {"sign_in": {"oidc": [OIDC]}},
            "no such issuer is in portal.yaml; did you mean https://id.example.org?",
        ),
        ("passport_score", {}, "no score can be read; portal.yaml has no roles.passport"),
        (
            "not: {all_of: [passport_score]}",
            {},
            "no score can be read; portal.yaml has no roles.passport",
        ),
    ],
)
def test_a_condition_that_cannot_be_read_is_a_problem_with_its_line(condition, config, reason):
    problems, notices = check(condition, config)
    (problem,) = problems
    assert problem.startswith("tiers.yaml:5: access.members.any_of[1]")
    assert problem.endswith(f": {reason}")
    assert notices == []


@pytest.mark.parametrize(
    ("condition", "config", "reason"),
    [
        ("{github_org: a}", {"sign_in": {"github": GITHUB}}, "counts public membership alone"),
        (
            "{claim: {name: a, value: b}}",
            {"sign_in": {"oidc": [OIDC], "accept": [OTHER]}},
            "holds whichever issuer says it",
        ),
        (
            "{hat: 30.3.1}",
            OPTIMISM | {"sign_in": {"wallet": {"enabled": False}}},
            "sign_in.wallet of portal.yaml is not enabled",
        ),
    ],
)
def test_a_condition_that_holds_for_fewer_or_for_others_is_noticed(condition, config, reason):
    problems, (notice,) = check(condition, config)
    assert problems == []
    assert reason in notice
