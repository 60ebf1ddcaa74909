"""``plans.yaml``: what language models may cost, whom, and what happens then.

A plan is a budget for each month (UTC) and what else it includes; people get theirs by rules, as
they get their tier. Without this file, or with an empty one, nothing is limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from auth.rules import Condition, Location, Rule, conditions, is_bounded
from gateway.config.followed_file import FollowedFile
from gateway.config.money import Dollars, DollarsOrNone
from gateway.config.yaml_source import YamlSource, parse_yaml, problems_of, without_empty
from gateway.contract.config_types import CallRate
from gateway.contract.suggestions import unknown
from gateway.errors import ConfigError, Problem

PLANS_FILE = "plans.yaml"
"""The file's name, in the configuration directory."""

_NAME = r"[a-z][a-z0-9-]{0,31}"


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _judgeable(value: Any) -> Any:
    if not is_bounded(value):
        raise ValueError("the rule is too large to judge; make it simpler")
    return value


class Plan(_Written):
    """A plan: what models may cost in a month, and what else it includes."""

    title: str = Field(min_length=1, max_length=60, description="What people read as its name.")
    budget: DollarsOrNone = Field(
        description="What calls of models may cost in a month (UTC), in US dollars, such as 0.50; "
        "none is no limit."
    )
    per_seat: bool = Field(
        False, description="Whether the budget is for each seat of a team, which has one pool."
    )
    minimum_seats: int = Field(1, ge=1, le=100_000, description="The fewest seats of a team.")
    limit: Literal["hard", "soft"] = Field(
        "hard",
        description="hard: at the budget, calls of models are refused until the next month, or "
        "until credits are granted; soft: they go on, and the pages say so.",
    )
    credits: bool = Field(
        True, description="Whether an admin may grant credits on demand, beyond the budget."
    )
    roles: tuple[str, ...] = Field(
        (), description="The roles of models that it includes, such as simple; none said is all."
    )
    without: tuple[str, ...] = Field(
        (), description="Operations that it leaves out, as plugin/operation; * is any text."
    )
    model_calls: CallRate = Field(
        "none", description="How often each person may have a model called, such as 60 in 60s."
    )
    calls: CallRate | None = Field(
        None,
        description="How many tools each person may call, over MCP and by pages, in place of "
        "limits.calls of portal.yaml.",
    )
    includes: tuple[str, ...] = Field(
        (), description="What people read of it, a line each: for what this file does not enforce."
    )
    price: Dollars | None = Field(
        None, description="What people read as its price in a month, in US dollars; for each seat."
    )
    hidden: bool = Field(
        False, description="Whether people who do not have it are not told that it exists."
    )

    def refuses(self, operation: str, role: str) -> bool:
        """Whether it leaves out a kind of call.

        Args:
            operation: as ``plugin/operation``.
            role: the model's role.
        """
        out = any(fnmatchcase(operation, pattern) for pattern in self.without)
        return out or bool(self.roles and role not in self.roles)


class Assignment(_Written):
    """Who has a plan: ``{plan: pro, to: {hat: 30.3.1}}``."""

    plan: str = Field(description="The plan's name.")
    to: Annotated[Rule, BeforeValidator(_judgeable)] = Field(
        description="Who has it: a rule on people, as in access of tiers.yaml."
    )
    team: Annotated[str, Field(pattern=f"^{_NAME}$")] | None = Field(
        None, description="The team whose pool they share, for a plan that is per_seat."
    )
    seats: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="How many seats the team has; its pool is the budget times that.",
    )


class PlansConfig(_Written):
    """``plans.yaml``: plans of models' budgets, and who has which."""

    plans: dict[Annotated[str, Field(pattern=f"^{_NAME}$")], Plan] = Field(
        default_factory=dict, description="The plans, by name; without any, nothing is limited."
    )
    assign: tuple[Assignment, ...] = Field(
        (), description="Who has which plan; the first line whose rule holds counts."
    )
    default: str | None = Field(
        None,
        description="The plan of everybody else, each for themselves; callers who are signed "
        "out have one budget together.",
    )
    portal: str | None = Field(
        None,
        description="The plan of what the portal does for itself, in jobs that nobody asked "
        "for; without one, that has no limit.",
    )


