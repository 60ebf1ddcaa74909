from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.claims import claims
from plugins.knowledge.memory.algorithms.contradictions import (
    MIN_COSINE,
    SAME_PROPERTY,
    compare,
    contradiction,
)
from plugins.knowledge.memory.algorithms.vocabulary import DIMENSIONS
from plugins.knowledge.memory.model.entry import KnowledgeMetadata, KnowledgeSource, Layer
from plugins.knowledge.memory.model.policy import PRIVATE
from plugins.knowledge.memory.model.record import Record

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NEAR = 0.75
"""About the cosine of two sentences on one thing."""
CHANGES = [
    ("My favourite colour is teal.", "My favourite colour is now maroon."),
    ("Ana's phone number is 555 1234.", "Ana's phone number is 555 9876."),
    ("We use Slack for announcements.", "We switched from Slack to Matrix for announcements."),
    ("The budget for 2026 is 40,000 euros.", "The budget for 2026 was cut to 32,000 euros."),
    ("Ben drives a red Volvo.", "Ben sold the Volvo and drives an electric van."),
    (
        "The retreat is planned for Porto.",
        "The retreat will take place in Lisbon instead of Porto.",
    ),
    (
        "Carla is the chair of the assembly.",
        "Carla stepped down; Diego is the chair of the assembly.",
    ),
    ("The API limit is 100 requests a minute.", "The API limit is 600 requests a minute."),
    ("I am learning Spanish.", "I stopped learning Spanish and am learning Greek now."),
    ("Our release day is Friday.", "Our release day is Tuesday."),
    ("Tom is engaged to Julia.", "Tom and Julia broke up."),
    ("Deploys need two approvals.", "Deploys need one approval."),
    ("The office is closed on Mondays.", "The office is open on Mondays."),
    ("Paul's birthday party starts at 6 pm.", "Paul's birthday party starts at 7 pm."),
    ("Smoking on the terrace is permitted.", "Smoking on the terrace is no longer permitted."),
    ("Nadia eats meat.", "Nadia does not eat meat any more."),
    ("The wifi password is sunflower.", "The wifi password is marigold."),
    ("Backups are kept for 30 days.", "Backups are kept for 90 days."),
    ("The default branch is master.", "The default branch is main."),
    ("Elena wants to study law.", "Elena changed her mind and wants to study medicine."),
    ("The bus to the farm leaves at 8:15.", "The bus to the farm leaves at 8:40."),
    ("The vote closes on Sunday.", "The vote was extended and closes on Wednesday."),
    ("Hugo plays the violin.", "Hugo gave up the violin and plays the drums now."),
    ("The newsletter goes out weekly.", "The newsletter goes out monthly."),
    ("We store the keys in the kitchen drawer.", "The keys are now in the safe."),
    ("Rent is 650 euros a month.", "Rent went up to 720 euros a month."),
    ("Our quorum is 50 percent of members.", "Our quorum is 40 percent of members."),
    ("The capital fund holds 12,000 euros.", "The capital fund holds 9,500 euros."),
    ("The contract with Acme runs until June.", "The contract with Acme runs until December."),
    ("The choir meets in the church.", "The choir meets in the school."),
    ("My sister lives in Oslo.", "My sister moved to Trondheim."),
    ("Vera is allergic to cats.", "Vera is not allergic to cats."),
    ("The garden gate is green.", "The garden gate is blue."),
    ("The timeout of the proxy is 30 seconds.", "The timeout of the proxy is 2 minutes."),
    ("The ledger uses MongoDB.", "Correction: the ledger uses MariaDB, not MongoDB."),
    ("The shop closes at 6.", "The shop closes at 19:00."),
    ("The fee is 1,000 euros.", "The fee is 1200 euros."),
    ("The party is on 3 May 2026.", "The party is on May 4th."),
    ("The deadline is Friday.", "The deadline is not Friday any more but Monday."),
    ("The van holds 5 people.", "The van does not hold 5 people."),
    ("The van holds 5 people.", "The van holds no more than 8 people."),
    ("The rent is 900 euros.", "The rent is 950 euros, not including heating."),
    ("Also, the rent is 900 euros.", "Also, the rent is 950 euros."),
    ("Tickets cost 10 euros for adults.", "Tickets cost 12 euros for adults."),
    ("The pool is 25 metres long.", "The pool is 50 metres long."),
    ("The gate code changes in May.", "The gate code changes in June."),
    ("The gate code changes in June.", "The gate code changes in May, and that is all of it."),
    ("The garden is watered at six.", "The garden is watered at seven."),
    ("The gate is painted in June.", "The gate is painted in May."),
    ("Karim works at Siemens.", "Karim left Siemens and joined Bosch."),
]
ONE_VALUE = [
    ("The meeting is at 15:00.", "The meeting is at 3 pm."),
    ("The meeting is at 9:00.", "The meeting is at 9 a.m."),
    ("The shop closes at 6.", "The shop closes at 6 pm."),
    ("The shop opens at noon.", "The shop opens at 12."),
    ("The fee is 1000 euros.", "The fee is 1,000 euros."),
    ("The fee is nine hundred euros.", "The fee is 900 euros."),
    ("The discount is 50%.", "The discount is 50 percent."),
    ("The library opens at nine.", "The library opens at 9."),
    ("The party is on 3 May 2026.", "The party is on May 3rd."),
    ("The party is on 2026-05-03.", "The party is on 3 May 2026."),
]
NOT_THAT_VALUE = [
    ("The deadline is not Friday.", "The deadline is Thursday."),
    ("The red van does not hold 8 people.", "The red van holds 5 people."),
    ("The password rotation is not every 30 days.", "The password rotation is every 90 days."),
    ("The meeting is never on Mondays.", "The meeting is on Tuesdays."),
]
TOLD_APART = [
    ("Tickets cost 10 euros for adults.", "Tickets cost 5 euros for children."),
    ("The bus leaves at 8 on weekdays.", "The bus leaves at 10 on Sundays."),
    ("The pool is 25 metres long.", "The pool is 2 metres deep."),
    ("The choir meets on Monday.", "The choir meets on Thursday too."),
    ("The choir meets on Monday.", "The choir also meets on Thursday."),
]
ANNOUNCED = [
    ("The office moves to Berlin in May.", "The office is in Hamburg now."),
    ("The gate code changes in May.", "The gate code is 9876 now."),
    ("The gate code will be 1234 from June.", "The gate code is 9876 now."),
    ("The library will open at 8 from May on.", "The library opens at 9 now."),
    ("The shop closes next month.", "The shop is still open."),
    ("The office will move to Berlin.", "The office is currently in Hamburg."),
]
ANNOUNCED_ANEW = [
    ("The workshop will be on Tuesday.", "The workshop is on Monday now."),
    ("The meeting will start at 9.", "The meeting starts at 10 now."),
    ("The shop closes in May.", "The shop closes in June now."),
    ("The office moves to Berlin in May.", "The office moves to Hamburg in May instead."),
    ("The party will be in the garden.", "The party was moved to the hall now."),
]
OF_ONESELF = [
    ("I live in Porto.", "I live in Lisbon now."),
    ("I work at Siemens.", "I work at Bosch now."),
    ("I prefer tea.", "I prefer coffee now."),
    ("I am vegetarian.", "I am not vegetarian any more."),
    ("I don't like cilantro.", "I like cilantro now."),
    ("I get up at 6.", "I get up at 7 now."),
    ("I prefer tea to coffee.", "I prefer coffee to tea now."),
    ("I drive a Volvo.", "I drive a Fiat."),
]
OF_ONESELF_APART = [
    ("I like tea.", "I like hiking."),
    ("I live in Porto.", "I work in Lisbon now."),
    ("I work at Siemens.", "I work on Mondays now."),
    ("I have two cats.", "I have three brothers."),
    ("I met Ana in May.", "I met Ben in June."),
    ("I am vegetarian.", "I am allergic to nuts."),
    ("I prefer tea to coffee.", "I prefer coffee to milk."),
]
BOTH_HOLD = [
    ("My favourite colour is teal.", "My favourite season is autumn."),
    ("Ana's phone number is 555 1234.", "Ana's address is 12 Mill Road."),
    ("The budget for 2026 is 40,000 euros.", "The budget for 2025 was 35,000 euros."),
    ("Ben drives a red Volvo.", "Ben rides a bike on Sundays."),
    ("The retreat is planned for Porto.", "The retreat has room for 20 people."),
    ("Carla is the chair of the assembly.", "Carla is the mother of two girls."),
    ("The API limit is 100 requests a minute.", "The API key is kept in the vault."),
    ("I am learning Spanish.", "I am learning to swim."),
    ("Tom is engaged to Julia.", "Tom works with Julia."),
    ("Deploys need two approvals.", "Budget changes need three approvals."),
    ("The office is closed on Mondays.", "The shop is open on Mondays."),
    ("Paul's birthday party starts at 6 pm.", "Paul's birthday party ends at 11 pm."),
    ("The project is called Heron.", "The project is written in Go."),
    ("Nadia eats meat.", "Nadia's brother does not eat meat."),
    ("The wifi password is sunflower.", "The router password is marigold."),
    ("Backups are kept for 30 days.", "Logs are kept for 90 days."),
    ("Dr. Mira Sol is my dentist.", "Dr. Ivo Berg is my eye doctor."),
    ("The bus to the farm leaves at 8:15.", "The bus to the lake leaves at 8:40."),
    ("The bus to the farm leaves at 8:15.", "The bus from the farm leaves at 17:40."),
    ("Hugo plays the violin.", "Hugo's sister plays the drums."),
    ("The newsletter goes out weekly.", "The report goes out monthly."),
    ("Rent is 650 euros a month.", "Heating is 90 euros a month."),
    ("I saw two herons on the lake.", "I saw three swans on the lake."),
    ("On 3 May we planted 20 tomatoes.", "On 10 May we planted 30 beans."),
    ("We met the mayor in April.", "We met the architect in June."),
    ("Python 3.12 is required.", "Node 20 is required."),
    ("The choir meets in the church.", "The choir sings in Latin."),
    ("Feedback goes to Rosa.", "Invoices go to Mehmet."),
    ("My sister lives in Oslo.", "My brother lives in Bergen."),
    ("Vera is allergic to cats.", "Vera is not afraid of dogs."),
    ("The garden gate is green.", "The garden bench is blue."),
    ("Lea likes jazz.", "Lea likes hiking."),
    ("The first meeting is on Monday.", "The second meeting is on Wednesday."),
    ("The north gate opens at 8 am.", "The south gate opens at 9 am."),
    ("Version 1 supports SQLite.", "Version 2 supports PostgreSQL."),
    ("In summer the cafe closes at 10 pm.", "In winter the cafe closes at 6 pm."),
    ("Children pay 5 euros.", "Adults pay 12 euros."),
    ("Jo watered the beds on Monday.", "Jo watered the beds on Thursday."),
    ("The gate is painted in May.", "The gate is oiled in June."),
    ("The beds are watered at six.", "The lawns are watered at seven."),
    ("Changes need three approvals.", "Changes are announced on Monday."),
    ("Mina painted the fence white.", "Mina painted the door red."),
    ("Each guest may bring three friends.", "Each guest may bring five bottles."),
    ("The limit is ten parcels for each member.", "The limit is four plots for each member."),
    ("The printer of our flyers is Offset North.", "We buy our stamps from Offset North now."),
    ("Theo's favourite dish is fried rice.", "Theo's favourite cake is apple cake."),
    (
        "We decided to buy the red tractor for 12,000 euros.",
        "The tractor was sold for 9,000 euros.",
    ),
    ("The tractor was sold for 9,000 euros.", "The tractor we bought cost 11,500 euros."),
    ("Petra is 34.", "Petra's brother is 36."),
    ("Deployed version 2.5 of the app to staging.", "Staging is at stage2.example.org now."),
    ("The upload page accepts at most 100 MB.", "The upload page allows 20 requests a second."),
]
UNITS = sorted(DIMENSIONS)


