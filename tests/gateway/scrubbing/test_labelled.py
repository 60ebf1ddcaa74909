"""How much of the labelled set is found, and how much else: the bars of the issue."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gateway.scrubbing.rule_files import all_rules
from gateway.scrubbing.scrubber import Redaction, Scrubber
from tests.gateway.scrubbing.innocent import lines
from tests.gateway.scrubbing.labelled import CONTEXTS, PER_KIND, Case, cases

RECALL, FALSE_POSITIVES = 0.95, 0.01

Outcome = tuple[Case, str, list[Redaction]]


@pytest.fixture(scope="module")
def outcomes() -> Mapping[str, list[Outcome]]:
    scrubber = Scrubber()
    found: dict[str, list[Outcome]] = {}
    for case in cases():
        found.setdefault(case.rule, []).append((case, *scrubber.text(case.text)))
    return found


def _gone(outcome: Outcome) -> bool:
    case, text, _ = outcome
    return not any(secret in text for secret in case.secrets)


def test_the_set_has_every_kind_in_every_context(outcomes: Mapping[str, list[Outcome]]) -> None:
    for found in outcomes.values():
        assert {case.context for case, *_ in found} == set(CONTEXTS)
        assert len(found) >= PER_KIND * len(CONTEXTS)


def test_of_the_secrets_at_least_95_percent_are_taken_out(
    outcomes: Mapping[str, list[Outcome]],
) -> None:
    every = [each for found in outcomes.values() for each in found]
    assert sum(map(_gone, every)) / len(every) >= RECALL


@pytest.mark.parametrize("rule", [rule.name for rule in all_rules()])
def test_of_each_kind_some_are_found_and_named(
    rule: str, outcomes: Mapping[str, list[Outcome]]
) -> None:
    named = [each for each in outcomes[rule] if _gone(each) and rule in {r.rule for r in each[2]}]
    assert len(named) > len(outcomes[rule]) // 2


def test_of_500_innocent_lines_at_most_1_percent_are_touched() -> None:
    scrubber = Scrubber()
    innocent = list(lines())
    assert len(innocent) >= 500
    touched = [line for line in innocent if scrubber.text(line)[1]]
    assert len(touched) / len(innocent) <= FALSE_POSITIVES, touched


def test_no_redaction_is_in_words_that_hold_the_secret(
    outcomes: Mapping[str, list[Outcome]],
) -> None:
    for found in outcomes.values():
        for case, _, redactions in found:
            told = repr(redactions)
            assert not any(secret in told for secret in case.secrets if len(secret) > 3)