@dataclass(frozen=True, slots=True)
class Plans:
    """The content of a ``plans.yaml``.

    Attributes:
        plans: by name.
        assign: who has which.
        default: the plan of everybody else; empty where there are no plans.
        portal: the plan of the portal's own work; None for no limit.
        source: the file as written, for line numbers.
    """

    plans: Mapping[str, Plan]
    assign: tuple[Assignment, ...]
    default: str
    portal: str | None
    source: YamlSource = field(compare=False)

    def __bool__(self) -> bool:
        """Whether anything is limited."""
        return bool(self.plans)

    def conditions(self) -> Iterator[tuple[Location, Condition]]:
        """Every condition on people, with its location in the file."""
        for place, each in enumerate(self.assign):
            yield from conditions(each.to, ("assign", place, "to"))


def parse_plans(raw: bytes, file: str) -> Plans:
    """Read the bytes of a ``plans.yaml``; ``file`` is its name for messages.

    Raises:
        ConfigError: with every problem and its line.
    """
    source = parse_yaml(raw, file)
    # All of it as text: an amount and a hat are what the file says, and never a float.
    source = replace(source, data=source.texts(()) or {})
    try:
        config = PlansConfig.model_validate(without_empty(source.data, PlansConfig))
    except ValidationError as error:
        raise ConfigError(problems_of(error, source, PlansConfig)) from None
    if wrong := list(_wrong(config, source)):
        raise ConfigError(wrong)
    return Plans(config.plans, config.assign, config.default or "", config.portal, source)


def _wrong(config: PlansConfig, source: YamlSource) -> Iterator[Problem]:
    """What pydantic does not see: names of plans that are not there, and teams without seats."""
    if not config.plans:
        for key in ("assign", "default", "portal"):
            if getattr(config, key):
                yield source.problem((key,), "has no effect without a plan under plans")
        return
    yield from _wrong_names(config, source)
    if config.default is None:
        yield source.problem(("plans",), "need a default: the plan of everybody else")
    yield from _wrong_teams(config, source)


def _wrong_names(config: PlansConfig, source: YamlSource) -> Iterator[Problem]:
    """Plans that are named and not there, or are for teams where one person is meant."""
    named: list[tuple[Location, str | None]] = [
        (("default",), config.default),
        (("portal",), config.portal),
        *((("assign", place, "plan"), each.plan) for place, each in enumerate(config.assign)),
    ]
    for location, name in named:
        if name is None:
            continue
        plan = config.plans.get(name)
        if plan is None:
            yield source.problem(location, unknown(name, set(config.plans), "plan"))
        elif plan.per_seat and location[0] != "assign":
            reason = "is a plan for teams; only a line of assign names a team"
            yield source.problem(location, reason)


def _wrong_teams(config: PlansConfig, source: YamlSource) -> Iterator[Problem]:
    teams: set[str] = set()
    for place, each in enumerate(config.assign):
        at, plan = ("assign", place), config.plans.get(each.plan)
        if plan is None:
            continue
        if plan.per_seat and (each.team is None or each.seats is None):
            yield source.problem(at, "is for a team; say team: NAME and seats: NUMBER")
        elif not plan.per_seat and (each.team or each.seats):
            reason = f"the plan {each.plan} is not per_seat: leave team and seats out"
            yield source.problem(at, reason)
        elif each.seats is not None and each.seats < plan.minimum_seats:
            reason = f"the plan {each.plan} asks for at least {plan.minimum_seats}"
            yield source.problem((*at, "seats"), reason)
        if each.team in teams:
            yield source.problem((*at, "team"), "is named before; join the rules with any_of")
        if each.team is not None:
            teams.add(each.team)


class PlansFile(FollowedFile[Plans]):
    """The plans, kept up to date with their file.

    Args:
        directory: the configuration directory; where it has no ``plans.yaml`` nothing is limited.

    Raises:
        ConfigError: the file has problems, and there are no earlier plans to keep.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory / PLANS_FILE, parse_plans)

    @property
    def plans(self) -> Plans:
        """The plans in force."""
        return self.content
