"""The rules as data: whole, documented, and each with fakes of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from gateway.scrubbing.checks import CHECKS
from gateway.scrubbing.rule_files import MARK, Rule, all_rules, shipped
from gateway.scrubbing.scanner import Scanner
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


def _named(name: str) -> Rule:
    (found,) = [rule for rule in all_rules() if rule.name == name]
    return found


@pytest.mark.usefixtures("read_anew")
@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("private-key", 0),
        ("github-classic-token", 1),
        ("heroku-legacy-key", 2),
        ("assignment", 3),
        ("high-entropy", 3),
    ],
)
def test_a_block_comes_first_then_a_form_of_its_own_then_a_name_then_the_rest(
    name: str, rank: int
) -> None:
    assert _named(name).rank == rank


@pytest.mark.usefixtures("read_anew")
def test_every_rule_of_every_file_is_read_once() -> None:
    folder = ROOT / "gateway" / "scrubbing" / "rules"
    texts = [path.read_text("utf-8") for path in folder.glob("*.yaml")]
    written = [line.removeprefix("- name: ") for text in texts for line in text.splitlines()]
    assert {rule.name for rule in all_rules()} <= set(written)
    assert len(all_rules()) == sum(text.count("- name: ") for text in texts)


UUID = "01234567-89ab-cdef-0123-456789abcdef"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


@pytest.mark.usefixtures("read_anew")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"HEROKU_API_KEY={UUID}", ["heroku-legacy-key"]),
        (f"key={UUID}", []),
        (f"DATADOG_API_KEY={HEX}", ["datadog-key"]),
        (f"my_dd_api_key={HEX}", ["datadog-key"]),
        (f"dd_app_key={HEX}", ["datadog-key"]),
        (f"add_apis: {HEX}", []),
    ],
)
def test_a_value_is_a_secret_near_one_of_the_names_that_its_rule_lists(
    text: str, found: list[str]
) -> None:
    scanner = Scanner(rule for rule in all_rules() if rule.rank == 2)
    assert [each.rule.name for each in scanner.find(text.encode())] == found


@pytest.mark.parametrize(
    ("pattern", "rough"),
    [
        ("a{40}", "a{6,}"),
        ("a{20,}", "a{6,}"),
        ("a{20,80}", "a{6,}"),
        ("a{6}", "a{6}"),
        ("a{7}", "a{6,}"),
        ("a{3}", "a{3}"),
        ("a{3,}", "a{3,}"),
        ("a{3,9}", "a{3,}"),
        ("a+b*", "a+b*"),
    ],
)
def test_the_rough_pattern_counts_to_six(pattern: str, rough: str) -> None:
    assert Rule("n", "k", pattern, "https://example.org", 1).rough == rough
    random = Rule("n", "k", pattern, "https://example.org", 1, check="entropy")
    assert random.rough == pattern
