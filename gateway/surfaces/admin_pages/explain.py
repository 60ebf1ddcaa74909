"""``/admin/explain``: why somebody may use something, with every fact and its age."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.facts import Answer, Question
from auth.tiers import Tier
from gateway.catalog.catalog import Catalog
from gateway.errors import NotFound
from gateway.surfaces.admin.explaining import Chain, Explaining, Judged
from gateway.surfaces.admin.tiers_lines import Change, Deciding, TiersLines
from gateway.surfaces.admin_pages.access import KINDS
from gateway.surfaces.admin_pages.door import Door, ForBrowsers, asked
from gateway.surfaces.pages.visitors import Visitor


@dataclass(frozen=True, slots=True)
class Fact:
    """One answer of a source.

    Attributes:
        source: who said it.
        asked: what was asked.
        said: the answer; empty where there is none.
        age: its age in seconds.
        problem: why there is none.
    """

    source: str
    asked: str
    said: str
    age: float
    problem: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An item, whether they may use it, and what decides."""

    judged: Judged
    kind: str
    deciding: Deciding
    change: Change | None


def facts(answers: Mapping[Question, Answer]) -> list[Fact]:
    """What sources said, in words; in the order of the questions."""
    now = time.time()
    return [
        Fact(
            question.source,
            " ".join(map(str, question.key)),
            "" if answer.value is None else _said(answer.value),
            max(0.0, now - answer.at),
            answer.problem or "",
        )
        for question, answer in answers.items()
    ]


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, set | frozenset | list | tuple):
        return ", ".join(sorted(map(str, value))) or "none"
    return str(value)[:200]


class ExplainPage:
    """The explanation.

    Args:
        door: lets admins in.
        catalog: the items.
        explaining: says why.
        lines: finds lines of ``tiers.yaml``.
    """

    def __init__(
        self, door: Door, catalog: Catalog, explaining: Explaining, lines: TiersLines
    ) -> None:
        self._door, self._catalog, self._explaining, self._lines = door, catalog, explaining, lines

    def routes(self) -> list[Route]:
        """The page's route; programs get JSON at the same path."""
        return [ForBrowsers(self._door.page("/admin/explain", self._show))]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        who, name = asked(request, "as"), asked(request, "item")
        chain, problem, said = None, "", list[Fact]()
        if who or name:
            try:
                chain = await self._explaining.chain(who or "anonymous", name)
                said = facts(await self._explaining.answers(who or "anonymous"))
            except NotFound as missing:
                problem = missing.message
        return self._door.render(
            request,
            visitor,
            "explain.html",
            status=404 if problem else 200,
            who=who,
            name=name,
            problem=problem,
            chain=chain,
            shown=[self._shown(each) for each in chain.items] if chain else [],
            verdicts=_verdicts(chain),
            facts=said,
            rules=self._lines.rules(),
            tiers=list(Tier),
            names=sorted({key for _, key, _ in self._catalog.ruled()})[:150],
        )

    def _shown(self, judged: Judged) -> Shown:
        decision, item = judged.why.decision, judged.item
        key = judged.key
        if item is not None:
            found = (key for each, key, _ in self._catalog.ruled() if each is item)
            key = next(found, "")
        floor = Tier.OPEN if item is None else item.declared.floor
        change = self._lines.change(key, decision, floor) if key else None
        kind = KINDS.get(judged.kind, judged.kind)
        return Shown(judged, kind, self._lines.deciding(decision), change)


def _verdicts(chain: Chain | None) -> list[tuple[str, Any]]:
    """The rules' verdicts by name; none where no rule was judged."""
    if chain is None or chain.resolution is None or chain.resolution.granted is not None:
        return []
    judged = chain.resolution
    return [("admins", judged.admins), ("members", judged.members), ("public", judged.public)]
