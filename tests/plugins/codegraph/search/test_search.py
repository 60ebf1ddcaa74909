"""Code is found for what it does, by what it is called, and by what it is like."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.model import Entity, EntityKind
from plugins.codegraph.search.rank import by_words, content_words, rank
from plugins.codegraph.search.texts import HEAD, WORDS, texts_of
from tests.plugins.codegraph.portal import World, world

TREE = {
    "web/sessions.py": b'''class SessionMiddleware:
    """Keeps a session in a cookie."""

    def dispatch(self, request):
        """Handle one request.

        The cookie is signed here.
        """
        signer = make_signer(request)
        cookie = signer.sign(request.session)
        return cookie


def make_signer(request):
    return request.secret
''',
    "web/ranges.py": b'''def parse_range(header):
    """Parse the Range header of a download."""
    unit, _, spans = header.partition("=")
    return [span.split("-") for span in spans.split(",")]


def parse_spans(header):
    """Parse the spans of a header of a download."""
    unit, _, spans = header.partition("=")
    return [span.split("-") for span in spans.split(",")]
''',
    "tests/test_ranges.py": b"from web.ranges import parse_range\n\n\n"
    b"def test_parse_range_of_download_header():\n    parse_range('bytes=0-1')\n",
}


async def embedded(portal: World) -> None:
    owner = await portal.index("shop", TREE)
    await portal.parts.embedder.embed(owner.org, owner.repo)


async def test_a_purpose_finds_its_code_with_what_is_around_it(portal: World) -> None:
    await embedded(portal)
    answer = await portal.call("semantic_search", query="where is the session cookie signed")
    assert answer["meta"]["mode"] == "hybrid"
    found = {each["name"]: each for each in answer["data"]}
    assert next(iter(found)) in ("SessionMiddleware.dispatch", "SessionMiddleware")
    dispatch = found["SessionMiddleware.dispatch"]
    assert (dispatch["container"], dispatch["calleeCount"]) == ("SessionMiddleware", 1)
    assert dispatch["purpose"] == "Handle one request."


async def test_a_name_comes_first(portal: World) -> None:
    await embedded(portal)
    answer = await portal.call("semantic_search", query="make_signer")
    assert answer["data"][0]["name"] == "make_signer"


async def test_code_like_another_is_found_without_itself(portal: World) -> None:
    await embedded(portal)
    answer = await portal.call("find_similar", name="parse_range")
    names = [each["name"] for each in answer["data"]]
    assert names[0] == "parse_spans"
    assert "parse_range" not in names
    of_class = await portal.call("find_similar", name="SessionMiddleware")
    assert "SessionMiddleware.dispatch" not in [each["name"] for each in of_class["data"]]


async def test_code_is_found_by_its_words_before_it_is_embedded_and_the_answer_says_so(
    portal: World,
) -> None:
    await portal.index("shop", TREE)
    answer = await portal.call("semantic_search", query="range header")
    assert answer["data"][0]["name"] in ("parse_range", "parse_spans")
    assert "Not everything is embedded yet" in answer["meta"]["note"]


async def test_without_a_model_search_is_by_words_and_says_so(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("shop", TREE)
        answer = await portal.call("semantic_search", query="parse the range header")
        assert answer["meta"]["mode"] == "keyword"
        assert "no embedding model" in answer["meta"]["note"]
        assert answer["data"][0]["name"] == "parse_range"
        assert (await portal.refused("find_similar", name="parse_range")).code == "no_model"
        assert (await portal.call("get_project_stats"))["search"] == "keyword"


@pytest.mark.parametrize(
    ("query", "code"),
    [("", "invalid_query"), ("   ", "invalid_query"), ("x" * 2_001, "invalid_arguments")],
)
async def test_a_question_that_says_nothing_or_too_much_is_refused(
    portal: World, query: str, code: str
) -> None:
    await embedded(portal)
    assert (await portal.refused("semantic_search", query=query)).code == code


ENTITY = Entity(
    *(1, EntityKind.METHOD, "signCookie", "Session.signCookie", "web/sessions/__init__.py"),
    *("python", 1, 4),
    doc="Signs it.\n\nWith the key.",
)


def test_the_model_reads_what_it_is_called_says_and_is_made_of() -> None:
    doc = '    """Signs it.\n\n    With the key.\n    """\n'
    source = f"def signCookie(self):\n{doc}    return hmac_new(self.key)"
    texts = texts_of(ENTITY, source)
    assert texts.head == "sign cookie. session sessions. Signs it. With the key."
    assert texts.words == "def sign cookie self return hmac new key"


@given(st.text(max_size=3_000), st.text(max_size=300))
def test_texts_stay_short_whatever_the_code(source: str, doc: str) -> None:
    texts = texts_of(entity(doc=doc), source)
    assert len(texts.head) <= HEAD
    assert len(texts.words) <= WORDS
    texts.head.encode()
    assert texts.digest == texts_of(entity(doc=doc), source).digest


def entity(**fields: str) -> Entity:
    return msgspec.structs.replace(ENTITY, **fields)


def test_questions_are_told_by_their_telling_words() -> None:
    assert content_words("where is the session cookie signed?") == "session cookie signed?"
    assert content_words("what is this") == "what is this"


@given(
    st.dictionaries(st.integers(0, 20), st.floats(0, 1)),
    st.dictionaries(st.integers(0, 20), st.floats(0, 30)),
)
def test_every_candidate_is_ranked_once_and_best_first(
    similar: dict[int, float], words: dict[int, float]
) -> None:
    found = [msgspec.structs.replace(ENTITY, key=key) for key in {*similar, *words}]
    ranked = rank("sign the cookie", found, similar, words)
    assert sorted(each.entity.key for each in ranked) == sorted({*similar, *words})
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)


def test_of_what_has_the_same_words_a_test_comes_last_unless_tests_are_asked_for() -> None:
    plain = Entity(1, EntityKind.FUNCTION, "parse", "parse", "web.py", "python", 1, 2)
    test = msgspec.structs.replace(plain, key=2, path="a_test.py", test=True)
    found = [(test, 3.0), (plain, 3.0)]
    assert [each.entity for each in by_words("parse a range", found)] == [plain, test]
    assert [each.entity for each in by_words("tests of parse", found)] == [test, plain]
