"""What a sentence says to have gone, and which earlier entries say that."""

import pytest

from plugins.knowledge.memory.algorithms.contradictions import HANDED_OVER, compare
from plugins.knowledge.memory.algorithms.extraction import RuleExtractor, Turn
from tests.plugins.knowledge.memory.algorithms.test_contradictions import said

CHANGES = [
    ("Ben runs the newsletter.", "Priya took over the newsletter from Ben."),
    ("The team meets on Fridays at ten.", "No more meetings on Fridays."),
    ("Chloe is the treasurer.", "Chloe stepped down as treasurer, Dan takes over."),
    ("Ben takes the minutes.", "Ben handed the minutes over to Priya."),
    ("Ben looks after the server.", "Ben handed over the server to Lena."),
    ("The accountant is Ms Brandt.", "Ms Brandt was succeeded by Mr Okoye as accountant."),
    ("The lead of design is Dan.", "Dan was replaced as lead of design by Uma."),
    ("Dan leads design.", "Uma replaced Dan as head of design."),
    ("We build Lantern on Django.", "Agreed: FastAPI instead of Django for Lantern."),
    ("We decided to use Django.", "We decided to go with FastAPI instead of Django."),
    ("The server is in the basement.", "The server was moved from the basement to the attic."),
    ("The hotel is the Alster.", "The hotel is not the Alster in the end but the Motel One."),
    ("The ledger stores its data in Oracle.", "Oracle was dropped; the ledger is backed by Redis."),
    ("Helvetia insures the van.", "We cancelled Helvetia; the van is insured with Zurich."),
    ("Luis is responsible for the choir.", "Luis no longer looks after the choir, Tomas does."),
    ("The dose of the syrup is 40 ml.", "40 ml of the syrup was too much: use 5 ml."),
    ("The speaker of the gala is Ms Yu.", "Hannes fills in for Ms Yu at the gala."),
    ("The planner is written in Rust.", "The team ported the planner from Rust to Perl."),
    ("The club has its account at GLS.", "The club's account was transferred from GLS to BBB."),
    ("Tests need Python 3.10.", "We dropped Python 3.10: tests need Python 3.12."),
]
APART = [
    ("Ben runs the newsletter.", "Priya took over the kitchen from Ben."),
    ("Ben runs the newsletter.", "Did Priya take over the newsletter from Ben?"),
    ("Dan likes Django.", "We decided to go with FastAPI instead of Django."),
    ("The shop opens on Fridays.", "No more meetings on Fridays."),
    ("Chloe is the secretary of the choir.", "Chloe stepped down as treasurer of the club."),
    ("Ben has a cat.", "Ben handed the minutes over to Priya."),
    ("Ms Brandt lives in Kalk.", "Ms Brandt was succeeded by Mr Okoye as accountant."),
    ("The server in Bonn has 64 GB.", "The server was moved from the basement to the attic."),
    ("The ledger stores its data in Oracle.", "Oracle was dropped; the wiki is backed by Redis."),
    ("Luis is in the choir.", "Luis no longer looks after the garden, Tomas does."),
    ("The dose of the syrup is 40 ml.", "40 ml of the fertiliser was too much: use 5 ml."),
    ("Ms Yu lives in Kalk.", "Hannes fills in for Ms Yu at the gala."),
    ("The wiki is written in Rust.", "The team ported the planner from Rust to Perl."),
    ("The library has 3,000 books.", "The club meets in the attic instead of the library."),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_what_a_sentence_names_as_gone_seems_replaced(before: str, after: str) -> None:
    assert compare(said(after), said(before), 0.7).replaces


@pytest.mark.parametrize(("before", "after"), APART)
def test_what_else_is_said_of_it_stays(before: str, after: str) -> None:
    assert not compare(said(after), said(before), 0.5).replaces


def test_a_number_that_is_gone_may_have_been_of_anything() -> None:
    after = said("The limit went from 50 to 80 requests a minute.")
    assert not compare(after, said("The limit of uploads is 50 MB."), 0.5).replaces
    assert compare(after, said("The limit is 50 requests a minute."), 0.9).why == HANDED_OVER


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The importer runs every six hours.", "The importer is now run by Priya."),
        ("We upgraded to Postgres 16.", "We upgraded to Node 22."),
        ("Marta lives in Bonn.", "Jonas lives in Bonn now."),
    ],
)
def test_another_matter_of_the_same_words_stays(before: str, after: str) -> None:
    assert not compare(said(after), said(before), 0.5).replaces


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ben: We run Postgres 14 in production.", "Ben: We upgraded to Postgres 16."),
        ("Marta does the translations.", "Jonas does the translations from now on."),
        ("The budget for Lantern is 800 euros.", "The board cut the Lantern budget to 500 euros."),
    ],
)
def test_a_change_in_other_words_seems_to_replace(before: str, after: str) -> None:
    assert compare(said(after), said(before), 0.75).replaces


@pytest.mark.anyio
async def test_a_handover_in_a_conversation_is_kept_by_itself() -> None:
    turns = [
        Turn("Dan", "Priya took over the newsletter from Ben."),
        Turn("Ben", "I handed the minutes over to Priya."),
        Turn("Eve", "If Priya took over the newsletter from Ben, I would read it."),
    ]
    assert [each.turn for each in await RuleExtractor()(turns)] == [0, 1]
