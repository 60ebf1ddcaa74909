"""Credits that are paid by a token: its transfers to the portal's wallet, as its chain has them.

Only blocks that lie as deep as ``confirmations`` says are read, so that a reorganisation changes
nothing that was credited. Every transfer is a row by its place in the chain: to read a block again
adds none, whoever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import literal, select, update

from auth.chain.endpoint import Endpoint, EndpointFailed, RangeRefused
from auth.chain.rpc import Rpc
from auth.stores import utc_now
from gateway.budgets.credits import Credit, write_credit
from gateway.budgets.ledger import take_turn
from gateway.budgets.months import month_of
from gateway.config.money import dollars
from gateway.config.payments import TokenSettings
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import accounts
from gateway.observability.audit_record import GRANT, AuditRecord
from gateway.payments.tables import positions, transfers
from gateway.toolkit.sql import insert_into

if TYPE_CHECKING:
    from gateway.budgets.accounts import Account
    from gateway.budgets.budgets import Budgets
    from gateway.contract.services import Database

MAX_BLOCKS = 2_000
"""Blocks that are asked for at once; fewer where an endpoint refuses."""
MAX_WORTH = 10**18
"""Billionths of a dollar above which a transfer is not believed: a billion dollars."""
_AT_ONCE = 200
_TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer to the portal's wallet.

    Attributes:
        id: chain, transaction and index of the log.
        chain: the chain's id.
        block: the number of its block.
        wallet: who transferred, as EIP-55 writes it; empty where they have left.
        amount: in the token's smallest unit, as decimal digits.
        worth: in billionths of a dollar.
        seen: when it was read.
        account: whose budget it was credited to; None while its wallet is nobody's.
        person: who has that wallet.
        credited: when.
    """

    id: str
    chain: int
    block: int
    wallet: str
    amount: str
    worth: int
    seen: datetime
    account: str | None = None
    person: str | None = None
    credited: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    first: int
    high: int
    last: int
    found: Sequence[Transfer]


