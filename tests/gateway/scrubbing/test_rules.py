"""The rules as data: whole, documented, and each with fakes of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from gateway.scrubbing.checks import CHECKS
from gateway.scrubbing.rules import MARK, Rule, all_rules, shipped
from tests.gateway.scrubbing.fakes import made
from tests.gateway.scrubbing.labelled import ALL_FORMS

ROOT = Path(__file__).parents[3]


def test_there_are_at_least_sixty_kinds() -> None:
    assert len(all_rules()) >= 60


def test_names_and_kinds_are_given_once() -> None:
    for counted in (Counter(r.name for r in all_rules()), Counter(r.kind for r in all_rules())):
        assert [each for each, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_a_rule_names_its_source_its_check_and_has_a_case(rule: Rule) -> None:
    assert rule.source.startswith("https://") or (ROOT / rule.source).is_file()
    assert rule.check == "" or rule.check in CHECKS
    assert rule.mark.startswith(MARK[:-1])
    assert ALL_FORMS[rule.name]


def test_at_least_forty_rules_were_compared_with_what_their_vendors_say() -> None:
    assert sum(rule.checked is not None for rule in all_rules()) >= 40


def test_every_case_belongs_to_a_rule() -> None:
    assert set(ALL_FORMS) == {rule.name for rule in all_rules()}


def test_a_vendors_own_form_is_tried_before_a_name_and_a_name_before_what_anyone_may_use() -> None:
    ranks = [rule.rank for rule in all_rules()]
    assert ranks == sorted(ranks)
    assert all_rules()[-1].name == "high-entropy"


def test_rules_can_be_left_out_by_name() -> None:
    assert {rule.name for rule in all_rules()} - {rule.name for rule in shipped(["jwt"])} == {"jwt"}


def test_fakes_are_of_their_form() -> None:
    assert made("ab_{hex:4}-{digit:2}", Random(1)).startswith("ab_")
    assert len(made("{alnum:36}", Random(1))) == 36
