"""Options, functions and error codes are found where they are described."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Tier
from plugins.knowledge.retrieval.code_names import MAX_NAMES, CodeName, Place, code_names
from plugins.knowledge.retrieval.filters import SearchFilters
from tests.plugins.knowledge.retrieval.conftest import Base

OPEN = SearchFilters()
CLI = """\
## Options

### `--bail`

Stops at the first failure.

### `--frozen-lockfile`, `-f`

Writes no file.

### `--color`

Paints what is printed.
"""


def named(question: str) -> list[str]:
    return [one.written for one in code_names(question)]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what does --frozen-lockfile do?", ["--frozen-lockfile"]),
        ("Is jest.mock() hoisted?", ["jest.mock"]),
        ("Which is right: storeDir or NODE_ENV?", ["storeDir", "NODE_ENV"]),
        ("What is .toBe, and what is @scope/name?", [".toBe", "@scope/name"]),
        ("error TS2304 (see E501)", ["TS2304", "E501"]),
        ("what does `bail` do", ["bail"]),
        ("how do I install with -D?", ["-D"]),
        ("bail=`--bail=<n>`", ["--bail"]),
        ("what does the bail option do?", ["bail"]),
        ("bail", ["bail"]),
        ("which environment variables are there beside NODE_ENV", ["NODE_ENV", "environment"]),
    ],
)
def test_what_is_written_as_code_is_a_name(question: str, names: list[str]) -> None:
    assert named(question) == names


@pytest.mark.parametrize(
    "question",
    [
        "How do I install it, e.g. on Windows? I.e. version 3.12...",
        "Well-known self-hosted servers - which are free?",
        "https://example.org/a/b and me@example.org",
        "Was ist eine Genossenschaft? 決定は何ですか",
        "RFC 7519, 2024-05-01, A4 and 10%",
        "which option prints it, and how do I set an option?",
        "Governance",
    ],
)
def test_ordinary_words_are_no_names(question: str) -> None:
    assert named(question) == []


@pytest.mark.parametrize(
    ("asked", "heading", "place"),
    [
        ("--bail", "--bail", Place.AS_ASKED),
        ("--bail", "--bail=<n>", Place.AS_ASKED),
        ("--bail", "bail [number | boolean]", Place.NOWHERE),
        ("`bail`", "bail [number | boolean]", Place.AS_ASKED),
        ("-P", "--prod, -P", Place.AS_ASKED),
        ("-p", "--prod, -P", Place.NOWHERE),
        ("--store-dir", "storeDir", Place.OWN_HEADING),
        ("storeDir", "--store-dir <path>", Place.OWN_HEADING),
        ("--save", "--save-dev", Place.NOWHERE),
        ("--color", "--no-color", Place.NOWHERE),
        ("expect.any", "expect.anything()", Place.NOWHERE),
        ("test.only", "test.only.each(table)(name, fn)", Place.NOWHERE),
        ("useFakeTimers", "jest.useFakeTimers(implementation?)", Place.HEADING),
        ("ERR_NO_STORE", "What ERR_NO_STORE means", Place.HEADING),
        ("the bail option", "bail [number | boolean]", Place.AS_ASKED),
        ("the bail flag", "--bail=<n>", Place.OWN_HEADING),
        ("the bail flag", "Bail", Place.NOWHERE),
        ("the bail flag", "clearBail", Place.NOWHERE),
    ],
)
def test_a_heading_is_a_name_has_it_or_has_another(asked: str, heading: str, place: Place) -> None:
    (name,) = code_names(asked)
    assert name.in_heading(heading) == place


async def test_an_option_finds_the_page_and_the_section_that_describe_it(
    open_base: Callable[..., Any], word_embedder: Callable[..., Any], make: Callable[..., Any]
) -> None:
    base = await open_base(embedder=word_embedder())
    await base.put(
        make("file/cli", CLI),
        make("file/tour", "One can use --bail here, and --frozen-lockfile and --color there."),
    )
    for question in ("how do I set --bail", "`--bail`", "frozenLockfile", "the color option"):
        first, *_ = (await base.knowledge.search(question, OPEN, Tier.OPEN)).results
        assert first.id == "cli", question
        assert first.section is not None
        (name,) = code_names(question)
        assert name.in_heading(first.section[-1])


async def test_a_page_that_is_called_by_a_name_describes_it(
    base: Base, make: Callable[..., Any]
) -> None:
    await base.put(
        make("file/one", "It trims a text.", title="strings.TrimLeft"),
        make("file/two", "What strings.TrimLeft does is told elsewhere. strings.TrimLeft!"),
    )
    found = (await base.knowledge.search("what is strings.TrimLeft for", OPEN, Tier.OPEN)).results
    assert found[0].id == "one"


def test_a_plain_word_is_a_name_in_a_heading_of_its_own_alone() -> None:
    (name,) = code_names("the bail option")
    assert name.place(["Options", "bail"], "Stops.") == Place.AS_ASKED
    assert name.place(["How to bail out"], "They bail.") == Place.NOWHERE


async def test_what_is_nowhere_is_not_found_by_its_form(
    base: Base, make: Callable[..., Any]
) -> None:
    await base.put(make("file/cli", CLI))
    assert not (await base.knowledge.search("--autopilot", OPEN, Tier.OPEN)).results


@given(st.text(max_size=600))
def test_any_question_has_a_few_names_that_find_themselves(question: str) -> None:
    names = code_names(question)
    assert len(names) <= MAX_NAMES
    for one in names:
        assert isinstance(one, CodeName)
        assert one.pattern.search(one.written)


def test_hostile_text_is_read_in_no_time() -> None:
    began = time.process_time()
    for sign in ("a.", "-", "_a", "aB", "(", "<", "`", "[a", "a-", "--a", "@a/"):
        for one in code_names(sign * 400):
            one.in_heading(sign * 20_000)
            one.place([], sign * 20_000)
    assert time.process_time() - began < 2
