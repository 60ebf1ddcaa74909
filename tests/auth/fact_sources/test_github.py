import time
from collections.abc import Iterator

import pytest

from auth.fact_sources.github import MAX_CONCURRENT_REQUESTS, GithubSource
from auth.facts import Question, SourceUnavailable
from tests.servers.github import Github, Org

TOKEN = "example-portal-token"


@pytest.fixture
def github() -> Iterator[Github]:
    with Github() as github:
        yield github


def org(number: int | str, name: str = "garden") -> Question:
    return Question("github", ("org", name, str(number)))


def team(number: int | str, name: str = "core") -> Question:
    return Question("github", ("team", "garden", name, str(number)))


@pytest.fixture
def people(github: Github) -> tuple[int, int, int]:
    """Ana shows her membership, Ben does not, Cat is no member; all in the team, in some state."""
    github.tokens[TOKEN] = True
    ana, ben, cat = (github.add(login) for login in ("ana", "ben", "cat"))
    github.orgs["garden"] = Org(
        {ana, ben}, {ana}, {"core": {ana: "active", ben: "pending"}, "Web team": {cat: "active"}}
    )
    return ana, ben, cat


async def test_members_are_known_with_the_portals_token(github, people):
    ana, ben, cat = people
    found = await GithubSource(github.api_url, TOKEN).answers([org(each) for each in people])
    assert found == {org(ana): True, org(ben): True, org(cat): False}


async def test_without_a_token_only_public_membership_is_known(github, people):
    ana, ben, cat = people
    found = await GithubSource(github.api_url).answers([org(each) for each in people])
    assert found == {org(ana): True, org(ben): False, org(cat): False}


async def test_a_token_of_an_outsider_sees_public_membership(github, people):
    ana, ben, _ = people
    github.tokens[TOKEN] = False
    found = await GithubSource(github.api_url, TOKEN).answers([org(ana), org(ben)])
    assert found == {org(ana): True, org(ben): False}


async def test_only_an_active_membership_of_a_team_counts(github, people):
    ana, ben, cat = people
    asked = [team(ana), team(ben), team(cat), team(cat, "Web team"), team(ana, "none")]
    found = await GithubSource(github.api_url, TOKEN).answers(asked)
    assert found == {
        team(ana): True,
        team(ben): False,
        team(cat): False,
        team(cat, "Web team"): True,
        team(ana, "none"): False,
    }


async def test_teams_stay_unknown_without_a_token(github, people):
    ana = people[0]
    source = GithubSource(github.api_url)
    assert await source.answers([team(ana), org(ana)]) == {org(ana): True}
    with pytest.raises(SourceUnavailable, match=r"sign_in\.github\.token"):
        await source.answers([team(ana)])


async def test_a_name_that_somebody_gave_up_says_nothing_about_who_took_it(github, people):
    ana, _, cat = people
    github.rename(ana, "anna")
    github.rename(cat, "ana")
    for token in (TOKEN, None):
        found = await GithubSource(github.api_url, token).answers([org(ana), org(cat)])
        assert found == {org(ana): True, org(cat): False}


@pytest.mark.parametrize("account", ["99999", "ana", "", "1/../2", "٣"])
async def test_an_account_that_is_no_more_belongs_nowhere(github, people, account):
    found = await GithubSource(github.api_url, TOKEN).answers([org(account)])
    assert found == {org(account): False}


async def test_each_account_is_looked_up_once_in_a_batch(github, people):
    ana = people[0]
    await GithubSource(github.api_url, TOKEN).answers([org(ana), team(ana), org(ana, "other")])
    assert github.asked[f"/user/{ana}"] == 1


async def test_few_questions_are_open_at_a_time(github):
    github.delay = 0.01
    numbers = [github.add(f"user{number}") for number in range(40)]
    found = await GithubSource(github.api_url).answers([org(each) for each in numbers])
    assert set(found.values()) == {False}
    assert github.most_at_once <= MAX_CONCURRENT_REQUESTS


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after": "90"}, 90),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000000120"}, 120),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000999999"}, 3600),
    ],
)
async def test_github_is_left_alone_for_as_long_as_it_asks(github, people, headers, pause):
    ana = people[0]
    now = [2_000_000_000.0]
    source = GithubSource(github.api_url, TOKEN, clock=lambda: now[0])
    github.limited = headers
    until = time.strftime("%H:%M:%S", time.gmtime(now[0] + pause))
    for _ in range(2):
        with pytest.raises(SourceUnavailable, match=f"no more questions until {until} UTC"):
            await source.answers([org(ana)])
    assert github.asked[f"/user/{ana}"] == 1
    github.limited = None
    now[0] += pause
    assert await source.answers([org(ana)]) == {org(ana): True}


async def test_a_refused_token_is_the_admins_to_renew_and_is_not_repeated(github, people):
    with pytest.raises(SourceUnavailable, match="An admin must renew") as problem:
        await GithubSource(github.api_url, "another-token").answers([org(people[0])])
    assert "another-token" not in str(problem.value)


async def test_a_github_that_is_down_or_not_there_does_not_answer(github, people):
    ana = people[0]
    github.down = True
    with pytest.raises(SourceUnavailable, match="HTTP 503"):
        await GithubSource(github.api_url, TOKEN).answers([org(ana)])
    with pytest.raises(SourceUnavailable, match="does not answer"):
        await GithubSource("http://127.0.0.1:1", TOKEN).answers([org(ana)])


async def test_a_slow_github_leaves_the_question_unknown(github, people):
    github.delay = 30
    with pytest.raises(SourceUnavailable, match=r"does not answer|in time"):
        await GithubSource(github.api_url, TOKEN, seconds=0.2).answers([org(people[0])])
