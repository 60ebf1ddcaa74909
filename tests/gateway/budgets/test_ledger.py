"""Whatever happens in whatever order, on two replicas: what is counted is what calls have cost."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from gateway.budgets.credits import Credits
from gateway.budgets.figures import NothingLeft
from gateway.budgets.ledger import CLOCKS_DIFFER, BudgetLedger, Hold
from gateway.budgets.months import end_of, month_of
from gateway.budgets.reconciliation import Reconciliation
from gateway.budgets.tables import budget_calls, budgets, credits
from gateway.contract.services import Database
from gateway.services.models.records import CallStart
from gateway.services.models.table import model_calls
from tests.examples import examples
from tests.gateway.budgets.calls import RUNS, end, start, summed, write_begun, write_ended
from tests.gateway.identity.stores.conftest import Clock, Replica

BUDGET = 100
ACCOUNTS = ("person:ann", "team:garden")

accounts = st.sampled_from(ACCOUNTS)
steps = st.one_of(
    st.tuples(st.just("begin"), accounts, st.integers(0, 60)),
    st.tuples(st.just("crowd"), accounts, st.integers(1, 40)),
    st.tuples(st.just("end"), st.integers(0, 5), st.integers(0, 90)),
    st.tuples(st.just("end_all"), st.just(0), st.integers(0, 30)),
    st.tuples(st.just("end_again"), st.integers(0, 5), st.integers(0, 90)),
    st.tuples(st.just("die_before"), st.integers(0, 5), st.just(0)),
    st.tuples(st.just("die_after"), st.integers(0, 5), st.integers(0, 90)),
    st.tuples(st.just("grant"), accounts, st.integers(1, 50)),
    st.tuples(st.just("wait"), st.just(0), st.sampled_from((10, 400))),
    st.tuples(st.just("next_month"), st.just(0), st.just(0)),
    st.tuples(st.just("reconcile"), st.just(0), st.just(0)),
)


@dataclass
class Open:
    """A call that runs, as the bookkeeper knows it."""

    call: CallStart
    account: str
    month: str
    held: int
    unknown: bool = False


@dataclass
class World:
    """Two replicas, and a bookkeeper of its own beside them."""

    ledgers: list[BudgetLedger]
    database: Database
    clock: Clock
    open: list[Open] = field(default_factory=list)
    ended: list[Open] = field(default_factory=list)
    spent: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    uncounted: list[tuple[Open, int]] = field(default_factory=list)
    granted: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    turn: int = 0

    def ledger(self) -> BudgetLedger:
        self.turn += 1
        return self.ledgers[self.turn % 2]

    def limit(self, account: str) -> int:
        return BUDGET + self.granted[account, month_of(self.clock())]

    def held(self, account: str) -> int:
        """What runs; a call that has not ended when it should holds nothing any more."""
        now, month = self.clock(), month_of(self.clock())
        return sum(
            each.held
            for each in [*self.open, *(each for each, _ in self.uncounted)]
            if (each.account, each.month) == (account, month)
            and each.call.ends_by + CLOCKS_DIFFER >= now
        )

    def used(self, account: str) -> int:
        return self.spent[account, month_of(self.clock())] + self.held(account)

    async def begin(self, account: str, held: int) -> bool:
        call = start(self.clock())
        wanted = Hold(call.id, account, month_of(call.at), held, call.ends_by)
        try:
            await self.ledger().hold(wanted, BUDGET)
        except NothingLeft:
            return False
        await write_begun(self.database, call)
        self.open.append(Open(call, account, wanted.month, held))
        return True

    async def step(self, what: str, which: Any, amount: int) -> None:
        await getattr(self, f"on_{what}")(which, amount)
        month = month_of(self.clock())
        for account in ACCOUNTS:
            found = await self.ledger().figures(account, month)
            assert found.spent == self.spent[account, month]
            assert found.held == self.held(account)
            assert found.credits == self.granted[account, month]

    async def on_begin(self, account: str, held: int) -> None:
        expected = self.used(account) < self.limit(account)
        assert await self.begin(account, held) is expected

    async def on_crowd(self, account: str, held: int) -> None:
        """Many at once: as many begin as what is left pays for, and the one that passes it."""
        left = self.limit(account) - self.used(account)
        began = await asyncio.gather(*(self.begin(account, held) for _ in range(8)))
        assert sum(began) == min(8, max(0, -(-left // held)))

    async def on_end(self, which: int, cost: int) -> None:
        if not self.open:
            return
        ended = self.open.pop(which % len(self.open))
        await write_ended(self.database, ended.call, end(cost))
        await self.ledger().settle(ended.call.id, cost)
        self.spent[ended.account, ended.month] += cost
        self.ended.append(ended)

    async def on_end_all(self, _: int, cost: int) -> None:
        ending, self.open = self.open, []
        for each in ending:
            await write_ended(self.database, each.call, end(cost))
            self.spent[each.account, each.month] += cost
        await asyncio.gather(*(self.ledger().settle(each.call.id, cost) for each in ending))

    async def on_end_again(self, which: int, cost: int) -> None:
        """What has ended is told again, as by a process that was thought dead: the last counts."""
        if not self.ended:
            return
        again = self.ended[which % len(self.ended)]
        before = await self.ledger().figures(again.account, again.month)
        await self.ledger().settle(again.call.id, cost)
        await self.ledger().settle(again.call.id, cost)
        after = await self.ledger().figures(again.account, again.month)
        self.spent[again.account, again.month] += after.spent - before.spent
        await write_ended(self.database, again.call, end(cost))

    async def on_die_before(self, which: int, _: int) -> None:
        """The process dies before the call has ended; its row is found to be unknown."""
        if self.open:
            dead = self.open.pop(which % len(self.open))
            await write_ended(self.database, dead.call, end(None, "unknown"))
            dead.unknown = True
            self.uncounted.append((dead, 0))

    async def on_die_after(self, which: int, cost: int) -> None:
        """The process dies once the call's row is complete, and before its budget hears of it."""
        if self.open:
            dead = self.open.pop(which % len(self.open))
            await write_ended(self.database, dead.call, end(cost))
            self.uncounted.append((dead, cost))

    async def on_grant(self, account: str, amount: int) -> None:
        await Credits(self.database).grant(account, amount, self.clock(), "operator")
        self.granted[account, month_of(self.clock())] += amount

    async def on_wait(self, _: int, seconds: int) -> None:
        self.clock.pass_(seconds=seconds)

    async def on_next_month(self, *_: int) -> None:
        self.clock.time = end_of(month_of(self.clock())) + timedelta(minutes=5)

    async def on_reconcile(self, *_: int) -> None:
        """The night: nothing was counted wrong, and what nobody had counted is."""
        ledger = self.ledger()
        drifts = await Reconciliation(self.database, ledger).run()
        assert drifts == []
        now, left = self.clock(), []
        months = {month_of(now), month_of(now - timedelta(days=2))}
        for dead, cost in self.uncounted:
            overdue = dead.call.ends_by + CLOCKS_DIFFER < now
            known = dead.month in months and not dead.unknown
            if overdue or known:
                self.spent[dead.account, dead.month] += cost
            else:
                left.append((dead, cost))
        self.uncounted = left

    async def settled(self) -> None:
        """In the end, once everything has ended, the counts are the sums of the rows."""
        for each in self.open:
            await write_ended(self.database, each.call, end(7))
        self.clock.pass_(seconds=(RUNS + CLOCKS_DIFFER).total_seconds() + 1)
        await Reconciliation(self.database, self.ledger()).run()
        for account, month in {*self.spent, *((each.account, each.month) for each in self.open)}:
            found = await self.ledger().figures(account, month)
            assert found.spent == await summed(self.database, account, month)
            assert found.held == found.running == 0


