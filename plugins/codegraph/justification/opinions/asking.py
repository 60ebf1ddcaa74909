"""Asks about one group: a model at once, and again where the graph contradicts its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateway.contract import Generated, ModelFailed, Models, Role
from plugins.codegraph.justification.opinions.claims import TASK, Claims
from plugins.codegraph.justification.opinions.contradictions import contradictions
from plugins.codegraph.justification.opinions.opinion import Opinion, Said
from plugins.codegraph.model import EntityKind, parse_key
from plugins.codegraph.store.codes import ENTITY_CODES

OPERATION = "justify_code"
"""What the calls are told as, with their costs."""
TRIES = 2
"""How often a model is asked: once more where the graph contradicts it."""
MAX_REASONS = 5
_FOR_GOOD = frozenset({"invalid_answer", "refused", "too_long"})
"""Failures after which the same question has the same answer."""
_HIDDEN = ("key", "version")
"""What of an entity's context is for who keeps the answer alone."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks models.

    Attributes:
        models: the portal's.
        now: the time, in UTC.
    """

    models: Models
    now: Callable[[], datetime]

    def role(self, wanted: Role) -> Role | None:
        """The role that is asked in place of a wanted one; None where there is no model."""
        either: tuple[Role, Role] = ("simple", "complex")
        return next((each for each in (wanted, *either) if self.models.available(each)), None)

    async def ask(self, context: Mapping[str, Any], role: Role, source: str) -> list[Opinion]:
        """What a model says of each entity of a context.

        Args:
            context: what is asked (``contexts.py``).
            role: which model.
            source: the repository's name.

        Returns:
            An opinion on each; one that is refused where the model would not answer, or was
            contradicted by the graph each time.

        Raises:
            ModelFailed: there is no answer for now: no budget, no provider, no model.
        """
        wrong: list[str] = []
        answer: Generated[Claims] | None = None
        for _ in range(TRIES):
            try:
                answer = await self.models.generate(
                    Claims,
                    prompt_of(context, wrong),
                    role,
                    caller=None,
                    operation=OPERATION,
                    source=source,
                    instructions=TASK,
                )
            except ModelFailed as failed:
                if failed.code not in _FOR_GOOD:
                    raise
                return refused(context, failed.message, (role, ""), self.now())
            wrong = list(contradictions(answer.value, context))[:MAX_REASONS]
            if not wrong:
                break
        if answer is None:  # pragma: no cover - TRIES is positive
            raise AssertionError("nobody was asked")
        said = answer.provenance
        who = said.provider, said.model
        if wrong:
            return refused(context, "; ".join(wrong), who, said.at)
        return believed(answer.value, context, who, None, said.at)


def prompt_of(context: Mapping[str, Any], wrong: list[str] | None = None) -> str:
    """What a model is shown of a context.

    Args:
        context: the context.
        wrong: what was wrong with its answer before, or nothing.
    """
    entities = [
        {name: each[name] for name in each if name not in _HIDDEN} for each in context["entities"]
    ]
    told = json.dumps({**context, "entities": entities}, ensure_ascii=False)
    if not wrong:
        return told
    reasons = "\n".join(f"- {each}" for each in wrong)
    return f"{told}\n\nThe code contradicts the answer before this one:\n{reasons}"


def believed(
    claims: Claims,
    context: Mapping[str, Any],
    who: tuple[str, str],
    person: str | None,
    at: datetime,
) -> list[Opinion]:
    """The opinions that an answer makes.

    Args:
        claims: an answer that nothing contradicts.
        context: what was asked.
        who: the provider and the model.
        person: whose agent it was, or None.
        at: when.
    """
    said = {each.entity: Said.of(each) for each in claims.entities}
    return [
        Opinion(*_entity(each), *who, person, at, said[int(each["entity"])])
        for each in context["entities"]
    ]


def refused(
    context: Mapping[str, Any], why: str, who: tuple[str, str], at: datetime
) -> list[Opinion]:
    """The opinions where no answer can be believed: facts alone speak, until the code changes.

    Args:
        context: what was asked.
        why: what is wrong.
        who: the provider and the model.
        at: when.
    """
    return [
        Opinion(*_entity(each), *who, None, at, refused=why[:600]) for each in context["entities"]
    ]


def _entity(told: Mapping[str, Any]) -> tuple[int, str, str, int, int]:
    """Which entity a part of a context is about: key, path, name, kind and code."""
    path = str(told["file"]).rpartition(":")[0]
    kind = ENTITY_CODES[EntityKind(told["kind"])]
    return parse_key(str(told["key"])), path, str(told["name"]), kind, int(str(told["version"]), 16)
