"""Words of every script are found, without a model, and hostile texts cost their length alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.passages import MAX_CHARACTERS, cut
from tests.plugins.knowledge.retrieval.conftest import Base

NOTES = {
    "ja": "社員は子どもが生まれると育児休暇を取れます。給料は出ません。",
    "zh": "团队每周开会讨论预算分配\uff0c会议记录公开。",
    "th": "\u0e1e\u0e19\u0e31\u0e01\u0e07\u0e32\u0e19\u0e02\u0e2d\u0e25\u0e32\u0e44\u0e14\u0e49",
    "ru": "Каждые выборы проходят в домах.",
    "es": "Los permisos de las personas se piden en la oficina de la cooperativa.",
    "he": "\u05d4\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd \u05d1\u05d0",
    "en": "Everybody eats lunch at noon in the garden.",
}


@pytest.fixture
async def worded(open_base: Callable[..., Any], make: Callable[..., Any]) -> Base:
    """A base without a model, with a note in each language."""
    base: Base = await open_base()
    await base.put(*(make(f"article/{one}", text, title=one) for one, text in NOTES.items()))
    return base


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("\u80b2\u5150\u4f11\u6687", "ja"),
        ("\u7d66\u6599", "ja"),
        ("\u9884\u7b97\u5206\u914d", "zh"),
        ("\u4f1a\u8bae\u8bb0\u5f55", "zh"),
        ("\u0e02\u0e2d\u0e25\u0e32", "th"),
        ("\u0434\u043e\u043c", "ru"),
        ("permiso", "es"),
        ("\u05d4\u05e9\u05dc\u05d5\u05dd", "he"),
        ("lunches", "en"),
    ],
)
async def test_words_alone_find_it(worded: Base, question: str, language: str) -> None:
    found = await worded.knowledge.search(question, SearchFilters(), Tier.OPEN)
    assert found.mode == "keyword"
    assert [one.id for one in found.results][:1] == [language]


async def test_a_document_says_in_which_language_it_is(
    base: Base, make: Callable[..., Any]
) -> None:
    await base.put(make("article/a", "Permisos.", lang="es"), make("article/b", "The house of it."))
    index = base.knowledge.index
    assert await index.languages(base.knowledge.store.version) == ("en", "es")
    assert [await index.documents_in(own) for own in (["es", "fr"], ["de"], ["en", "es"])] == [
        1,
        0,
        2,
    ]


@pytest.mark.parametrize(
    "text", ["\u6f22" * 1_000_000, "\u6f22\u5b57\u3002" * 300_000, "x" * 1_000_000]
)
def test_a_megabyte_without_a_space_is_cut_in_readable_passages(text: str) -> None:
    passages = cut(text)
    assert "".join(one.text for one in passages).replace("\n", "").replace(" ", "") == text
    assert max(len(one.text) for one in passages) <= MAX_CHARACTERS


async def test_a_megabyte_of_chinese_is_found_by_its_words(
    open_base: Callable[..., Any], make: Callable[..., Any]
) -> None:
    base: Base = await open_base()
    text = NOTES["zh"].replace("\u3002", "") * 18_000 + "\u80b2\u5150\u4f11\u6687"
    await base.put(make("article/long", text), make("article/short", NOTES["ru"]))
    assert len(text.encode()) > 1_000_000
    assert await found(base, "\u80b2\u5150\u4f11\u6687") == ["long"]


async def found(base: Base, question: str) -> list[str]:
    """What words alone find."""
    answer = await base.knowledge.search(question, SearchFilters(), Tier.OPEN)
    return [one.id for one in answer.results]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("\u7528Python\u5199\u7684\u95e8\u6237", "Python"),
        ("\u7528Python\u5199\u7684\u95e8\u6237", "\u95e8\u6237"),
        (
            "\u041f\u043e\u0440\u0442\u0430\u043b Porch \u043e\u0442\u043a\u0440\u044b\u0442",
            "porch",
        ),
        ("DAO\u306e\u4e88\u7b97", "\u4e88\u7b97"),
        (
            "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
            "\u0628\u0627\u0644\u0639\u0627\u0644\u0645",
        ),
        ("The \u202bmoney\u202c is here", "money"),
        ("The \u200fmoney\u200e is here", "\u200fmoney"),
    ],
)
async def test_scripts_that_stand_together_and_run_leftward_are_read(
    open_base: Callable[..., Any], make: Callable[..., Any], text: str, question: str
) -> None:
    base: Base = await open_base()
    await base.put(make("article/a", text, title="A"), make("article/b", NOTES["es"], title="B"))
    assert (await found(base, question))[:1] == ["a"]


async def test_a_word_is_what_it_looks_like_whatever_alphabet_it_is_written_in(
    open_base: Callable[..., Any], make: Callable[..., Any]
) -> None:
    """The first letter of the one is Cyrillic: it hides from nobody, and is no name of its own."""
    base: Base = await open_base()
    await base.put(
        make("article/alike", "Send it all.", title="\u0421ommon fund"),
        make("article/plain", "Kept by three.", title="Common fund"),
        make("article/other", "The \u0441\u043e\u043c is a fish.", title="Fish"),
    )
    assert set(await found(base, "Common fund")) == {"alike", "plain"}
    assert (await found(base, "\u0441\u043e\u043c"))[:1] == ["other"]


async def test_another_name_in_the_lexicon_is_sought_as_well(
    open_base: Callable[..., Any], make: Callable[..., Any]
) -> None:
    base: Base = await open_base()
    await base.put(
        make("tag/quorum", "", title="Quorum", aliases=["minimum attendance"]),
        make("protocol/votes", "A vote counts where the quorum is there.", title="Votes"),
        make("article/lunch", "Lunch is at noon.", title="Lunch"),
    )
    found = await base.knowledge.search("minimum attendance", SearchFilters(), Tier.OPEN)
    assert [one.id for one in found.results] == ["quorum", "votes"]


async def test_tags_and_headings_are_searched(
    open_base: Callable[..., Any], make: Callable[..., Any]
) -> None:
    base: Base = await open_base()
    await base.put(
        make("article/a", "## Beekeeping\n\nWe do it in May.", title="A", tags=["apiary"]),
        make("article/b", "We sing in May.", title="B"),
    )
    for question in ("apiary", "beekeeping"):
        found = await base.knowledge.search(question, SearchFilters(), Tier.OPEN)
        assert [one.id for one in found.results] == ["a"]