@settings(
    max_examples=examples(80, ordinary=12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=8, max_size=24))
def test_what_is_counted_is_what_calls_have_cost(
    address: str, tmp_path: Any, history: list[Any]
) -> None:
    asyncio.run(_live(address, tmp_path, history))


async def _live(address: str, folder: Any, history: list[Any]) -> None:
    from gateway.services.database.service import open_database

    clock = Clock()
    services = [open_database(address, folder) for _ in range(2)]
    databases = [each.for_owner("gateway") for each in services]
    try:
        async with databases[0].begin() as connection:
            for table in (budgets, budget_calls, credits, model_calls):
                await connection.execute(delete(table))
        world = World([BudgetLedger(each, clock) for each in databases], databases[0], clock)
        for step in history:
            await world.step(*step)
        await world.settled()
    finally:
        for each in services:
            await each.close()


async def test_fifty_callers_at_a_hard_limit_overspend_by_the_calls_in_flight_at_most(
    replica: Replica, other: Replica, clock: Clock
) -> None:
    """Nobody knows what a call will cost, so that nothing is held: the worst case."""
    ledgers = [BudgetLedger(each.database, clock) for each in (replica, other)]
    cost, budget, flying, most = 7, 500, 0, 0

    async def caller(number: int) -> int:
        nonlocal flying, most
        ledger, made = ledgers[number % 2], 0
        while True:
            call = start(clock())
            try:
                await ledger.hold(Hold(call.id, "a", month_of(call.at), 0, call.ends_by), budget)
            except NothingLeft:
                return made
            made, flying = made + 1, flying + 1
            most = max(most, flying)
            await asyncio.sleep(0)  # the others begin meanwhile
            await ledger.settle(call.id, cost)
            flying -= 1

    made = sum(await asyncio.gather(*map(caller, range(50))))
    found = await ledgers[0].figures("a", month_of(clock()))
    assert found.spent == made * cost
    assert budget <= found.spent < budget + (most + 1) * cost
    assert found.running == 0


