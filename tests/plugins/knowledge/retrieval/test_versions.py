"""Of a page that comes in several versions one answers: the one asked for, or the newest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.versions import PRESENT, Version, version_of, versions_named
from tests.plugins.knowledge.retrieval.conftest import Base
from tests.plugins.knowledge.retrieval.entries import at

OPEN = SearchFilters()
SETUP = "The lighthouse is lit at dusk by its keeper."


@pytest.mark.parametrize(
    ("path", "page", "written", "numbers"),
    [
        ("docs/v3.5/op/setup.md", "docs/op/setup.md", "v3.5", (3, 5)),
        ("docs/3.5.1/setup.md", "docs/setup.md", "3.5.1", (3, 5, 1)),
        ("docs/version-26.x/setup.md", "docs/setup.md", "version-26.x", (26,)),
        ("api/v1/users.md", "api/users.md", "v1", (1,)),
        ("docs/v2.0-beta1/setup.md", "docs/setup.md", "v2.0-beta1", (2, 0)),
        ("website/versioned_docs/version-27.0/cli.md", "docs/cli.md", "27.0", (27, 0)),
        ("website/docs/cli.md", "docs/cli.md", PRESENT, ()),
        ("docs/cli.md", "docs/cli.md", PRESENT, ()),
        ("minutes/2024/05.md", "minutes/2024/05.md", PRESENT, ()),
        ("minutes/2024.05/cell.md", "minutes/2024.05/cell.md", PRESENT, ()),
        ("book/01/begin.md", "book/01/begin.md", PRESENT, ()),
        ("vienna/setup.md", "vienna/setup.md", PRESENT, ()),
    ],
)
def test_a_version_is_told_by_its_folder(
    path: str, page: str, written: str, numbers: tuple[int, ...]
) -> None:
    found = version_of(at(path))
    assert (found.page, found.written, found.numbers) == (page, written, numbers)


def test_what_names_a_version_in_its_title_is_a_page_of_its_own() -> None:
    one, other = (version_of(at(f"releases/v{n}/notes.md", f"Release {n}")) for n in ("1.2", "1.3"))
    assert one.page != other.page
    assert not one.family


def test_the_present_version_is_the_newest_and_a_beta_older_than_its_release() -> None:
    versions = [
        Version("a", numbers=(3, 10)),
        Version("a"),
        Version("a", numbers=(3, 10), is_released=False),
        Version("a", numbers=(3, 9)),
    ]
    ordered = sorted(versions, key=lambda one: one.order, reverse=True)
    assert ordered == [versions[1], versions[0], versions[2], versions[3]]


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("how do I set it up in 3.4?", {(3, 4)}),
        ("v2: what is new", {(2,)}),
        ("does it work with jest 26?", {(26,)}),
        ("Jest 26 timers", {(26,)}),
        ("version 26.x timers", {(26,)}),
        ("from 3.4 to 3.5", {(3, 4), (3, 5)}),
        ("what are the 12 principles of it", set()),
        ("minutes of 2024-05-01, 10/12", set()),
        ("10.000", {(10, 0)}),
    ],
)
def test_a_question_names_versions(question: str, numbers: set[tuple[int, ...]]) -> None:
    assert versions_named(question) == numbers


async def versions(base: Base, make: Callable[..., Any], *folders: str, text: str = SETUP) -> None:
    for one in folders:
        await base.put(make(f"file/{one}.setup", text, title="Setup", path=f"docs/{one}/setup.md"))


async def test_one_version_of_a_page_answers_and_names_the_others(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v3.9", "v3.10", "v3.8")
    await base.put(make("file/keeper", "The keeper of the lighthouse."))
    found = (await base.knowledge.search("who lights the lighthouse", OPEN, Tier.OPEN)).results
    assert sorted(one.id for one in found) == ["keeper", "v3.10.setup"]
    (setup,) = (one for one in found if one.version)
    assert (setup.version, setup.other_versions) == ("v3.10", ["v3.9", "v3.8"])


async def test_the_version_that_a_question_names_answers(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v3.9", "v3.10", "v3.8")
    for asked, version in (("3.8", "v3.8"), ("v3.9", "v3.9"), ("3", "v3.10"), ("3.7", "v3.10")):
        question = f"the lighthouse is lit by its keeper in {asked}"
        (found,) = (await base.knowledge.search(question, OPEN, Tier.OPEN)).results
        assert found.version == version, asked


async def test_what_the_newest_version_says_no_more_is_answered_by_one_that_does(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v3.9")
    await versions(base, make, "v3.10", text="The tower has a lamp that minds itself.")
    found = (await base.knowledge.search("the keeper of the lighthouse", OPEN, Tier.OPEN)).results
    assert [one.version for one in found] == ["v3.9"]


async def test_a_page_that_the_newest_version_has_no_more_comes_after_one_that_it_has(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v1.0", "v1.1", "v1.2")
    old = make("file/v1.0.lamp", "The lighthouse.", title="Lamp", path="docs/v1.0/lamp.md")
    new = make("file/v1.2.beam", "The lighthouse.", title="Beam", path="docs/v1.2/beam.md")
    await base.put(old, new)
    for question, first in (("lighthouse", "v1.2.beam"), ("lighthouse 1.0", "v1.0.lamp")):
        found = (await base.knowledge.search(question, OPEN, Tier.OPEN)).results
        ranked = [one.id for one in found if one.id in ("v1.2.beam", "v1.0.lamp")]
        assert ranked[0] == first, question


async def test_a_version_above_the_callers_tier_is_not_told_of(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v1.0")
    await base.put(
        make("file/v2.0.setup", SETUP, title="Setup", path="docs/v2.0/setup.md", tier=Tier.MEMBERS)
    )
    (found,) = (await base.knowledge.search("lighthouse keeper", OPEN, Tier.OPEN)).results
    assert (found.id, found.version, found.other_versions) == ("v1.0.setup", None, None)
    await base.remove("file/v2.0.setup")
    (alone,) = (await base.knowledge.search("lighthouse keeper", OPEN, Tier.OPEN)).results
    assert found.score == alone.score


async def test_a_version_that_has_a_name_and_no_number_is_one(
    base: Base, make: Callable[..., Any]
) -> None:
    for id, path in (("setup", "docs"), ("stable.setup", "versioned_docs/version-stable")):
        await base.put(make(f"file/{id}", SETUP, title="Setup", path=f"{path}/setup.md"))
    (found,) = (await base.knowledge.search("lighthouse keeper", OPEN, Tier.OPEN)).results
    assert {found.version, *(found.other_versions or ())} == {"current", "stable"}


async def test_a_base_whose_first_version_comes_late_knows_the_page_that_was_there(
    base: Base, make: Callable[..., Any]
) -> None:
    await base.put(make("file/setup", SETUP, title="Setup", path="docs/setup.md"))
    (found,) = (await base.knowledge.search("lighthouse keeper", OPEN, Tier.OPEN)).results
    assert found.version is None
    await versions(base, make, "v1.0")
    (found,) = (await base.knowledge.search("lighthouse keeper", OPEN, Tier.OPEN)).results
    assert (found.version, found.other_versions) == ("current", ["v1.0"])


async def test_what_matches_is_counted_once_for_all_versions(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v1.0", "v1.1", "v1.2")
    found = await base.knowledge.search("lighthouse keeper", OPEN, Tier.OPEN, facets=True)
    assert found.matching == len(found.results) == 1


async def test_a_version_that_is_taken_away_is_none_any_more(
    base: Base, make: Callable[..., Any]
) -> None:
    await versions(base, make, "v1.0", "v1.1")
    assert (await base.knowledge.search("lighthouse", OPEN, Tier.OPEN)).results[0].version
    await base.remove("file/v1.1.setup")
    (found,) = (await base.knowledge.search("lighthouse", OPEN, Tier.OPEN)).results
    assert (found.id, found.version) == ("v1.0.setup", None)


def test_hostile_questions_are_read_in_no_time() -> None:
    began = time.process_time()
    for sign in ("1.", "v1", "v ", "version ", "in 1 ", ".x", "1.x."):
        versions_named(sign * 100_000)
    assert time.process_time() - began < 1
