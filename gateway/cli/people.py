"""``porch people``: who has signed in, and what an admin may do for or about them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gateway.cli.options import Setup, emit, json_option, with_setup

if TYPE_CHECKING:
    from auth.account_service import AccountService
    from auth.callers import Account
    from auth.stores import Person, Stores

T = TypeVar("T")


@click.group()
def command() -> None:
    """See who has signed in, sign people out, forget them.

    WHO is a person's id, a wallet's address, github:LOGIN, or an account as `show` writes it.
    People do the same for themselves on the portal's page /account.

    \b
    Examples:
      porch people list
      porch people show github:octocat
      porch people sign-out 0x52908400098527886E0F7030069857D2E4169EE7 --tokens
    """


@command.command("list")
@json_option
@with_setup
def list_(setup: Setup, as_json: bool) -> None:
    """List everyone who has signed in, the oldest first.

    \b
    Examples:
      porch people list
      porch people list --json
    """
    people: list[Person] = []
    count = asyncio.run(_each(setup, people.append if as_json else _print))
    if as_json:
        emit([_json(person) for person in people])
    elif not count:
        click.echo("Nobody has signed in yet.")


async def _each(setup: Setup, show: Callable[[Person], None]) -> int:
    """Show person after person, however many there are; returns how many."""
    from gateway.cli.stored import opened_stores

    count = 0
    async with opened_stores(setup) as (stores, _):
        async for person in stores.people.everyone():
            show(person)
            count += 1
    return count


def _print(person: Person) -> None:
    from gateway.cli.stored import day

    known = ", ".join(map(_account_text, person.accounts))
    click.echo(f"{person.id}  {day(person.created)}  {known}")


def _json(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "created": person.created.isoformat(),
        "accounts": [account.subject for account in person.accounts],
    }


@command.command()
@click.argument("who")
@json_option
@with_setup
def show(setup: Setup, who: str, as_json: bool) -> None:
    """Show what is stored about a person: accounts, tokens, clients, sessions.

    Which tier they have, and why, says `porch explain --as WHO`.

    \b
    Examples:
      porch people show github:octocat
      porch people show person:4kq2mz7txw3y5abcdefg --json
    """

    async def export(service: AccountService, person: Person) -> dict[str, Any]:
        return await service.export(person.id)

    found = asyncio.run(_with(setup, who, export))
    if as_json:
        emit(found)
        return
    from gateway.cli.render import clean, lines

    known = clean(found["name"] or "no name")
    click.echo(f"{found['id']} · {known} · signed in first on {found['created'][:10]}\n")
    parts = {name: part for name, part in found.items() if part and isinstance(part, list)}
    for line in lines(parts):
        click.echo(line)


@command.command("sign-out")
@click.argument("who")
@click.option("--tokens", is_flag=True, help="Revoke their API tokens too.")
@with_setup
def sign_out(setup: Setup, who: str, tokens: bool) -> None:
    """Sign a person out everywhere: their browsers and the clients they connected.

    A portal that runs acts on it within seconds.

    \b
    Examples:
      porch people sign-out github:octocat
      porch people sign-out github:octocat --tokens
    """

    async def end(service: AccountService, person: Person) -> str:
        await service.sign_out_everywhere(person.id, api_tokens=tokens)
        return person.id

    click.echo(f"{asyncio.run(_with(setup, who, end))} is signed out everywhere.")


@command.command()
@click.argument("who")
@click.argument("account")
@with_setup
def unlink(setup: Setup, who: str, account: str) -> None:
    """Take an account away from a person, such as a wallet that was lost.

    ACCOUNT is a wallet's address, github:LOGIN, or an account as `show` writes it.

    \b
    Examples:
      porch people unlink github:octocat 0x52908400098527886E0F7030069857D2E4169EE7
    """

    async def take(service: AccountService, person: Person) -> str:
        from auth.stores import LastAccount

        subject = _theirs(person, account)
        try:
            await service.unlink(person.id, subject)
        except LastAccount:
            raise click.ClickException(
                f"{subject} is all that they sign in with. `porch people delete` forgets the "
                "person."
            ) from None
        return f"{subject} is not an account of {person.id} any more."

    click.echo(asyncio.run(_with(setup, who, take)))


@command.command()
@click.argument("who")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_setup
def delete(setup: Setup, who: str, yes: bool) -> None:
    """Forget a person: accounts, sessions, tokens and connected clients.

    What they wrote in plugins the portal erases, within a minute or when it starts; what others
    use of it stays without their name. Records of their calls stay, under an id that leads to
    nobody, until they are purged.

    \b
    Examples:
      porch people delete github:octocat
    """

    async def forget(service: AccountService, person: Person) -> str:
        known = ", ".join(map(_account_text, person.accounts))
        if not yes:
            click.confirm(f"Forget {person.id} ({known})?", abort=True, err=True)
        await service.delete(person.id)
        return person.id

    click.echo(f"{asyncio.run(_with(setup, who, forget))} is forgotten.")


async def _with(setup: Setup, who: str, act: Callable[[AccountService, Person], Awaitable[T]]) -> T:
    """Do something with the person that an admin means."""
    from auth.account_service import AccountService
    from gateway.cli.stored import opened_stores

    async with opened_stores(setup) as (stores, revocations):
        return await act(AccountService(stores, revocations), await _find_person(stores, who))


async def _find_person(stores: Stores, who: str) -> Person:
    """The person; an ambiguous text is an error."""
    found = {person.id: person for person in await _matching_people(stores, who)}
    if len(found) > 1:
        raise click.ClickException(f"{who} may be {' or '.join(found)}. Give the id.")
    if not found:
        raise click.ClickException(
            f"Nobody known here is {who}. `porch people list` shows who has signed in."
        )
    return next(iter(found.values()))


async def _matching_people(stores: Stores, who: str) -> list[Person]:
    from gateway.identity.person_lookup import named_wallet, with_wallet

    people = stores.people
    provider, _, name = who.partition(":")
    if provider == "person":
        candidates = [await people.get(who)]
    elif wallet := named_wallet(who):
        candidates = [*await with_wallet(people, wallet)]
    else:
        candidates = [await people.by_subject(who)]
        candidates += [await people.named(provider, name)] if name else []
    return [person for person in candidates if person is not None]


def _theirs(person: Person, text: str) -> str:
    """The subject of the person's account that an admin means."""
    wanted = text.casefold()
    found = []
    for account in person.accounts:
        names = {f"{account.provider}:{account.name}"}
        if account.provider == "wallet":
            names |= {account.id, account.address}
        if wanted == account.subject.casefold():
            return account.subject
        if wanted in {name.casefold() for name in names}:
            found.append(account.subject)
    if len(found) > 1:
        raise click.ClickException(f"{text} may be {' or '.join(found)}. Write which.")
    if not found:
        message = f"{text} is no account of theirs; `porch people show` lists them."
        raise click.ClickException(message)
    return found[0]


def _account_text(account: Account) -> str:
    """An account on one line, whatever its provider calls it."""
    from gateway.cli.render import clean

    text = f"{account.subject} ({account.name})" if account.name else account.subject
    if account.provider == "wallet" and account.signer is None:
        text += " [has to sign in once more]"
    return " ".join(clean(text).split())
