"""``porch explain`` and ``porch tiers diff``: why, and what would change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import Run

ALICE = "0x52908400098527886E0F7030069857D2E4169EE7"
BOB = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
ACCESS = f"""
access:
  members: {{any_of: [{{address: {ALICE}}}]}}
  admins: {{any_of: [{{address: {ALICE}}}]}}
default: members
items:
  knowledge: open
  knowledge/get_document: members
  knowledge/list_tags: {{tier: members, hidden: true}}
"""


def test_it_names_the_rule_the_fact_and_the_line_that_allow_a_call(place: Path, porch: Run) -> None:
    (place / "config" / "tiers.yaml").write_text(ACCESS)
    result = porch("explain", "--as", ALICE, "--tool", "get_document")
    assert result.exit_code == EXIT.DONE, result.output
    assert "tier: members, admin" in result.output
    assert f"address: {ALICE}" in result.output
    assert "requires: members, by config/tiers.yaml:8 'knowledge/get_document'" in result.output
    assert "allowed: the caller's tier, members, is enough for members." in result.output


def test_it_names_what_refuses_a_call_and_fails(place: Path, porch: Run) -> None:
    (place / "config" / "tiers.yaml").write_text(ACCESS)
    result = porch("explain", "--as", BOB.lower(), "--tool", "get_document")
    assert result.exit_code == EXIT.PROBLEM
    assert BOB in result.output
    assert "✗ address:" in result.output
    assert "refused: the caller's tier, public, is below members." in result.output


def test_anonymous_callers_have_the_open_tier(porch: Run) -> None:
    result = porch("explain", "--tool", "get_document")
    assert "anonymous" in result.output
    assert "refused: the caller's tier, open, is below members." in result.output
    assert porch("explain", "--tool", "search_knowledge").exit_code == EXIT.DONE


def test_an_item_that_is_hidden_is_unknown_to_those_below_it(place: Path, porch: Run) -> None:
    (place / "config" / "tiers.yaml").write_text(ACCESS)
    told = json.loads(porch("explain", "--tool", "get_document", "--json").stdout)
    assert told["items"][0]["known"]
    name = "list_tags"
    result = porch("explain", "--tool", name)
    assert result.exit_code == EXIT.PROBLEM
    assert f"Nothing here is called {name}" in result.stderr or "unknown to them" in result.output


@pytest.mark.parametrize(
    ("written", "meant"),
    [("get_documnt", "get_document"), ("knowledge/get_documnt", "knowledge/get_document")],
)
def test_a_slip_of_the_key_is_told_with_the_nearest_names(
    porch: Run, written: str, meant: str
) -> None:
    result = porch("explain", "--tool", written)
    assert result.exit_code == EXIT.PROBLEM
    assert f"Nothing here is called {written}. Near it: {meant}" in result.stderr


def test_nobody_by_that_name_is_told_with_what_to_write(porch: Run) -> None:
    result = porch("explain", "--as", "github:nobody-here")
    assert result.exit_code == EXIT.PROBLEM
    assert "github:NAME of someone who has signed in" in result.stderr


def test_an_operators_token_is_explained_by_what_it_grants(porch: Run) -> None:
    assert porch("token", "create", "--tier", "members", "--name", "ci").exit_code == EXIT.DONE
    result = porch("explain", "--as", "token:ci", "--tool", "get_document")
    assert result.exit_code == EXIT.DONE, result.output
    assert "grants members" in result.output


def test_the_diff_says_which_items_change_hands(place: Path, porch: Run) -> None:
    proposal = place / "proposal.yaml"
    proposal.write_text("default: members\nitems:\n  knowledge: open\n")
    result = porch("tiers", "diff", "proposal.yaml")
    assert result.exit_code == EXIT.DONE, result.output
    assert result.output.startswith("1 item changes.\n\n")
    assert "knowledge/get_document\n  members -> open\n  gains: open, public\n" in result.output
    assert "requires members" not in porch("explain", "--tool", "get_document").output


def test_the_same_rules_change_nothing(place: Path, porch: Run) -> None:
    result = porch("tiers", "diff", "config/tiers.yaml")
    assert result.output == "Nothing changes for any item or for anyone who has signed in.\n"


def test_a_proposal_with_a_mistake_is_told_with_its_line(place: Path, porch: Run) -> None:
    (place / "proposal.yaml").write_text("default: members\nitems:\n  knowledge: everyone\n")
    result = porch("tiers", "diff", "proposal.yaml")
    assert result.exit_code == EXIT.PROBLEM
    assert "proposal.yaml:3" in result.stderr