def said(content: str, owner: str = "person:ana") -> Record:
    return Record(
        "mem_1",
        Layer.SEMANTIC,
        owner,
        None,
        content,
        KnowledgeMetadata(),
        KnowledgeSource(),
        PRIVATE,
        NOW,
        NOW,
        NOW,
    )


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_another_value_of_the_same_thing_seems_to_replace_it(before: str, after: str) -> None:
    found = compare(said(after), said(before), NEAR)
    assert found.replaces
    assert found.why


@pytest.mark.parametrize(("before", "after"), BOTH_HOLD)
def test_what_is_said_of_something_else_replaces_nothing(before: str, after: str) -> None:
    assert not compare(said(after), said(before), NEAR).replaces


@pytest.mark.parametrize(("before", "after"), [*ONE_VALUE, *NOT_THAT_VALUE, *TOLD_APART])
@pytest.mark.parametrize("cosine", [0.6, NEAR, 0.95])
def test_one_value_in_two_forms_and_values_that_both_hold_replace_nothing(
    before: str, after: str, cosine: float
) -> None:
    assert not compare(said(after), said(before), cosine).replaces
    assert not compare(said(before), said(after), cosine).replaces


@pytest.mark.parametrize(("before", "after"), ANNOUNCED)
@pytest.mark.parametrize("cosine", [0.6, NEAR, 0.95])
def test_what_is_announced_is_not_replaced_by_how_it_is_now(
    before: str, after: str, cosine: float
) -> None:
    found = compare(said(after), said(before), cosine)
    assert not found.replaces
    assert not found.one_thing


