"""What a run would ask and cost, from the prompts that it would send; nobody is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal

from gateway.contract import ExpectedCost, Models, Role
from plugins.codegraph.justification.opinions.asking import prompt_of
from plugins.codegraph.justification.opinions.claims import TASK, Claims
from plugins.codegraph.justification.opinions.plan import Plan

BYTES_PER_TOKEN = 3.5
"""Bytes of a prompt for which a model counts about one token; tokenizers differ, and none is here.
Code and JSON come out at three to four with those in use."""
ANSWER_TOKENS = 160
"""Tokens that an answer on one entity is reckoned with: two sentences, and a few names."""
METHOD = (
    f"Tokens are estimated: a prompt's bytes by {BYTES_PER_TOKEN:g}, and {ANSWER_TOKENS} for the "
    "answer on each entity. The prompts are those of the run, with what is known of callees today. "
    "What the code contradicts is asked a second time, so it may be more."
)
"""How the tokens are estimated, for people."""
_ROLES: tuple[Role, Role] = ("simple", "complex")


@dataclass(slots=True)
class RoleEstimate:
    """What one role would be asked.

    Attributes:
        role: the role.
        entities: how many entities.
        prompts: in how many prompts.
        input_tokens, output_tokens: of prompts, and of answers.
        cost: what that would cost; None where the portal has no such model.
    """

    role: Role
    entities: int = 0
    prompts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: ExpectedCost | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would ask.

    Attributes:
        levels: how many levels have something to ask.
        roles: what each role would be asked.
    """

    levels: int
    roles: tuple[RoleEstimate, ...]

    @property
    def entities(self) -> int:
        """How many entities would be asked about."""
        return sum(each.entities for each in self.roles)

    @property
    def usd(self) -> Decimal | None:
        """What it would cost in all; None where a price is not known."""
        found = [
            None if each.cost is None else each.cost.usd for each in self.roles if each.prompts
        ]
        return None if None in found else sum((each for each in found if each), Decimal(0))


async def estimated(plan: Plan, models: Models) -> Estimate:
    """What the rest of a plan would ask.

    Args:
        plan: the plan.
        models: the portal's, for their prices.
    """
    fixed = len(TASK.encode()) + len(json.dumps(Claims.model_json_schema()))
    roles = {each: RoleEstimate(each) for each in _ROLES}
    pending = [plan.pending(level) for level in range(len(plan.levels))]
    for group in (each for some in pending for each in some):
        told = roles[plan.role(group)]
        told.entities, told.prompts = told.entities + len(group), told.prompts + 1
        size = fixed + len(prompt_of(await plan.contexts.of(group)).encode(errors="replace"))
        told.input_tokens += round(size / BYTES_PER_TOKEN)
        told.output_tokens += ANSWER_TOKENS * len(group)
    for each in roles.values():
        each.cost = await models.expected_cost(each.role, each.input_tokens, each.output_tokens)
    return Estimate(sum(map(bool, pending)), tuple(roles.values()))
