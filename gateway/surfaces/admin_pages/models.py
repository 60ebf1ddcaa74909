"""``/admin/models``: what language models cost, whom, and from which budget; and as CSV."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gateway.budgets.budgets import Budgets
from gateway.budgets.months import begin_of, end_of, month_of
from gateway.budgets.standings import standings
from gateway.config.money import dollars
from gateway.surfaces.admin_pages.door import Door, asked
from gateway.surfaces.pages.forms import Refused
from gateway.surfaces.pages.frame import HEADERS
from gateway.surfaces.pages.visitors import Visitor
from gateway.toolkit.csv_text import csv_text

if TYPE_CHECKING:
    from gateway.budgets.reports import By

MAX_LINES = 50
"""Lines that a table shows: the dearest."""
_GROUPS: tuple[By, ...] = ("person", "day", "model", "source", "operation", "plugin", "outcome")


class ModelsPage:
    """Usage of models.

    Args:
        door: lets admins in.
        budgets: knows what models cost, and whom.
    """

    def __init__(self, door: Door, budgets: Budgets) -> None:
        self._door, self._budgets = door, budgets

    def routes(self) -> list[Route]:
        """The routes of the page and of its export."""
        return [
            self._door.page("/admin/models", self._show),
            self._door.page("/admin/models.csv", self._export),
        ]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        from gateway.budgets.reports import Span

        month, by = self._month(request), asked(request, "by")
        what: By = next((each for each in _GROUPS if each == by), "person")
        span, reports = Span(begin_of(month), end_of(month)), self._budgets.reports
        lines = await reports.by(what, span, MAX_LINES)
        _, accounts = await standings(self._budgets, month)
        return self._door.render(
            request,
            visitor,
            "models.html",
            month=month,
            by=what,
            groups=_GROUPS,
            lines=lines,
            total=await reports.total(span),
            dearest=max((each.cost for each in lines), default=0),
            accounts=accounts[:MAX_LINES],
            credits=(await self._budgets.credits.of(month))[:MAX_LINES],
            plans=self._budgets.file.plans,
            dollars=dollars,
            most=MAX_LINES,
        )

    async def _export(self, request: Request, visitor: Visitor) -> Response:
        month = self._month(request)
        name = f"porch-models-{month}.csv"
        headers = {**HEADERS, "content-disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(self._rows(month), 200, headers, "text/csv; charset=utf-8")

    async def _rows(self, month: str) -> AsyncGenerator[str]:
        from gateway.budgets.reports import COLUMNS, Span

        yield csv_text([COLUMNS])
        span = Span(begin_of(month), end_of(month))
        async for calls in self._budgets.reports.calls(span):
            yield csv_text([each[name] for name in COLUMNS] for each in calls)

    def _month(self, request: Request) -> str:
        month = asked(request, "month") or month_of(self._budgets.ledger.clock())
        try:
            begin_of(month)
        except ValueError as error:
            raise Refused(400, "No month", f"The month {error}.") from None
        return month
