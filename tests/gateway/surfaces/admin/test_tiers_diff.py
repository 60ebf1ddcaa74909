"""What another ``tiers.yaml`` would change for people."""

import asyncio
from datetime import UTC, datetime

from auth import Account, Tier
from auth.facts import Facts
from auth.resolver import Resolver
from auth.rules import AccessRules
from auth.stores import Person
from gateway.catalog.catalog import Decision
from gateway.surfaces.admin.tiers_diff import Rules, person_change

ALICE = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
BOB = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
ITEMS = [
    ("library/draft", Decision(Tier.MEMBERS, False, "")),
    ("library/ask", Decision(Tier.PUBLIC, False, "")),
]
HAT = AccessRules.model_validate({"members": {"hat": "30.3.1"}})
EVERYONE = AccessRules.model_validate({"members": "signed_in"})


class OneHat:
    """Alice wears it; the batches that were asked."""

    def __init__(self):
        self.batches = []

    async def answers(self, questions):
        self.batches.append(questions)
        return {question: question.key[1] == ALICE for question in questions}


def person(address):
    account = Account.of_key(address)
    return Person(f"person:{address}", None, (account,), datetime.now(UTC))


async def test_it_says_who_gains_what_and_asks_a_source_once_for_all():
    hats = OneHat()
    facts = Facts({"hats": hats})
    now, then = Rules(Resolver(HAT, facts), ITEMS), Rules(Resolver(EVERYONE, facts), ITEMS)
    people = [person(ALICE), person(BOB)]
    alice, bob = await asyncio.gather(*(person_change(each, now, then) for each in people))
    assert alice is None
    assert bob is not None
    assert (bob.before, bob.after) == ((Tier.PUBLIC, False), (Tier.MEMBERS, False))
    assert (bob.gains, bob.loses, bob.uncertain) == (("library/draft",), (), False)
    assert len(hats.batches) == 1
    await facts.close()


async def test_a_file_that_is_stricter_on_an_item_takes_it_from_people():
    facts = Facts({})
    stricter = [ITEMS[0], ("library/ask", Decision(Tier.MEMBERS, False, ""))]
    rules = Resolver(AccessRules(), facts)
    change = await person_change(person(BOB), Rules(rules, ITEMS), Rules(rules, stricter))
    assert change is not None
    assert (change.gains, change.loses) == ((), ("library/ask",))


def test_what_a_tier_may_use_is_found_once_for_all_of_its_people():
    rules = Rules(Resolver(AccessRules(), Facts({})), ITEMS)
    assert rules.usable[Tier.PUBLIC] == {"library/ask"}
    assert rules.usable[Tier.MEMBERS] == {"library/draft", "library/ask"}
    assert rules.usable is rules.usable