@pytest.mark.parametrize(("before", "after"), ANNOUNCED_ANEW)
def test_another_time_or_place_replaces_what_was_announced(before: str, after: str) -> None:
    assert compare(said(after), said(before), 0.8).replaces


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ana Meyer prefers coffee.", "Ana prefers mate now."),
        ("Ana lives in Porto.", "Ana Meyer lives in Lisbon."),
        ("Ana Meyer's phone number is 12.", "Ana's phone number is 13."),
    ],
)
def test_a_first_name_alone_is_not_sure_to_be_somebody_of_two_names(
    before: str, after: str
) -> None:
    assert not compare(said(after), said(before), 0.95).replaces
    assert not compare(said(before), said(after), 0.95).replaces


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ana Meyer lives in Porto.", "Ana Meyer lives in Lisbon."),
        ("Server Alpha has 16 GB.", "The server has 32 GB."),
        ("Mr Tan lives in Porto.", "Tan lives in Lisbon."),
        ("The Heron project uses Go.", "The Heron project uses Rust."),
    ],
)
def test_what_is_named_in_full_twice_or_is_no_first_name_is_one(before: str, after: str) -> None:
    assert compare(said(after), said(before), NEAR).replaces


def test_what_is_far_in_meaning_replaces_nothing() -> None:
    new, old = said("The gate code is 2."), said("The gate code is 1.")
    assert compare(new, old, NEAR).replaces
    assert not compare(new, old, MIN_COSINE - 0.01).replaces


