import json
import re
from decimal import Decimal
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.config import schema
from gateway.config.money import NANOS_PER_DOLLAR, dollars, exact, nanos_of
from gateway.config.plans_file import Plans, PlansFile, parse_plans
from gateway.errors import ConfigError

CONFIG = Path(__file__).parents[3] / "config"
FREE = "plans: {free: {title: Free, budget: 0.50}}\ndefault: free\n"


def example() -> str:
    """The shipped example, as an admin has it who takes the # away."""
    lines = (CONFIG / "plans.yaml").read_text().splitlines()
    begin = lines.index("# plans:")
    return "\n".join(re.sub(r"^# ?", "", line) for line in lines[begin:])


def plans(text: str) -> Plans:
    return parse_plans(text.encode(), "plans.yaml")


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        plans(text)
    return [str(each) for each in error.value.problems]


@pytest.fixture(scope="module")
def validator():
    return jsonschema_rs.validator_for(json.loads(schema.generate({})["plans.schema.json"]))


def test_the_shipped_file_limits_nothing():
    found = plans((CONFIG / "plans.yaml").read_text())
    assert not found
    assert found.plans == {}


def test_the_shipped_example_has_the_plans_of_its_source(validator):
    found = plans(example())
    budgets = {name: exact(each.budget or 0) for name, each in found.plans.items()}
    assert budgets == {
        "free": "0.5",
        "pro": "5",
        "max": "25",
        "teams-pro": "4",
        "teams-max": "20",
        "enterprise": "500",
    }
    assert [name for name, each in found.plans.items() if each.hidden] == ["max"]
    assert [name for name, each in found.plans.items() if each.per_seat] == [
        "teams-pro",
        "teams-max",
    ]
    assert {each.minimum_seats for each in found.plans.values() if each.per_seat} == {3}
    assert (found.default, found.portal) == ("free", "enterprise")
    validator.validate(yaml.safe_load(example()))


def test_a_directory_without_the_file_limits_nothing(tmp_path):
    assert not PlansFile(tmp_path / "config").plans


def test_rules_and_amounts_are_read_as_they_are_written():
    found = plans(
        "plans: {free: {title: 1, budget: 0.10}}\ndefault: free\n"
        "assign: [{plan: free, to: {hat: 30.10}}]\n"
    )
    assert found.plans["free"].budget == NANOS_PER_DOLLAR // 10
    assert found.assign[0].to.hat == "30.10"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("plans: {free: {title: Free, budget: -1}}\ndefault: free\n", ":1: plans.free.budget: "),
        ("plans: {free: {title: Free, budget: 1e3}}\ndefault: free\n", ":1: plans.free.budget: "),
        ("plans: {free: {title: Free, budget: .nan}}\ndefault: free\n", ":1: plans.free.budget: "),
        ("plans: {free: {title: Free}}\ndefault: free\n", ":1: plans.free.budget: "),
        (
            "plans: {free: {title: Free, budget: 1, limt: hard}}\n",
            ":1: plans.free.limt: unknown key",
        ),
        ("plans: {free: {title: Free, budget: 1}}\n", ":1: plans: need a default"),
        (FREE + "portal: prow\n", ":3: portal: unknown plan; valid: free"),
        (FREE + "assign: [{plan: fre, to: signed_in}]\n", "did you mean free?"),
        (FREE + "assign: [{plan: free, to: {hatt: 1}}]\n", ":3: assign[0].to: unknown kind"),
        (FREE + "assign: [{plan: free, to: signed_in, seats: 3}]\n", "is not per_seat"),
        ("default: free\n", ":1: default: has no effect without a plan"),
        (
            "plans:\n  team: {title: T, budget: 4, per_seat: true, minimum_seats: 3}\n"
            "  free: {title: F, budget: 1}\n"
            "default: free\nassign:\n- {plan: team, to: signed_in}\n"
            "- {plan: team, to: signed_in, team: a, seats: 2}\n"
            "- {plan: team, to: signed_in, team: a, seats: 3}\n",
            ":6: assign[0]: is for a team",
        ),
        (
            "plans: {team: {title: T, budget: 4, per_seat: true}}\ndefault: team\n",
            ":2: default: is a plan for teams",
        ),
    ],
)
def test_a_mistake_is_named_by_its_line(text, problem):
    assert any(problem in each for each in problems(text)), problems(text)


def test_every_mistake_of_teams_is_named():
    found = problems(
        "plans:\n  team: {title: T, budget: 4, per_seat: true, minimum_seats: 3}\n"
        "  free: {title: F, budget: 1}\n"
        "default: free\nassign:\n"
        "- {plan: team, to: signed_in, team: a, seats: 2}\n"
        "- {plan: team, to: signed_in, team: a, seats: 3}\n"
    )
    assert found == [
        "plans.yaml:6: assign[0].seats: the plan team asks for at least 3",
        "plans.yaml:7: assign[1].team: is named before; join the rules with any_of",
    ]


def test_a_broken_file_keeps_the_plans_in_force(tmp_path):
    path = tmp_path / "plans.yaml"
    path.write_text(FREE)
    file = PlansFile(tmp_path)
    path.write_text("plans: [")
    assert not file._reload()
    assert file.problems
    assert file.plans.default == "free"
    path.write_text(FREE.replace("0.50", "7"))
    assert file._reload()
    assert file.problems == ()
    assert file.plans.plans["free"].budget == 7 * NANOS_PER_DOLLAR


@given(st.decimals(0, 999_999_999, places=9, allow_nan=False))
def test_an_amount_is_kept_exactly(amount: Decimal):
    nanos = nanos_of(f"{amount:f}")
    assert Decimal(nanos) / NANOS_PER_DOLLAR == amount
    assert nanos_of(exact(nanos)) == nanos
    shown = Decimal(dollars(nanos)[1:].replace(",", ""))
    assert abs(shown - amount) <= max(Decimal("0.005"), amount / 10)
    assert (shown == 0) == (amount == 0)


@given(st.integers(0, 10**17), st.sampled_from(["hard", "soft"]), st.booleans())
def test_the_schema_for_editors_accepts_what_the_portal_accepts(validator, nanos, limit, hidden):
    written = (
        f"plans: {{free: {{title: Free, budget: {exact(nanos)}, limit: {limit}, "
        f"hidden: {str(hidden).lower()}}}}}\ndefault: free\n"
    )
    assert plans(written).plans["free"].budget == nanos
    assert validator.is_valid(yaml.safe_load(written))
