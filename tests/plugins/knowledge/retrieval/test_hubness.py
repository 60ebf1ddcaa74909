"""No document is made to be first for everything, by its words, its names or its vectors."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.names import MAX_ALIASES
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio


async def first(base, question: str) -> str:
    found = await base.knowledge.search(question, SearchFilters(limit=3), Tier.MEMBERS)
    return found.results[0].id if found.results else ""


def made_up(seed: int, count: int) -> list[str]:
    """Words that mean nothing, all different."""
    chance, found = random.Random(seed), dict[str, None]()
    while len(found) < count:
        found["".join(chance.choices(string.ascii_lowercase, k=8))] = None
    return list(found)


def apart(seed: int) -> list[str]:
    """Forty such words, each of which has a dimension of its own in ``WordEmbedder``."""
    return list({sum(word.encode()): word for word in made_up(seed, 200)}.values())[:40]


@pytest.fixture(params=["by words", "by meaning"])
async def plain_base(request, open_base):
    """A base without a model, and one whose vectors tell words apart."""
    model = WordEmbedder(dimensions=1024) if request.param == "by meaning" else None
    return await open_base(embedder=model)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(seed=st.integers(0, 10**6), times=st.integers(1, 6))
async def test_a_document_with_every_word_is_behind_the_one_that_answers(
    plain_base, make, seed, times
) -> None:
    """Its vectors are the mean of all others; title, headings, tags and text say everything."""
    words = apart(seed)
    topics = [words[at : at + 4] for at in range(0, 40, 4)]
    answers = [
        make(f"practice/p{at}", f"The {' and the '.join(topic)} of it.", title=topic[0])
        for at, topic in enumerate(topics)
    ]
    everything = " ".join(words)
    passages = [f"## {everything}\n\n{everything}."] * times
    said = {"title": everything, "description": everything, "tags": words, "aliases": [everything]}
    await plain_base.put(*answers, make("practice/hub", "\n\n".join(passages), **said))
    for at, topic in enumerate(topics):
        asked = f"What about {topic[1]} and {topic[2]} or {topic[3]}?"
        assert await first(plain_base, asked) == f"p{at}"
        assert await first(plain_base, topic[0]) == f"p{at}"


async def test_a_document_that_is_called_everything_is_called_few_of_it(base, make) -> None:
    asked = [f"where do we keep the {word}" for word in made_up(1, MAX_ALIASES + 10)]
    answers = [make(f"practice/p{at}", f"{each}: here.") for at, each in enumerate(asked)]
    await base.put(*answers, make("practice/hub", "Nothing.", aliases=asked))
    hub = [at for at, each in enumerate(asked) if await first(base, each) == "hub"]
    assert hub == list(range(MAX_ALIASES))


async def test_a_document_that_goes_by_every_number_goes_by_few_of_them(base, make) -> None:
    numbers = [f"EIP-{n}" for n in range(MAX_ALIASES + 30)]
    hub = make("file/hub", "Buy.", title=f"Hub {' '.join(f'1.{n}' for n in range(99))}")
    await base.put(hub, *[make(f"file/{each}", f"What {each} says.") for each in numbers])
    await base.put(make("file/all", "Buy.", title="EIP-0", aliases=numbers))
    named = base.knowledge.names.numbered
    assert (
        sum(one.id == "all" for each in numbers for one in named(each, Tier.MEMBERS)) <= MAX_ALIASES
    )
    assert sum(bool(named(f"1.{n}", Tier.MEMBERS)) for n in range(99)) <= MAX_ALIASES


async def test_a_term_with_every_name_adds_few_of_them_to_a_question(base, make) -> None:
    names = made_up(2, 500)
    await base.put(make("tag/hub", "Nothing.", aliases=names))
    assert len(base.knowledge.names.other_names(names[0], Tier.MEMBERS)) <= MAX_ALIASES + 2
