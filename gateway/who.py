"""Who an admin means by ``--as``: a person, an account that never signed in, or nobody."""

from __future__ import annotations

from auth import ANONYMOUS, Account, Caller, Identity, Tier
from auth.resolver import Resolver
from auth.stores import Person, Stores, utc_now
from auth.verdicts import Resolution
from gateway.errors import NotFound


class Whoever:
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
                ``token:NAME``); a wallet's address; ``github:NAME``; or an account's subject.

        Raises:
            NotFound: there is no such person, and the account says too little to imagine one.
        """
        if who == "anonymous":
            return ANONYMOUS, None
        if who in set(Tier):
            return Caller(f"any {who} caller", Tier(who), (f"Taken to have {who} access.",)), None
        resolution = await self._resolver.explain(await self._identity(who))
        return resolution.caller, resolution

    async def _identity(self, who: str) -> Identity:
        if who.startswith("token:"):
            return await self._operator(who)
        if not _is_text(who):
            raise NotFound("Nobody is called that: it holds characters that no name here has.")
        person = await self.person(who)
        if person is not None:
            return signed_in(person)
        address = checksummed(who)
        if address is None:
            raise NotFound(
                f"Nobody known here is {who}. Write anonymous, a tier, a wallet's address, "
                "github:NAME of someone who has signed in, or a person's id (`porch people list`)."
            )
        account = Account(f"wallet:{address}", "wallet")
        return Identity(f"whoever holds {address}", "session", None, (account,))

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
        """The person behind an id, an address, ``github:NAME`` or an account's subject."""
        people = self._stores.people
        if who.startswith("person:"):
            return await people.get(who)
        if address := checksummed(who):
            return await people.by_subject(f"wallet:{address}")
        found = await people.by_subject(who)
        provider, _, name = who.partition(":")
        return found or (await people.named(provider, name) if name else None)


def signed_in(person: Person) -> Identity:
    """The identity of a person who is signed in with nothing held back."""
    return Identity(person.id, "session", person.name, person.accounts)


def _is_text(text: str) -> bool:
    """Whether a database can hold a text: PostgreSQL takes no NUL, and nobody half a character."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def checksummed(text: str) -> str | None:
    """An Ethereum address as EIP-55 spells it, or None where the text is no address."""
    from eth_utils.address import is_hex_address, to_checksum_address

    text = text.removeprefix("wallet:")
    return str(to_checksum_address(text)) if is_hex_address(text) else None
