"""``approve:`` of a line of ``tiers.yaml``: whose yes a tool waits for before it runs."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from pydantic_core import to_json

from auth.rules import KINDS, Rule, is_bounded
from auth.rules.verdict import needs
from gateway.contract.config_types import Duration, written_duration

CALLER, ADMINS = "caller", "admins"
NOBODY = "nobody"
"""Instead of a rule: the tool waits for nobody's yes, whatever its plugin suggests."""
MAX_QUORUM = 20
"""People whose yes one rule may ask for."""
_MIN_EXPIRES, _MAX_EXPIRES = timedelta(minutes=1), timedelta(days=30)


def _span(value: timedelta) -> timedelta:
    if not _MIN_EXPIRES <= value <= _MAX_EXPIRES:
        raise ValueError("must be from 1m to 30d")
    return value


def _judgeable(value: Any) -> Any:
    if not is_bounded(value):
        raise ValueError("the rule is too large to judge; make it simpler")
    if isinstance(value, str) and value not in (CALLER, ADMINS, *KINDS):
        raise ValueError("is nobody; write caller, admins, or a rule such as {hat: 30.3.1}")
    return value


def _named(value: Any) -> str:
    return "named" if value in (CALLER, ADMINS) else "rule"


Named = Literal["caller", "admins"]
By = Annotated[
    Annotated[Named, Tag("named")] | Annotated[Rule, Tag("rule")],
    Discriminator(_named),
    BeforeValidator(_judgeable),
]
"""Who is asked: the caller's own person, the admins, or whom a rule on people matches."""


class ApprovalRule(BaseModel):
    """Whose yes a tool waits for before it runs: ``{by: admins, quorum: 2, expires: 1d}``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: By = Field(
        description="Who may say yes: caller (the person who calls, asked in their client), "
        "admins, or a rule on people as in access. Only caller counts a yes to one's own call."
    )
    quorum: Annotated[int, Field(ge=1, le=MAX_QUORUM)] = Field(
        1, description="How many different people have to say yes."
    )
    expires: Annotated[Duration, AfterValidator(_span)] = Field(
        timedelta(days=1),
        description="How long a request waits, from the call that asks to the one that runs.",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.is_own and self.quorum > 1:
            raise ValueError("the caller is one person: leave the quorum out, or let others decide")
        return self

    @property
    def is_own(self) -> bool:
        """Whether the caller's own person is asked."""
        return self.by == CALLER

    @property
    def people(self) -> Rule | None:
        """The rule on people, where it is one."""
        return None if isinstance(self.by, str) else self.by

    def version(self, admins: Rule) -> str:
        """What tells this rule from every other; a request holds under the one that asked.

        Args:
            admins: the rule for admins in force, which counts where they are asked.
        """
        asked = [self.model_dump(mode="json", by_alias=True)]
        if self.by == ADMINS:
            asked.append(admins.model_dump(mode="json", by_alias=True))
        return hashlib.sha256(to_json(asked)).hexdigest()[:16]

    @property
    def who(self) -> str:
        """Who may say yes, as callers are told; it names nobody."""
        if self.is_own:
            return "the person who calls"
        if self.by == ADMINS:
            return "an admin" if self.quorum == 1 else f"{self.quorum} admins"
        wanted = needs(self.by.verdict((), {})) if not isinstance(self.by, str) else []
        who = "; ".join(line.strip() for line in wanted) or "nobody, as the rule stands"
        count = "somebody else" if self.quorum == 1 else f"{self.quorum} other people"
        return f"{count} ({who})".replace(":;", ":")

    def __str__(self) -> str:
        return f"by {self.who}, within {written_duration(self.expires)}"


OWN = ApprovalRule(by=CALLER)
"""What a plugin suggests for a tool that writes where others see it."""
CONFIRMED = ApprovalRule(by="caller", expires=timedelta(hours=12))
"""The rule under which an assistant's calls wait for its person's yes, whatever ``tiers.yaml`` says
beside, where the tool may write."""