class Transfers:
    """Reads them and credits them.

    Args:
        settings: the token.
        rpc: its chain.
        database: where they are kept.
        budgets: what the credits are for.
        clock: the time, in UTC; replaced in tests.

    Attributes:
        settings: the token.
        source: chain, token and receiver in one text.
    """

    def __init__(
        self,
        settings: TokenSettings,
        rpc: Rpc,
        database: Database,
        budgets: Budgets,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.settings, self._rpc = settings, rpc
        self._database, self._budgets, self._clock = Reached(database), budgets, clock
        self._span = MAX_BLOCKS
        where = f"{settings.chain}:{settings.token}:{settings.receiver}"
        self.source = where.lower()

    async def look(self) -> int:
        """Read what is new and deep enough, and credit all whose wallets are known.

        Returns:
            How many transfers were credited.

        Raises:
            SourceUnavailable: the chain does not answer; the next look begins at the same block.
        """
        more = True
        while more:
            before = await self._position()
            read = await self._read(before)
            if read is None:
                break
            await self._keep(read)
            more = read.high < read.last
        return await self._credit()

    async def read_again(self, blocks: int) -> int:
        """Read the last blocks once more; returns how many transfers had been missed.

        Args:
            blocks: how many, at most back to the first that was ever read.
        """
        position = await self._position()
        if position is None:
            return 0
        first, block = position
        low, missed = max(first, block - blocks + 1), 0
        while low <= block:
            read = await self._read((first, low - 1), until=block)
            if read is None:
                break
            missed += await self._keep(read)
            low = read.high + 1
        return missed

    async def of(self, person: str | None = None, most: int = 100) -> Sequence[Transfer]:
        """Transfers, the newest first; a person's where one is named."""
        query = select(transfers).order_by(transfers.c.block.desc(), transfers.c.id).limit(most)
        if person is not None:
            query = query.where(transfers.c.person == person)
        async with self._database.connect() as connection:
            return [Transfer(**row._mapping) for row in await connection.execute(query)]

    async def _position(self) -> tuple[int, int] | None:
        """The first block that is read at all, and the last one that was read."""
        query = select(positions.c.first, positions.c.block)
        async with self._database.connect() as connection:
            found = await connection.execute(query.where(positions.c.source == self.source))
            row = found.first()
            return None if row is None else (row.first, row.block)

    async def _read(self, before: tuple[int, int] | None, until: int | None = None) -> _Read | None:
        """The next blocks that are deep enough; None where there is none."""
        while True:
            try:
                return await self._rpc.first(lambda each: self._ask(each, before, until))
            except _TooMany:
                self._span = max(1, self._span // 2)

    async def _ask(
        self, endpoint: Endpoint, before: tuple[int, int] | None, until: int | None
    ) -> _Read | None:
        """Ask one endpoint for both the newest block and the logs: another may know fewer."""
        last = await endpoint.head() - self.settings.confirmations
        last = last if until is None else min(last, until)
        first, low = self._begin(last) if before is None else (before[0], before[1] + 1)
        high = min(last, low + self._span - 1)
        if high < low:
            # The first look keeps from where on it reads, though nothing is deep enough yet.
            return _Read(first, low - 1, last, ()) if before is None and low > 0 else None
        wanted = {
            "address": self.settings.token,
            "topics": [_TRANSFER, None, _padded(self.settings.receiver)],
            "fromBlock": hex(low),
            "toBlock": hex(high),
        }
        try:
            logs = await endpoint.logs([wanted])
        except RangeRefused as error:
            if self._span == 1:
                raise EndpointFailed(str(error)) from None
            raise _TooMany from None
        found = [each for log in logs if (each := self._transfer(log, low, high)) is not None]
        return _Read(first, high, last, found)

    def _begin(self, last: int) -> tuple[int, int]:
        first = self.settings.from_block
        first = max(0, last + 1) if first is None else first
        return first, first

    def _transfer(self, log: Mapping[str, Any], low: int, high: int) -> Transfer | None:
        """What a log says; None where it is worth nothing."""
        from eth_utils import to_checksum_address

        try:
            block, index = int(log["blockNumber"], 16), int(log["logIndex"], 16)
            topics, amount = log["topics"], int(log["data"], 16)
            wallet = to_checksum_address("0x" + topics[1][-40:])
            is_ours = log["address"].lower() == self.settings.token.lower()
            is_ours = is_ours and topics[0].lower() == _TRANSFER and len(topics) == 3
            is_ours = is_ours and topics[2].lower() == _padded(self.settings.receiver)
            transaction = str(log["transactionHash"]).lower()
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise EndpointFailed("it answers eth_getLogs with what is no transfer") from None
        if not is_ours or not low <= block <= high or log.get("removed"):
            raise EndpointFailed("it answers eth_getLogs with what was not asked for")
        worth = amount * self.settings.price // 10**self.settings.decimals
        if not 0 < worth <= MAX_WORTH:
            return None
        chain = self.settings.chain
        id = f"{chain}:{transaction}:{index}"
        return Transfer(id, chain, block, wallet, str(amount), worth, self._clock())

    async def _keep(self, read: _Read) -> int:
        """Keep what was read, and how far; returns how many were new."""
        async with self._database.begin() as connection:
            new = 0
            for each in read.found:
                values = {name: getattr(each, name) for name in Transfer.__slots__}
                adding = insert_into(connection, transfers).values(values)
                kept = await connection.execute(adding.on_conflict_do_nothing())
                new += max(0, kept.rowcount)
            place = {"source": self.source, "first": read.first, "block": read.high}
            begun = insert_into(connection, positions).values(place)
            await connection.execute(begun.on_conflict_do_nothing())
            await connection.execute(
                update(positions)
                .where(positions.c.source == self.source, positions.c.block < read.high)
                .values(block=read.high)
            )
            return new

    async def _credit(self) -> int:
        """Credit the transfers whose wallets people have linked, however long ago they came."""
        prefixes = ("wallet:", f"wallet:eip155:{self.settings.chain}:")
        owned = [literal(prefix) + transfers.c.wallet == accounts.c.subject for prefix in prefixes]
        query = (
            select(transfers, accounts.c.person.label("owner"))
            .join(accounts, owned[0] | owned[1])
            .where(transfers.c.credited.is_(None), transfers.c.chain == self.settings.chain)
            .where(accounts.c.signer.is_not(None))
            .order_by(transfers.c.block, transfers.c.id, accounts.c.subject)
            .limit(_AT_ONCE)
        )
        async with self._database.connect() as connection:
            rows = [dict(row._mapping) for row in await connection.execute(query)]
        credited = 0
        for row in rows:
            person = row.pop("owner")
            account = await self._budgets.accounts.of_person(person)
            if account is not None and account.budget is not None and account.terms.credits:
                credited += await self._credit_one(Transfer(**row), person, account)
        return credited

    async def _credit_one(self, transfer: Transfer, person: str, account: Account) -> bool:
        now = self._clock()
        async with self._database.begin() as connection:
            await take_turn(connection, account.id)
            mine = (transfers.c.id == transfer.id, transfers.c.credited.is_(None))
            changed = await connection.execute(
                update(transfers)
                .where(*mine)
                .values(credited=now, person=person, account=account.id)
            )
            if not changed.rowcount:
                return False  # another replica was quicker
            id = f"chain:{transfer.id}"
            note = f"{dollars(transfer.worth)} paid in {self.settings.symbol} by {person}"
            credit = Credit(id, account.id, month_of(now), transfer.worth, now, "chain", note)
            item = f"usage/credit:{account.id}"
            record = AuditRecord(now, id, person, "-", item, GRANT, "chain", "bought", 0.0, 0)
            await write_credit(connection, credit, record)
        return True


class _TooMany(Exception):
    """An endpoint refuses so many blocks at once, which is no failure of it."""


def _padded(address: str) -> str:
    return "0x" + address.removeprefix("0x").lower().rjust(64, "0")
