"""People and their accounts."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from auth.callers import PERSON, Account
from auth.claims import is_news, merged, statements
from auth.stores import AccountTaken, LastAccount, NoSuchPerson, Person
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import accounts, api_tokens, forgotten, people
from gateway.toolkit.sql import among_parameter, exclusive, lock_number

PEOPLE_PER_PAGE = 500
"""People that are read at once where all of them are wanted."""


class SqlPeople:
    """``auth.stores.People`` in the database."""

    def __init__(self, database: Reached, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def signed_in(self, account: Account) -> Person:
        """The person of an account that was proved just now; made at the first proof."""
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", account.subject))
            owner = await _owner(connection, account.subject)
            if owner is None:
                owner = _new_id()
                now = self._clock()
                await connection.execute(insert(people).values(id=owner, created=now))
                await self._add(connection, owner, account)
            else:
                await self._hear(connection, owner, account)
            return await _present(connection, owner)

    async def get(self, person: str) -> Person | None:
        """The person of that id."""
        return await self._read(people.c.id == person)

    async def several(self, ids: Collection[str]) -> list[Person]:
        """The people of some ids, those that there are."""
        async with self._database.connect() as connection:
            return _people(await connection.execute(_of_ids(), {"ids": ids}))

    async def by_subject(self, subject: str) -> Person | None:
        """The person who has the account of that subject."""
        owner = select(accounts.c.person).where(accounts.c.subject == subject)
        return await self._read(people.c.id.in_(owner))

    async def by_address(self, address: str) -> list[Person]:
        """The people who have an account of a wallet's address, by key or on any chain."""
        owners = select(accounts.c.person).where(
            accounts.c.provider == "wallet", accounts.c.subject.endswith(address, autoescape=True)
        )
        async with self._database.connect() as connection:
            return await _all(connection, people.c.id.in_(owners))

    async def named(self, provider: str, name: str) -> Person | None:
        """The person whose account a provider calls by this name, whatever its case.

        A provider may give a name that somebody left to somebody else; the last to prove it has it.
        """
        owner = (
            select(accounts.c.person)
            .where(accounts.c.provider == provider, accounts.c.known_as == name.casefold())
            .order_by(accounts.c.proved.desc())
            .limit(1)
        )
        return await self._read(people.c.id.in_(owner))

    async def link(self, person: str, account: Account) -> None:
        """Add an account that the person has proved.

        Raises:
            AccountTaken: it is another person's.
            NoSuchPerson: there is no such person.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", person))
            await exclusive(connection, lock_number("", account.subject))
            if await _find(connection, people.c.id == person) is None:
                raise NoSuchPerson
            owner = await _owner(connection, account.subject)
            if owner is None:
                await self._add(connection, person, account)
            elif owner == person:
                await self._hear(connection, person, account)
            else:
                raise AccountTaken("The account already signs in as another person.")
            if account.signer == "contract":
                await self._drop_unknown(connection, person, account.address)

    async def unlink(self, person: str, subject: str) -> None:
        """Take an account away; one that is not there is no error.

        Raises:
            LastAccount: there would be none left.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", person))
            query = select(accounts.c.subject).where(accounts.c.person == person)
            subjects = set(await connection.scalars(query))
            if subjects == {subject}:
                raise LastAccount("The person has no other account to sign in with.")
            if subject in subjects:
                await connection.execute(delete(accounts).where(accounts.c.subject == subject))

    async def delete(self, person: str) -> None:
        """Forget the person; sessions and grants go with them, and the bare id stays."""
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", person))
            await connection.execute(delete(api_tokens).where(api_tokens.c.person == person))
            gone = await connection.execute(delete(people).where(people.c.id == person))
            if gone.rowcount:
                record = insert(forgotten).values(person=person, at=self._clock())
                await connection.execute(record)

    async def matching(self, text: str, *, after: Person | None, limit: int) -> list[Person]:
        """As ``auth.stores.People.matching``."""
        holders = select(accounts.c.person).where(
            or_(
                accounts.c.known_as.contains(text.casefold(), autoescape=True),
                accounts.c.email.contains(text.lower(), autoescape=True),
                func.lower(accounts.c.subject).contains(text.lower(), autoescape=True),
            )
        )
        among = or_(people.c.id == text, people.c.id.in_(holders)) if text else None
        return await self._page(after, limit, among)

    async def everyone(self) -> AsyncIterator[Person]:
        """All people, the oldest first; those who come meanwhile are among them."""
        after: Person | None = None
        while page := await self._page(after):
            for person in page:
                yield person
            after = page[-1]

    async def _page(
        self,
        after: Person | None,
        limit: int = PEOPLE_PER_PAGE,
        among: ColumnElement[bool] | None = None,
    ) -> list[Person]:
        ids = select(people.c.id).order_by(people.c.created, people.c.id).limit(limit)
        if among is not None:
            ids = ids.where(among)
        if after is not None:
            same = and_(people.c.created == after.created, people.c.id > after.id)
            ids = ids.where(or_(people.c.created > after.created, same))
        async with self._database.connect() as connection:
            return await _all(connection, people.c.id.in_(ids))

    async def _read(self, where: ColumnElement[bool]) -> Person | None:
        async with self._database.connect() as connection:
            return await _find(connection, where)

    async def _add(self, connection: AsyncConnection, person: str, account: Account) -> None:
        last = select(func.max(accounts.c.place)).where(accounts.c.person == person)
        place = await connection.scalar(last)
        await connection.execute(
            insert(accounts).values(
                subject=account.subject,
                person=person,
                place=0 if place is None else place + 1,
                provider=account.provider,
                **self._claim_columns(merged(None, account)),
            )
        )

    async def _drop_unknown(self, connection: AsyncConnection, person: str, address: str) -> None:
        """Delete an old entry of the address that does not record who signed."""
        unknown = and_(
            accounts.c.person == person,
            accounts.c.subject == f"wallet:{address}",
            accounts.c.signer.is_(None),
        )
        await connection.execute(delete(accounts).where(unknown))

    async def _hear(self, connection: AsyncConnection, owner: str, account: Account) -> None:
        """Store the newest of the provider's claims; the subject is locked meanwhile."""
        known = (await _present(connection, owner)).account(account.subject)
        if account.dated is not None and not is_news(known, account):
            return
        columns = self._claim_columns(merged(known, account))
        own = accounts.c.subject == account.subject
        await connection.execute(update(accounts).where(own).values(**columns))

    def _claim_columns(self, account: Account) -> dict[str, Any]:
        """The provider's claims about the account, with their times."""
        return {
            "name": account.name,
            "known_as": None if account.name is None else account.name.casefold(),
            "email": account.email,
            "claims": dict(account.claims),
            "dated": dict(account.dated or {}),
            "signer": account.signer,
            "proved": self._clock(),
        }


