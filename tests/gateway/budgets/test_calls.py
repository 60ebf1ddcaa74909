"""A plan says how many tool calls each of its people may make, and its file is followed."""

from __future__ import annotations

from gateway.testing import AnsweringModel, TestPortal, open_test_portal
from tests.gateway.budgets.test_gate import person
from tests.journeys import garden

PLANS = """
plans:
  free: {title: Free, budget: 1.00, calls: 2 in 600s}
  pro: {title: Pro, budget: 1.00, calls: 4 in 600s}
  rest: {title: Rest, budget: 1.00}
assign:
- {plan: pro, to: {github: ann}}
- {plan: rest, to: {github: cy}}
default: free
"""


WHOLE = {"limits": {"client_percent": 100}}
"""One client may make all the calls of its person."""


async def calls(portal: TestPortal, name: str, times: int) -> int:
    """How many of so many calls are answered."""
    answers = [await portal.call("get_usage", tier=name) for _ in range(times)]
    refused = [each for each in answers if each.is_error]
    assert all("600" in each.text or "limit" in each.text.lower() for each in refused), refused
    return times - len(refused)


async def test_each_person_has_the_calls_of_their_plan() -> None:
    async with open_test_portal(garden, config=WHOLE, plans=PLANS) as portal:
        for name in ("ann", "bo", "cy", "dee"):
            await person(portal, name)
        assert await calls(portal, "ann", 6) == 4
        assert await calls(portal, "bo", 6) == 2
        assert await calls(portal, "dee", 6) == 2, "each person has their own"
        assert await calls(portal, "cy", 6) == 6, "a plan that says nothing leaves it to the tier"


async def test_plans_that_come_later_count_without_a_restart() -> None:
    with AnsweringModel() as model:
        config = {**model.config, **WHOLE}
        async with open_test_portal(garden, config=config, plans="plans: {}\n") as portal:
            await person(portal, "bo")
            assert await calls(portal, "bo", 4) == 4
            (portal.config_dir / "plans.yaml").write_text(PLANS)
            portal.running.budgets.file._reload()
            assert await calls(portal, "bo", 4) == 2