def test_i_am_somebody_else_in_somebody_elses_entry() -> None:
    mine = said("My phone number is 2.")
    assert compare(mine, said("My phone number is 1."), NEAR).replaces
    assert not compare(mine, said("My phone number is 1.", "person:ben"), NEAR).replaces


def test_two_people_of_a_conversation_do_not_contradict_each_other() -> None:
    new, old = said("Ana: My landlord is Mr Tan now."), said("Ben: My landlord is Mrs Holm.")
    assert not compare(new, old, NEAR).replaces
    assert compare(new, said("Ana: My landlord is Mrs Holm."), NEAR).replaces


@pytest.mark.parametrize(("before", "after"), OF_ONESELF)
def test_what_a_speaker_says_of_themselves_replaces_what_they_said(before: str, after: str) -> None:
    (new,), (old,) = claims(after, "Lea"), claims(before, "Lea")
    assert contradiction(new, old, None)
    assert compare(said(f"Lea: {after}"), said(f"Lea: {before}"), NEAR).replaces


@pytest.mark.parametrize(("before", "after"), OF_ONESELF)
def test_what_another_speaker_says_of_themselves_replaces_nothing(before: str, after: str) -> None:
    (new,), (old,) = claims(after, "Tom"), claims(before, "Lea")
    assert not contradiction(new, old, None)
    assert not compare(said(f"Tom: {after}"), said(f"Lea: {before}"), NEAR).replaces


