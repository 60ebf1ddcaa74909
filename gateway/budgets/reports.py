"""What models were called for and what that cost, summed up from the table of calls."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import ColumnElement, Row, func, select

from gateway.budgets.tables import budget_calls
from gateway.identity.stores.connection import Reached
from gateway.services.models.table import model_calls

if TYPE_CHECKING:
    from gateway.contract.services import Database

By = Literal["person", "account", "day", "plugin", "source", "operation", "model", "outcome"]
"""What calls can be summed up by."""
_BATCH = 1000
COLUMNS = (
    "at",
    "person",
    "account",
    "plugin",
    "source",
    "operation",
    "role",
    "provider",
    "model",
    "outcome",
    "tokens_in",
    "tokens_out",
    "cost_nano_usd",
    "latency_ms",
)
"""What an export tells of each call."""


@dataclass(frozen=True, slots=True)
class Span:
    """Which calls.

    Attributes:
        since: from when on.
        until: up to when.
        person: whose; None for everybody's, the portal's own among them.
    """

    since: datetime
    until: datetime
    person: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """The sums of some calls.

    Attributes:
        name: what they have in common; a day as ``2026-11-27``; empty where there is none.
        calls: how many.
        failed: how many of them gave no answer.
        tokens_in: tokens of prompts.
        tokens_out: tokens of answers.
        cost: in billionths of a dollar.
        unpriced: how many have a cost that nobody knows.
    """

    name: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: int
    unpriced: int


class Reports:
    """Reads the table of calls. Whoever asks says whose calls they may see.

    Args:
        database: where it is.
    """

    def __init__(self, database: Database) -> None:
        self._database = Reached(database)

    async def by(self, what: By, span: Span, limit: int | None = None) -> Sequence[Line]:
        """Sums for each value; of days in their order, else the dearest first."""
        name = _name(what)
        cost = func.coalesce(func.sum(model_calls.c.cost_nano_usd), 0)
        query = _from(select(name, *_sums(cost)), what).where(*_where(span)).group_by(name)
        order = (name,) if what == "day" else (cost.desc(), func.count().desc(), name)
        async with self._database.connect() as connection:
            rows = await connection.execute(query.order_by(*order).limit(limit))
            return [_line(row) for row in rows]

    async def total(self, span: Span) -> Line:
        """The sums of all of them."""
        cost = func.coalesce(func.sum(model_calls.c.cost_nano_usd), 0)
        query = select(func.max("").label("name"), *_sums(cost)).where(*_where(span))
        async with self._database.connect() as connection:
            return _line((await connection.execute(query)).one())

    async def calls(self, span: Span) -> AsyncGenerator[Sequence[Mapping[str, Any]]]:
        """The calls themselves, the oldest first, some at a time (:data:`COLUMNS`)."""
        table = model_calls
        columns = [
            budget_calls.c.account if name == "account" else table.c[name] for name in COLUMNS
        ]
        both = table.outerjoin(budget_calls, budget_calls.c.call == table.c.id)
        query = select(table.c.id, *columns).select_from(both).where(*_where(span))
        query = query.order_by(table.c.at, table.c.id).limit(_BATCH)
        after: tuple[datetime, str] | None = None
        while True:
            page = query
            if after is not None:
                at, id = after
                later = (table.c.at > at) | ((table.c.at == at) & (table.c.id > id))
                page = query.where(later)
            async with self._database.connect() as connection:
                rows = list(await connection.execute(page))
            if rows:
                yield [{name: row._mapping[name] for name in COLUMNS} for row in rows]
                after = rows[-1].at, rows[-1].id
            if len(rows) < _BATCH:
                return


def _name(what: By) -> ColumnElement[str]:
    if what == "account":
        return func.coalesce(budget_calls.c.account, "")
    if what == "day":
        return func.date(model_calls.c.at)
    return func.coalesce(model_calls.c[what], "")


def _from(query: Any, what: By) -> Any:
    if what == "account":
        both = model_calls.outerjoin(budget_calls, budget_calls.c.call == model_calls.c.id)
        return query.select_from(both)
    return query


def _sums(cost: ColumnElement[int]) -> tuple[ColumnElement[Any], ...]:
    table = model_calls.c
    return (
        func.count().label("calls"),
        func.count().filter(table.outcome.not_in(("ok", "started"))).label("failed"),
        func.coalesce(func.sum(table.tokens_in), 0).label("tokens_in"),
        func.coalesce(func.sum(table.tokens_out), 0).label("tokens_out"),
        cost.label("cost"),
        func.count()
        .filter(table.cost_nano_usd.is_(None), table.tokens_in.is_not(None))
        .label("unpriced"),
    )


def _where(span: Span) -> tuple[ColumnElement[bool], ...]:
    times = (model_calls.c.at >= span.since, model_calls.c.at < span.until)
    return times if span.person is None else (*times, model_calls.c.person == span.person)


def _line(row: Row[Any]) -> Line:
    values = tuple(row)
    return Line(str(values[0] or ""), *map(int, values[1:]))