async def _owner(connection: AsyncConnection, subject: str) -> str | None:
    """Who has the account; it cannot be taken away before the transaction ends."""
    query = select(accounts.c.person).where(accounts.c.subject == subject).with_for_update()
    owner: str | None = await connection.scalar(query)
    return owner


async def _present(connection: AsyncConnection, person: str) -> Person:
    found = await _find(connection, people.c.id == person)
    if found is None:
        raise NoSuchPerson
    return found


async def _find(connection: AsyncConnection, where: ColumnElement[bool]) -> Person | None:
    return next(iter(await _all(connection, where)), None)


async def _all(connection: AsyncConnection, where: ColumnElement[bool]) -> list[Person]:
    return _people(await connection.execute(_with_accounts(where)))


@lru_cache(maxsize=1)
def _of_ids() -> Select[Any]:
    return _with_accounts(among_parameter(people.c.id, "ids"))


def _with_accounts(where: ColumnElement[bool]) -> Select[Any]:
    return (
        select(people.c.id, people.c.created, *accounts.c)
        .join(accounts, accounts.c.person == people.c.id)
        .where(where)
        .order_by(people.c.created, people.c.id, accounts.c.place)
    )


def _people(rows: Iterable[Any]) -> list[Person]:
    return [_person(list(group)) for _, group in groupby(rows, key=lambda row: row.id)]


def _person(rows: list[Any]) -> Person:
    theirs = tuple(map(_account, rows))
    name = next((account.name for account in theirs if account.name), None)
    return Person(rows[0].id, name, theirs, rows[0].created)


def _account(row: Any) -> Account:
    account = Account(
        row.subject,
        row.provider,
        row.name,
        row.email,
        row.claims,
        signer=row.signer,
        proved=row.proved,
    )
    # What has no time of its own was said when the account was last proved, or before.
    proved = dict.fromkeys(statements(account), row.proved.timestamp())
    return replace(account, dated={**proved, **(row.dated or {})})


def _new_id() -> str:
    """A hundred random bits, so that no id is ever made twice."""
    return PERSON + base64.b32encode(secrets.token_bytes(13)).decode()[:20].lower()
