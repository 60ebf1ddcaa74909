"""People and their accounts, on each database."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from auth.callers import Account
from auth.stores import AccountTaken, LastAccount, Stores
from gateway.identity.stores import forgotten_people
from gateway.identity.stores import people as module
from gateway.identity.stores.tables import accounts
from gateway.services.database.service import OwnedDatabase
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Clock, Replica


async def test_the_first_proof_makes_a_person_and_the_next_finds_them(stores: Stores) -> None:
    person = await stores.people.signed_in(ALICE)
    assert re.fullmatch(r"person:[a-z2-7]{20}", person.id)
    assert (person.accounts, person.name, person.created) == ((ALICE,), None, NOON)
    assert await stores.people.signed_in(ALICE) == person
    assert await stores.people.get(person.id) == person
    assert await stores.people.by_subject(ALICE.subject) == person
    assert await stores.people.get("person:nobody") is None
    assert await stores.people.by_subject(OCTO.subject) is None


async def test_what_a_provider_says_now_replaces_what_it_said(stores: Stores) -> None:
    await stores.people.signed_in(OCTO)
    renamed = replace(OCTO, name="mona", email="mona@example.org", claims={"login": "mona"})
    person = await stores.people.signed_in(renamed)
    assert person.accounts == (renamed,)
    assert person.name == "mona"
    assert await stores.people.named("github", "octo-cat") is None


async def test_several_people_are_read_at_once_and_only_those_there_are(stores: Stores) -> None:
    people = [
        await stores.people.signed_in(Account(f"oidc:https://id.example#{number}", "oidc"))
        for number in range(3)
    ]
    asked = {people[0].id, people[2].id, "person_of_nobody"}
    found = await stores.people.several(asked)
    assert {each.id: each for each in found} == {each.id: each for each in people[::2]}
    assert await stores.people.several(set()) == []


def said(groups: list[str] | None, at: float, **more: Any) -> Account:
    """What an issuer says of one subject; no groups where it is silent on them."""
    claims = {"groups": groups, **more} if groups is not None else more
    dates = dict.fromkeys(claims, at)
    return Account("oidc:https://id.example#ana", "oidc", claims=claims, dated=dates)


async def test_an_older_word_changes_nothing_and_a_silent_one_erases_nothing(
    stores: Stores,
) -> None:
    await stores.people.signed_in(said(["staff"], 100))
    person = await stores.people.signed_in(said([], 200))
    for older in (said(["staff"], 100), said(["staff"], 199.9), said(None, 300, level=2)):
        person = await stores.people.signed_in(older)
        assert person.accounts[0].claims["groups"] == []
    assert person.accounts[0].claims == {"groups": [], "level": 2}
    assert person.accounts[0].dated == {"groups": 200, "level": 300}
    await stores.people.link(person.id, said(["staff"], 150))
    assert (await stores.people.get(person.id)) == person
    again = await stores.people.signed_in(said(["staff"], 201))
    assert again.accounts[0].claims == {"groups": ["staff"], "level": 2}


async def test_the_newest_word_counts_whichever_replica_hears_it_last(
    replica: Replica, other: Replica
) -> None:
    words = [said([str(at)], at) for at in range(40)]
    random.Random(7).shuffle(words)
    heard = [
        each.stores.people.signed_in(word)
        for each, word in zip([replica, other] * 20, words, strict=True)
    ]
    await asyncio.gather(*heard)
    person = await replica.stores.people.by_subject(words[0].subject)
    assert person is not None
    assert person.accounts[0].claims == {"groups": ["39"]}


async def test_what_was_kept_before_times_were_counts_as_of_the_last_proof(
    stores: Stores, database: OwnedDatabase
) -> None:
    at = NOON.timestamp()
    await stores.people.signed_in(said(["staff"], 100))
    async with database.begin() as connection:
        await connection.execute(update(accounts).values(dated=None))
    person = await stores.people.signed_in(said([], at - 1))
    assert person.accounts[0].claims == {"groups": ["staff"]}
    assert person.accounts[0].dated == {"groups": at}
    person = await stores.people.signed_in(said([], at + 1))
    assert person.accounts[0].claims == {"groups": []}


async def test_claims_are_any_json_and_names_any_text(stores: Stores) -> None:
    claims = {"groups": ["a", None, 1.5], "deep": {"π": "\0\ud800"}}
    person = await stores.people.signed_in(replace(OCTO, name="a\0b\ud800c", claims=claims))
    assert person.accounts[0].claims == claims
    assert person.name == "a?b?c"


async def test_a_hundred_first_proofs_at_once_on_two_replicas_give_one_person(
    replica: Replica, other: Replica
) -> None:
    both = [replica, other] * 20
    people = await asyncio.gather(*(each.stores.people.signed_in(ALICE) for each in both))
    assert len({person.id for person in people}) == 1
    assert [person.id async for person in other.stores.people.everyone()] == [people[0].id]


async def test_a_name_is_found_whatever_its_case_and_the_last_to_prove_it_has_it(
    stores: Stores, clock: Clock
) -> None:
    first = await stores.people.signed_in(OCTO)
    assert await stores.people.named("github", "OCTO-cat") == first
    assert await stores.people.named("wallet", "octo-cat") is None
    clock.pass_(days=1)
    second = await stores.people.signed_in(replace(OCTO, subject="github:9"))
    assert await stores.people.named("github", "octo-cat") == second


async def test_linked_accounts_lead_to_one_person_in_the_order_of_their_proof(
    stores: Stores,
) -> None:
    person = await stores.people.signed_in(ALICE)
    await stores.people.link(person.id, OCTO)
    await stores.people.link(person.id, replace(OCTO, name="mona"))
    found = await stores.people.signed_in(ALICE)
    assert found.accounts == (ALICE, replace(OCTO, name="mona"))
    assert found.name == "mona"
    assert await stores.people.by_subject(OCTO.subject) == found


async def test_an_account_of_somebody_else_is_never_taken(stores: Stores) -> None:
    alice = await stores.people.signed_in(ALICE)
    octo = await stores.people.signed_in(OCTO)
    with pytest.raises(AccountTaken):
        await stores.people.link(alice.id, OCTO)
    assert await stores.people.get(octo.id) == octo
    with pytest.raises(LookupError):
        await stores.people.link("person:nobody", Account("github:1", "github"))
    assert await stores.people.by_subject("github:1") is None


async def test_one_of_two_who_link_the_same_account_at_once_gets_it(
    replica: Replica, other: Replica
) -> None:
    people = [
        await replica.stores.people.signed_in(Account.of_key(f"{number}")) for number in range(8)
    ]
    links = [
        each.stores.people.link(person.id, OCTO)
        for person, each in zip(people, [replica, other] * 4, strict=True)
    ]
    ended = await asyncio.gather(*links, return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["AccountTaken"] * 7 + ["NoneType"]


async def test_the_last_account_stays_also_where_two_are_taken_away_at_once(
    replica: Replica, other: Replica
) -> None:
    person = await replica.stores.people.signed_in(ALICE)
    await replica.stores.people.link(person.id, OCTO)
    ended = await asyncio.gather(
        replica.stores.people.unlink(person.id, ALICE.subject),
        other.stores.people.unlink(person.id, OCTO.subject),
        return_exceptions=True,
    )
    assert sorted(type(each).__name__ for each in ended) == ["LastAccount", "NoneType"]
    kept = await replica.stores.people.get(person.id)
    assert kept is not None
    assert len(kept.accounts) == 1
    await replica.stores.people.unlink(person.id, "github:not-theirs")
    with pytest.raises(LastAccount):
        await replica.stores.people.unlink(person.id, kept.accounts[0].subject)


async def test_only_ones_own_account_is_unlinked(stores: Stores) -> None:
    alice = await stores.people.signed_in(ALICE)
    octo = await stores.people.signed_in(OCTO)
    await stores.people.unlink(alice.id, OCTO.subject)
    assert await stores.people.get(octo.id) == octo


async def test_who_was_deleted_comes_back_as_somebody_new(stores: Stores) -> None:
    person = await stores.people.signed_in(ALICE)
    await stores.people.delete(person.id)
    await stores.people.delete(person.id)
    assert await stores.people.get(person.id) is None
    assert await stores.people.by_subject(ALICE.subject) is None
    assert (await stores.people.signed_in(ALICE)).id != person.id


async def test_the_ids_of_the_deleted_are_remembered_and_no_others(
    stores: Stores, replica: Replica, other: Replica
) -> None:
    person, stays = [await stores.people.signed_in(each) for each in (ALICE, OCTO)]
    both = [each.stores.people.delete(person.id) for each in (replica, other)]
    await asyncio.gather(*both, stores.people.delete("person:nobody"))
    assert await forgotten_people(replica.database) == {person.id}
    assert await stores.people.get(stays.id)


async def test_proofs_and_deletions_at_once_leave_whole_people(
    replica: Replica, other: Replica
) -> None:
    person = await replica.stores.people.signed_in(ALICE)
    proofs = [each.stores.people.signed_in(ALICE) for each in (replica, other) * 5]
    *proved, _ = await asyncio.gather(*proofs, replica.stores.people.delete(person.id))
    assert all(each is not None and each.accounts == (ALICE,) for each in proved)
    assert len({each.id for each in proved if each}) <= 2
    await replica.stores.people.signed_in(ALICE)
    assert len([each async for each in replica.stores.people.everyone()]) == 1


async def test_everyone_is_read_in_pages_the_oldest_first(
    stores: Stores, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PEOPLE_PER_PAGE", 3)
    made = []
    for number in range(8):
        clock.pass_(seconds=number % 2)  # some come at the same moment
        person = await stores.people.signed_in(Account.of_key(f"{number}"))
        await stores.people.link(person.id, Account(f"github:{number}", "github"))
        stored = await stores.people.get(person.id)
        assert stored is not None
        made.append(stored)
    found = [person async for person in stores.people.everyone()]
    assert sorted(found, key=lambda each: each.id) == sorted(made, key=lambda each: each.id)
    assert [each.created for each in found] == sorted(each.created for each in found)


async def test_a_contract_wallet_is_one_account_on_each_chain(stores: Stores) -> None:
    here, there = (Account.of_contract(chain, ALICE.address) for chain in (10, 1))
    person = await stores.people.signed_in(here)
    await stores.people.link(person.id, there)
    found = await stores.people.get(person.id)
    assert found is not None
    assert found.accounts == (here, there)
    assert [(each.chain, each.address) for each in found.accounts] == [
        (10, ALICE.address),
        (1, ALICE.address),
    ]
    key = await stores.people.signed_in(ALICE)
    assert key.id != person.id
    assert {each.id for each in await stores.people.by_address(ALICE.address)} == {
        key.id,
        person.id,
    }


async def test_a_linked_contract_takes_the_place_of_what_was_of_nobody_knows_whom(
    stores: Stores,
) -> None:
    unknown = Account(ALICE.subject, "wallet")
    person = await stores.people.signed_in(unknown)
    contract = Account.of_contract(10, ALICE.address)
    await stores.people.link(person.id, contract)
    assert (await stores.people.get(person.id) or person).accounts == (contract,)


async def test_a_linked_contract_leaves_the_key_and_others_old_accounts_alone(
    stores: Stores,
) -> None:
    contract = Account.of_contract(10, ALICE.address)
    old = await stores.people.signed_in(Account(ALICE.subject, "wallet"))
    other = await stores.people.signed_in(OCTO)
    await stores.people.link(other.id, contract)
    assert await stores.people.get(old.id) == old
    await stores.people.unlink(other.id, contract.subject)
    mine = await stores.people.signed_in(ALICE)
    await stores.people.link(mine.id, contract)
    assert (await stores.people.get(mine.id) or mine).accounts == (ALICE, contract)


async def test_people_are_found_by_what_their_accounts_are_called(
    stores: Stores, clock: Clock
) -> None:
    people = {}
    for name in ("Ana", "Banana", "100%_sure"):
        clock.pass_(seconds=1)
        email = f"{name.lower()}@example.org"
        account = Account(f"github:{name}", "github", name, email)
        people[name] = (await stores.people.signed_in(account)).id

    async def found(text: str, after: str = "", limit: int = 10) -> list[str]:
        last = await stores.people.get(after) if after else None
        matching = await stores.people.matching(text, after=last, limit=limit)
        return [each.name or "" for each in matching]

    assert await found("ana") == ["Ana", "Banana"]
    assert await found("ANA@EXAMPLE") == ["Ana", "Banana"]
    assert await found("github:banana") == ["Banana"]
    assert await found(people["Ana"]) == ["Ana"]
    assert await found("%_") == ["100%_sure"]
    assert await found("' OR 1=1 --") == []
    assert await found("", limit=2) == ["Ana", "Banana"]
    assert await found("", after=people["Banana"]) == ["100%_sure"]
    assert await found("ana", after=people["Ana"]) == ["Banana"]
