from collections.abc import Iterator
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from auth.fact_sources.passport import PassportSource
from auth.facts import Question, SourceUnavailable
from tests.servers.passport import Passport

ANA = "0x52908400098527886E0F7030069857D2E4169EE7"
BEN = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"


@pytest.fixture
def passport() -> Iterator[Passport]:
    with Passport() as passport:
        yield passport


def source(passport: Passport, **change: Any) -> PassportSource:
    said: dict[str, Any] = {"url": passport.url, "scorer": passport.scorer, "key": passport.key}
    return PassportSource(**(said | change))


def score(address: str) -> Question:
    return Question("passport", ("score", address))


async def test_scores_are_read_whether_they_are_texts_or_numbers(passport):
    passport.scores = {ANA: "26.513000000", BEN: 12}
    found = await source(passport).answers([score(ANA), score(BEN)])
    assert found == {score(ANA): 26.513, score(BEN): 12.0}


async def test_a_wallet_that_is_not_known_there_has_no_score(passport):
    assert await source(passport).answers([score(ANA)]) == {score(ANA): 0.0}


async def test_one_that_is_unknown_leaves_the_others_known(passport):
    passport.scores = {ANA: "30", BEN: None}
    assert await source(passport).answers([score(ANA), score(BEN)]) == {score(ANA): 30.0}


@pytest.mark.parametrize("value", ["nan", "inf", "Infinity", "a lot", None, [], {}])
async def test_what_is_no_number_is_unknown(passport, value):
    passport.scores = {ANA: value}
    with pytest.raises(SourceUnavailable):
        await source(passport).answers([score(ANA)])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (JSONResponse({}, 500), "HTTP 500"),
        (JSONResponse({"detail": "too many"}, 429), "HTTP 429"),
        (Response("<html>"), "without a score"),
        (JSONResponse([]), "without a score"),
        (Response("", 302, {"location": "/elsewhere"}), "HTTP 302"),
    ],
)
async def test_an_endpoint_in_trouble_is_a_source_that_does_not_answer(passport, answer, said):
    passport.answer = answer
    with pytest.raises(SourceUnavailable, match=said):
        await source(passport).answers([score(ANA)])


async def test_a_refused_key_is_the_admins_to_renew_and_is_not_repeated(passport):
    with pytest.raises(SourceUnavailable, match="An admin must renew it") as problem:
        await source(passport, key="another-key").answers([score(ANA)])
    assert "another-key" not in str(problem.value)


async def test_an_endpoint_that_is_not_there_does_not_answer(passport):
    with pytest.raises(SourceUnavailable, match="does not answer"):
        await source(passport, url="http://127.0.0.1:1").answers([score(ANA)])


async def test_an_address_stays_within_its_part_of_the_path(passport):
    with pytest.raises(SourceUnavailable, match="HTTP 404"):
        await source(passport).answers([score("../../x?y")])
    assert await source(passport).answers([]) == {}
