"""Calls of models, written as the portal writes them, for tests of what counts them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import func, insert, select, update

from gateway.budgets.tables import budget_calls
from gateway.contract.services import Database
from gateway.services.models.records import CallEnd, CallStart, Outcome, Tokens
from gateway.services.models.table import model_calls

RUNS = timedelta(minutes=1)
"""How long a call may run."""
_numbers = count(1)


def start(at: datetime, person: str | None = "person:ann", **other: Any) -> CallStart:
    """A call that is about to begin."""
    values: dict[str, Any] = {
        "plugin": "codegraph",
        "source": "garden",
        "operation": "explain",
        "role": "simple",
        "provider": "local",
        "model": "small",
        **other,
    }
    return CallStart(f"{next(_numbers):032x}", at, at + RUNS, person, **values)


def end(cost: int | None, outcome: Outcome = "ok") -> CallEnd:
    """How one has ended."""
    return CallEnd(outcome, 5, "small-1", Tokens(100, 20), cost, "portal.yaml")


async def write_begun(database: Database, call: CallStart) -> None:
    """Write that a request is made."""
    row = {name: getattr(call, name) for name in CallStart.__slots__}
    async with database.begin() as connection:
        await connection.execute(insert(model_calls).values(row | {"outcome": "started"}))


async def write_ended(database: Database, call: CallStart, ended: CallEnd) -> None:
    """Complete its row."""
    values: Mapping[str, Any] = {
        "outcome": ended.outcome,
        "latency_ms": ended.latency_ms,
        "cost_nano_usd": ended.cost_nano_usd,
        "tokens_in": ended.tokens.input if ended.tokens else None,
        "tokens_out": ended.tokens.output if ended.tokens else None,
    }
    mine = model_calls.c.id == call.id
    async with database.begin() as connection:
        await connection.execute(update(model_calls).where(mine).values(**values))


async def made(database: Database, call: CallStart, cost: int) -> None:
    """Write a whole call."""
    await write_begun(database, call)
    await write_ended(database, call, end(cost))


async def summed(database: Database, account: str, month: str) -> int:
    """What the rows say that an account's calls of a month have cost."""
    both = budget_calls.join(model_calls, model_calls.c.id == budget_calls.c.call)
    query = select(func.coalesce(func.sum(model_calls.c.cost_nano_usd), 0)).select_from(both)
    mine = (budget_calls.c.account == account, budget_calls.c.month == month)
    async with database.read() as connection:
        return int(await connection.scalar(query.where(*mine)) or 0)
