"""Who an admin means by ``--as``: a person, an account that never signed in, or nobody."""

from __future__ import annotations

import re
from dataclasses import replace

from auth import ANONYMOUS, Account, Caller, Identity, Tier
from auth.resolver import Resolver
from auth.rules.verdict import Resolution
from auth.stores import People, Person, Stores, utc_now
from gateway.errors import NotFound

_CHAIN = re.compile(r"|eip155:[1-9][0-9]{0,19}", re.ASCII)


class PersonLookup:
    """Finds callers by what an admin writes.

    Args:
        stores: who has signed in.
        resolver: decides their tiers.
    """

    def __init__(self, stores: Stores, resolver: Resolver) -> None:
        self._stores = stores
        self._resolver = resolver

    async def caller(self, who: str) -> tuple[Caller, Resolution | None]:
        """The caller that somebody would be now, and how the rules judge them.

        Args:
            who: ``anonymous``; a tier; a person or operator token by id (``person:…``,
                ``token:NAME``); a wallet's address, a contract's with its chain where it shall be
                one that never signed in (``eip155:10:0x…``); ``github:NAME``; or an account's
                subject.

        Raises:
            NotFound: there is no such person, and the account says too little to imagine one.
        """
        if who == "anonymous":
            return ANONYMOUS, None
        if who in set(Tier):
            return Caller(f"any {who} caller", Tier(who), (f"Taken to have {who} access.",)), None
        resolution = await self._resolver.explain(await self.identity(who))
        return resolution.caller, resolution

    async def identity(self, who: str) -> Identity:
        """What the credential of somebody would prove, as the rules judge it.

        Raises:
            NotFound: as of :meth:`caller`.
        """
        if who.startswith("token:"):
            return await self._operator(who)
        if not _is_text(who):
            raise NotFound("Nobody is called that: it holds characters that no name here has.")
        person = await self.person(who)
        if person is not None:
            return signed_in(person)
        wallet = named_wallet(who)
        if wallet is None:
            raise NotFound(
                f"Nobody known here is {who}. Write anonymous, a tier, a wallet's address, "
                "github:NAME of someone who has signed in, or a person's id (`porch people list`)."
            )
        account = replace(wallet, proved=utc_now())
        return Identity(f"whoever holds {wallet.id}", "session", None, (account,))

    async def _operator(self, who: str) -> Identity:
        now = utc_now()
        for token in await self._stores.tokens.operators():
            if token.person == who and (token.expires is None or token.expires > now):
                return Identity(
                    who, "operator-token", token.name, (), token.granted, tools=token.tools
                )
        raise NotFound(
            f"There is no operator's token {who} that is still good; `porch token list` shows them."
        )

    async def person(self, who: str) -> Person | None:
        """The person behind an id, an address, ``github:NAME`` or an account's subject.

        Raises:
            NotFound: an address is several people's, each on a chain of its own.
        """
        people = self._stores.people
        if who.startswith("person:"):
            return await people.get(who)
        if wallet := named_wallet(who):
            return _only(await with_wallet(people, wallet), wallet.address)
        found = await people.by_subject(who)
        provider, _, name = who.partition(":")
        return found or (await people.named(provider, name) if name else None)


async def with_wallet(people: People, wallet: Account) -> list[Person]:
    """The people who have a wallet; where no chain is named, by its key or on any chain."""
    if wallet.chain is None:
        return await people.by_address(wallet.address)
    found = await people.by_subject(wallet.subject)
    return [found] if found else []


def _only(people: list[Person], address: str) -> Person | None:
    if len(people) > 1:
        held = (each for person in people for each in person.accounts if each.address == address)
        wallets = ", ".join(each.subject for each in held)
        ids = " or ".join(person.id for person in people)
        raise NotFound(f"{address} is {len(people)} people's here ({wallets}). Write {ids}.")
    return next(iter(people), None)


def signed_in(person: Person) -> Identity:
    """The identity of a person who is signed in with nothing held back."""
    return Identity(person.id, "session", person.name, person.accounts)


def _is_text(text: str) -> bool:
    """Whether a database can hold a text: PostgreSQL takes no NUL, and none a lone surrogate."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def named_wallet(text: str) -> Account | None:
    """The account that an address means, or None where the text is none.

    Args:
        text: ``0x…`` for a key's, in any case, or ``eip155:10:0x…`` (CAIP-10) for a contract's;
            also with ``wallet:`` before it.
    """
    from eth_utils.address import is_hex_address, to_checksum_address

    chain, _, address = text.removeprefix("wallet:").rpartition(":")
    if not is_hex_address(address) or not _CHAIN.fullmatch(chain):
        return None
    address = str(to_checksum_address(address))
    if not chain:
        return Account.of_key(address)
    return Account.of_contract(int(chain.removeprefix("eip155:")), address)
