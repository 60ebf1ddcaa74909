"""Lines of tiers.yaml: what decided, and what would change it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Account, Tier
from auth.rules import AccessRules
from gateway.catalog.tier_rule import ItemKey
from gateway.config.tiers_file import TierRulesFile, parse_tiers
from gateway.surfaces.admin.tiers_lines import TiersLines, block_of, condition, item_line

WRITTEN = """\
access:
  members:
    any_of:
    - hat: 30.3.1
    # and
    - github_org: example
  admins: {any_of: []}
items:
  knowledge: open
  knowledge/get_document: {tier: members, hidden: true}
"""


@pytest.fixture
def lines(tmp_path: Path) -> TiersLines:
    (tmp_path / "tiers.yaml").write_text(WRITTEN)
    return TiersLines(TierRulesFile(tmp_path / "tiers.yaml"))


def decided(lines: TiersLines, name: str, floor: Tier = Tier.OPEN):
    return lines._tiers.current.decide(ItemKey("knowledge", "tool", name), None, floor)


def test_a_decision_leads_to_its_line_as_it_is_written(lines: TiersLines) -> None:
    found = lines.deciding(decided(lines, "get_document"))
    assert found.place.endswith("tiers.yaml:10")
    assert found.text == "  knowledge/get_document: {tier: members, hidden: true}"
    default = lines._tiers.current.decide(ItemKey("garden", "tool", "dig"), None, Tier.OPEN)
    assert lines.deciding(default).place == ""
    assert "the default of" in lines.deciding(default).because


def test_a_rule_on_people_is_shown_with_all_that_is_its_own(lines: TiersLines) -> None:
    members = lines.rule("members")
    assert members.place.endswith("tiers.yaml:2")
    assert members.text.splitlines()[0] == "members:"
    assert members.text.splitlines()[-1] == "  - github_org: example"
    assert lines.rule("admins").text == "admins: {any_of: []}"
    assert lines.rule("public").place == ""
    assert block_of("a: b\n", 1) == "a: b"


def test_changes_name_the_line_to_change_or_where_to_add_one(lines: TiersLines) -> None:
    known = lines.change("knowledge/get_document", decided(lines, "get_document"), Tier.OPEN)
    assert "line 10 becomes" in known.where
    new = lines.change("knowledge/search", decided(lines, "search"), Tier.PUBLIC)
    assert "add one of these below items:" in new.where
    assert [line.strip() for line, _ in new.lines] == [
        "knowledge/search: public",
        "knowledge/search: {tier: public, hidden: true}",
        "knowledge/search: members",
        "knowledge/search: {tier: members, hidden: true}",
    ]


def test_no_line_to_change_loses_the_yes_that_an_item_waits_for(tmp_path: Path) -> None:
    file = tmp_path / "tiers.yaml"
    approve = "{by: {hat: 30.10}, quorum: 2, expires: 2h}"
    file.write_text(f"items:\n  garden/dig_*: {{tier: public, approve: {approve}}}\n")
    made = TiersLines(TierRulesFile(file))
    key = ItemKey("garden", "tool", "dig_here")
    before = made._tiers.current.decide(key, None, Tier.OPEN)
    for line, _ in made.change(f"{key}", before, Tier.OPEN).lines:
        rules = parse_tiers(f"items:\n{line}\n".encode(), "tiers.yaml").items
        assert rules.decide(key, None, Tier.OPEN).approval == before.approval


@given(
    st.sampled_from(["", "prompt:", "resource:", "document:"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=1, max_size=30),
    st.sampled_from(list(Tier)),
    st.booleans(),
)
def test_every_line_is_read_as_what_it_is_for(
    kind: str, name: str, tier: Tier, hidden: bool
) -> None:
    key = f"knowledge/{kind or 'resource:'}{name}"
    text = "items:\n" + item_line(key, tier, hidden=hidden)
    (rule,) = parse_tiers(text.encode(), "tiers.yaml").items.rules
    assert (rule.key, rule.tier, rule.hidden) == (key, tier, hidden)


@pytest.mark.parametrize(
    "account",
    [
        Account.of_key("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
        Account("github:583231", "github", "octo-cat"),
        Account("oidc:https://id.example.org#1", "oidc", email="ana@example.org"),
    ],
)
def test_a_condition_of_an_account_is_fulfilled_by_it(account: Account) -> None:
    text = f"access:\n  members:\n    any_of:\n    - {condition(account)}\n"
    access = parse_tiers(text.encode(), "tiers.yaml").access
    assert isinstance(access, AccessRules)
    assert access.verdict("members", (account,), {}).holds == "yes"


def test_an_account_that_no_rule_can_name_has_no_condition() -> None:
    assert condition(Account("oidc:https://id.example.org#1", "oidc")) is None