async def test_what_calls_are_expected_to_cost_is_held_for_them(
    replica: Replica, other: Replica, clock: Clock
) -> None:
    ledgers = [BudgetLedger(each.database, clock) for each in (replica, other)]

    async def begin(number: int) -> bool:
        call = start(clock())
        wanted = Hold(call.id, "a", month_of(call.at), 10, call.ends_by)
        try:
            await ledgers[number % 2].hold(wanted, 95)
        except NothingLeft:
            return False
        return True

    assert sum(await asyncio.gather(*map(begin, range(50)))) == 10


async def test_a_count_that_is_wrong_is_found_and_made_right(
    replica: Replica, clock: Clock
) -> None:
    ledger = BudgetLedger(replica.database, clock)
    call, month = start(clock()), month_of(clock())
    await ledger.hold(Hold(call.id, "a", month, 0, call.ends_by), 100)
    await write_begun(replica.database, call)
    await write_ended(replica.database, call, end(30))
    await ledger.settle(call.id, 30)
    async with replica.database.begin() as connection:
        await connection.execute(budgets.update().values(spent=12))
    drift = await Reconciliation(replica.database, ledger).run()
    assert [(each.account, each.counted, each.summed) for each in drift] == [("a", 12, 30)]
    assert (await ledger.figures("a", month)).spent == 30
    assert await Reconciliation(replica.database, ledger).run() == []


@pytest.mark.parametrize("soft", [True, False])
async def test_a_soft_limit_lets_calls_go_on(replica: Replica, clock: Clock, soft: bool) -> None:
    ledger, month = BudgetLedger(replica.database, clock), month_of(clock())
    first, second = start(clock()), start(clock())
    await ledger.hold(Hold(first.id, "a", month, 0, first.ends_by), 10)
    await ledger.settle(first.id, 30)
    wanted = Hold(second.id, "a", month, 0, second.ends_by)
    if soft:
        assert (await ledger.hold(wanted, 10, hard=False)).spent == 30
    else:
        with pytest.raises(NothingLeft):
            await ledger.hold(wanted, 10)
    assert (await ledger.figures("a", month)).left(10) == 0
