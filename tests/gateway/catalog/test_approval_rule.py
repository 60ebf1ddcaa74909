"""``approve:`` in tiers.yaml: whose yes, how many, how long; and what it makes of a line."""

from __future__ import annotations

from typing import Any

import pytest

from auth import Tier
from auth.rules import AccessRules
from gateway.catalog.approval_rule import OWN, ApprovalRule
from gateway.catalog.tier_rule import ItemKey, Rule, TierRules
from gateway.config.tiers_file import parse_tiers
from gateway.errors import ConfigError

NOBODY = AccessRules().admins


def read(approve: str, key: str = "vault/pay", tier: str = "open") -> ApprovalRule:
    """What a line asks for."""
    text = f"items:\n  {key}: {{tier: {tier}, approve: {approve}}}\n"
    return parse_tiers(text.encode(), "tiers.yaml").approvals[key]


def test_a_hat_is_the_one_that_was_written() -> None:
    asked = read("{by: {hat: 30.10}, quorum: 2, expires: 2d}")
    assert asked.model_dump(mode="json") == {
        "by": {"hat": "30.10"},
        "quorum": 2,
        "expires": "P2D",
    }
    assert str(asked) == "by 2 other people (wear the hat 30.10), within 2d"


@pytest.mark.parametrize(
    ("approve", "who"),
    [
        ("{by: caller}", "the person who calls"),
        ("{by: admins}", "an admin"),
        ("{by: admins, quorum: 3}", "3 admins"),
        ("{by: signed_in}", "somebody else (sign in)"),
        (
            "{by: {github: octocat}}",
            "somebody else (have a GitHub account that an admin has listed)",
        ),
        ("{by: {any_of: []}}", "somebody else (nobody, as the rule stands)"),
    ],
)
def test_callers_are_told_who_decides_and_no_names(approve: str, who: str) -> None:
    assert read(approve).who == who


@pytest.mark.parametrize(
    ("approve", "reason"),
    [
        ("", "approve: is empty; write {by: caller}"),
        ("caller", "must be a mapping"),
        ("{quorum: 2}", "by: is missing"),
        ("{by: caler}", "is nobody; write caller, admins, or a rule"),
        ("{by: {hta: 1}}", "did you mean hat?"),
        ("{by: caller, quorum: 2}", "the caller is one person"),
        ("{by: admins, quorum: 0}", "greater than or equal to 1"),
        ("{by: admins, expires: 5s}", "must be from 1m to 30d"),
        ("{by: admins, expires: 31d}", "must be from 1m to 30d"),
        ("{by: admins, quorom: 2}", "did you mean quorum?"),
    ],
)
def test_a_slip_is_told_by_its_line(approve: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=r"tiers\.yaml:2") as told:
        read(approve)
    assert reason in str(told.value)


@pytest.mark.parametrize("key", ["vault/prompt:plan", "vault/resource:v://x", "vault/document:a/b"])
def test_what_is_only_read_waits_for_nobody(key: str) -> None:
    with pytest.raises(ConfigError, match="only tools run"):
        read("{by: admins}", key)


def test_a_rule_too_large_to_judge_is_refused() -> None:
    with pytest.raises(ConfigError, match="too large to judge"):
        read("{by: " + "{not: " * 20 + "signed_in" + "}" * 20 + "}")


@pytest.mark.parametrize(
    "changed",
    [
        "{by: {hat: 30.1}, quorum: 2}",
        "{by: {hat: 30.2}}",
        "{by: {hat: 30.1}, expires: 2d}",
        "{by: caller}",
    ],
)
def test_each_change_of_a_rule_is_another_version(changed: str) -> None:
    rule = read("{by: {hat: 30.1}}")
    assert rule.version(NOBODY) == read("{by: {hat: 30.1}, quorum: 1}").version(NOBODY)
    assert rule.version(NOBODY) != read(changed).version(NOBODY)


def test_who_is_an_admin_is_part_of_a_rule_that_asks_them() -> None:
    admins = AccessRules.model_validate({"admins": {"github": "octocat"}}).admins
    assert read("{by: admins}").version(NOBODY) != read("{by: admins}").version(admins)
    assert read("{by: caller}").version(NOBODY) == read("{by: caller}").version(admins)


def decided(kind: Any = "tool", **line: Any) -> Any:
    rule = Rule("vault/*", Tier.OPEN, approval=read("{by: caller}"), **line)
    return TierRules((rule,)).decide(ItemKey("vault", kind, "pay"), None, Tier.OPEN)


def test_a_tool_that_waits_is_for_people_who_have_signed_in() -> None:
    found = decided()
    assert (found.tier, found.approval) == (Tier.PUBLIC, read("{by: caller}"))
    assert "raised to public because a yes is given to a person" in found.because


def test_a_line_for_everything_of_a_plugin_has_its_tools_wait_alone() -> None:
    found = decided("resource")
    assert (found.tier, found.approval) == (Tier.OPEN, None)


def test_of_two_patterns_as_long_as_each_other_the_one_that_asks_wins() -> None:
    lines = [
        Rule("vault/p*", Tier.OPEN),
        Rule("vault/*y", Tier.OPEN, approval=read("{by: admins}")),
    ]
    for several in (lines, lines[::-1]):
        found = TierRules(tuple(several)).decide(ItemKey("vault", "tool", "pay"), None, Tier.OPEN)
        assert found.approval is not None


def test_a_more_specific_line_without_it_waits_for_nobody() -> None:
    lines = (Rule("vault", Tier.OPEN, approval=read("{by: admins}")), Rule("vault/pay", Tier.OPEN))
    found = TierRules(lines).decide(ItemKey("vault", "tool", "pay"), None, Tier.OPEN)
    assert (found.tier, found.approval) == (Tier.OPEN, None)


PAY = ItemKey("vault", "tool", "pay")


@pytest.mark.parametrize("line", ["vault", "vault/*", "vault/pay", "other/pay"])
def test_what_a_plugin_suggests_is_asked_for_where_no_line_names_anybody(line: str) -> None:
    found = TierRules((Rule(line, Tier.OPEN),)).decide(PAY, Tier.OPEN, Tier.OPEN, OWN)
    assert (found.tier, found.approval) == (Tier.PUBLIC, OWN)


def test_a_line_that_names_others_or_nobody_counts_instead() -> None:
    text = "items:\n  vault/pay: {tier: open, approve: nobody}\n"
    waived = parse_tiers(text.encode(), "tiers.yaml")
    assert waived.approvals == {}
    assert waived.items.decide(PAY, None, Tier.OPEN, OWN).approval is None
    admins = Rule("vault/pay", Tier.MEMBERS, approval=read("{by: admins}"))
    found = TierRules((admins,)).decide(PAY, None, Tier.OPEN, OWN)
    assert found.approval == read("{by: admins}")


def test_nothing_that_is_read_waits_whatever_is_suggested() -> None:
    found = TierRules().decide(ItemKey("vault", "resource", "x://y"), Tier.OPEN, Tier.OPEN, OWN)
    assert (found.tier, found.approval) == (Tier.OPEN, None)