@pytest.mark.parametrize(("before", "after"), OF_ONESELF_APART)
def test_a_speaker_says_many_things_of_themselves(before: str, after: str) -> None:
    (new,), (old,) = claims(after, "Lea"), claims(before, "Lea")
    assert not contradiction(new, old, None)
    assert not compare(said(f"Lea: {after}"), said(f"Lea: {before}"), NEAR).replaces


def test_two_things_of_oneself_that_are_not_near_both_hold() -> None:
    new, old = said("Lea: I use the train now."), said("Lea: I use Vim.")
    assert not compare(new, old, SAME_PROPERTY - 0.01).replaces


def test_a_change_that_is_told_in_another_language_replaces_what_was_said() -> None:
    new, old = said("Ich wohne jetzt in Berlin."), said("Ich wohne in Hamburg.")
    assert compare(new, old, NEAR).why == "it says that something changed"
    assert not compare(old, new, NEAR).replaces
    assert not compare(new, said("Ich wohne in Hamburg.", "person:ben"), NEAR).replaces


@pytest.mark.parametrize(
    ("later", "one_thing"),
    [("会議は三階です。", True), ("私は東京に住んでいます。", False), ("Я живу в Москве.", False)],
)
def test_what_is_said_later_in_another_language_is_of_one_thing_by_its_words(
    later: str, one_thing: bool
) -> None:
    assert compare(said(later), said("会議は月曜日です。"), NEAR).one_thing is one_thing


def test_a_question_claims_nothing() -> None:
    assert claims("Is the gate code 4711?") == ()


@given(st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_a_quantity_is_replaced_in_any_unit_of_its_dimension_and_in_no_other(
    one: str, other: str
) -> None:
    new, old = (
        said(f"The limit of the lift is 70 {one}."),
        said(f"The limit of the lift is 4 {other}."),
    )
    assert compare(new, old, NEAR).replaces == (DIMENSIONS[one] == DIMENSIONS[other])


@pytest.mark.parametrize(
    ("later", "one_thing"),
    [("The style guide got Ebba.", True), ("The style guide has grown to 40 pages.", False)],
)
def test_a_value_of_another_kind_is_not_newer_of_one_thing(later: str, one_thing: bool) -> None:
    found = compare(said(later), said("The style guide is reviewed by Mina."), NEAR)
    assert not found.replaces
    assert found.one_thing is one_thing


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_does_not_replace_itself(text: str) -> None:
    assert not compare(said(text), said(text), 1.0).replaces


@given(st.text(alphabet="abc .:,!?'0123456789\n", max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert compare(said(one), said(other), None).cosine == 0.0


SENTENCES = sorted(
    {text for pair in (*CHANGES, *OF_ONESELF, *BOTH_HOLD, *ONE_VALUE) for text in pair}
)


@given(st.sampled_from(SENTENCES), st.sampled_from(SENTENCES), st.sampled_from([None, NEAR, 0.95]))
def test_what_has_no_word_in_common_contradicts_nothing(
    one: str, other: str, cosine: float | None
) -> None:
    for new in claims(one):
        for old in claims(other):
            if new.terms.isdisjoint(old.terms) and not (new.voice and old.voice):
                assert contradiction(new, old, cosine) == ""
