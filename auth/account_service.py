"""What people do with their account: sign in, link, unlink, sign out, export, delete.

Each change is stored first and reported to the revocations after, so that whoever looks something
up again because of the report finds the change.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from auth.callers import Account, SignedOut
from auth.claims import is_news, renewed, with_undated
from auth.revocations import Revocations
from auth.stores import NoSuchPerson, Person, Stores


class AccountService:
    """Changes people's accounts, with effect at once on all replicas.

    Args:
        stores: people, sessions, tokens and grants.
        revocations: notified of everything that must be looked up again.
    """

    def __init__(self, stores: Stores, revocations: Revocations) -> None:
        self._stores = stores
        self._revocations = revocations

    async def sign_in(self, account: Account) -> Person:
        """The person of an account that was proved just now; created at the first proof.

        New claims of the provider about the account count from now on.
        """
        before = await self._stores.people.by_subject(account.subject)
        person = await self._stores.people.signed_in(account)
        # A contract's account may have lapsed, and counts again from now on.
        again = account.signer == "contract"
        if before is not None and (again or renewed(before.accounts, person.accounts)):
            await self._revocations.revoke(person.id)
        return person

    async def recognise(self, account: Account) -> Person:
        """The person of an account that a token is about; created at first sight.

        A token is presented many times, so this only reads unless the token has something new. A
        token that is older than what is stored changes nothing, and its own request gets what is
        stored, not what the token says.

        Raises:
            NoSuchPerson: the person was deleted just now.
        """
        person = await self._stores.people.by_subject(account.subject)
        known = None if person is None else person.account(account.subject)
        if person is None or is_news(known, account):
            person = await self.sign_in(account)
        accounts = [
            with_undated(each, account) if each.subject == account.subject else each
            for each in person.accounts
        ]
        return replace(person, accounts=tuple(accounts))

    async def link(self, person: str, account: Account) -> None:
        """Add an account that the person has proved just now.

        Raises:
            AccountTaken: it is another person's.
            NoSuchPerson: there is no such person.
        """
        await self._stores.people.link(person, account)
        await self._revocations.revoke(person)

    async def unlink(self, person: str, subject: str) -> None:
        """Take an account away; one that is not there is no error.

        Raises:
            LastAccount: there would be none left.
        """
        await self._stores.people.unlink(person, subject)
        await self._revocations.revoke(person)

    async def sign_out_everywhere(self, person: str, *, api_tokens: bool = False) -> None:
        """End the person's browser sessions and what they granted to clients.

        Args:
            person: who.
            api_tokens: whether their API tokens are revoked too.
        """
        await self._stores.sessions.end_all(person)
        await self._stores.grants.revoke_all(person)
        if api_tokens:
            await self._stores.tokens.revoke_all(person)
        await self._revocations.revoke(person)

    async def provider_signed_out(self, who: SignedOut) -> None:
        """End the browser sessions and grants that began with a provider's session that ended."""
        await self._stores.sessions.end_of(who)
        ended = await self._stores.grants.revoke_of(who)
        await self._revocations.revoke(*(f"grant:{grant}" for grant in ended))

    async def revoke_grant(self, person: str, grant_id: str) -> bool:
        """Revoke a grant that the person gave to a client.

        Returns:
            False where there is no such grant of theirs.
        """
        grant = await self._stores.grants.get(grant_id)
        if grant is None or grant.person != person:
            return False
        await self._stores.grants.revoke([grant_id])
        await self._revocations.revoke(f"grant:{grant_id}")
        return True

    async def delete(self, person: str) -> None:
        """Forget the person: accounts, sessions, tokens and grants."""
        await self._stores.people.delete(person)
        await self._revocations.revoke(person)

    async def export(self, person: str) -> dict[str, Any]:
        """Everything that these tables hold about a person, as JSON values; no secret.

        Raises:
            NoSuchPerson: there is no such person.
        """
        found = await self._stores.people.get(person)
        if found is None:
            raise NoSuchPerson
        sessions = await self._stores.sessions.of(person)
        tokens = await self._stores.tokens.of(person, ended=True)
        grants = await self._stores.grants.of(person, ended=True)
        return {
            "id": found.id,
            "name": found.name,
            "created": _json(found.created),
            "accounts": [_record(account) for account in found.accounts],
            "sessions": [_record(session) for session in sessions],
            "api_tokens": [_record(token) for token in tokens],
            "clients": [_record(grant) for grant in grants],
        }


def _record(record: Any) -> dict[str, Any]:
    """A record as JSON values, without its owner and the digest of its secret."""
    left_out = {"person", "digest", "outdated", "lapsed"}
    return {name: _json(value) for name, value in asdict(record).items() if name not in left_out}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return list(value)
    return sorted(value) if isinstance(value, frozenset) else value
