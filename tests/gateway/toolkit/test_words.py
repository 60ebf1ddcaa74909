"""What is said the same way is the same term."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.toolkit.words import MAX_TERM_CHARACTERS, STOP_WORDS, stem, terms, unmarked, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Gardens' tools, and the garden's tool", ["garden", "tool", "garden", "tool"]),
        ("don\u2019t re-use snake_case", ["don't", "re", "use", "snake", "case"]),
        ("\ufb01nding \uff21\uff22", ["find", "ab"]),
        ("of the and", []),
        (
            "x" * MAX_TERM_CHARACTERS + " " + "y" * (MAX_TERM_CHARACTERS + 1),
            ["x" * MAX_TERM_CHARACTERS],
        ),
        ("2024 E-4711", ["2024", "e", "4711"]),
        ("", []),
    ],
)
def test_terms_are_stems_without_stop_words(text: str, found: list[str]) -> None:
    assert terms(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\u80b2\u5150\u4f11\u6687", ["\u80b2\u5150", "\u5150\u4f11", "\u4f11\u6687"]),
        ("DAO\u7d44\u7e54\u3002", ["dao", "\u7d44\u7e54"]),
        ("\u6c34", ["\u6c34"]),
        ("\u0e02\u0e2d\u0e25\u0e32", ["\u0e02\u0e2d", "\u0e2d\u0e25", "\u0e25\u0e32"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("\u0661\u0662", ["12"]),
    ],
)
def test_every_script_has_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe"),
        ("cafe\u0301", "caf\u00e9"),
        (
            "\u0645\u064f\u062f\u064e\u0631\u0651\u0650\u0633\u0629",
            "\u0645\u062f\u0631\u0633\u0629",
        ),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u202bpaypal\u202c", "paypal"),
        ("pay\u00adpal", "paypal"),
        ("p\u0430yp\u0430l", "paypal"),
    ],
)
def test_what_reads_the_same_is_the_same(one: str, other: str) -> None:
    assert words(one) == words(other)
    assert terms(one) == terms(other)


def test_a_word_inside_a_clause_without_spaces_is_found() -> None:
    clause = terms("\u793e\u54e1\u306f\u80b2\u5150\u4f11\u6687\u3092\u53d6\u308c\u307e\u3059")
    assert set(terms("\u80b2\u5150\u4f11\u6687")) <= set(clause)
    phrase = words("\u80b2\u5150\u4f11\u6687")
    assert " ".join(phrase) in " ".join(words("\u793e\u54e1\u306f\u80b2\u5150\u4f11\u6687\u3092"))


def test_a_language_has_its_own_endings() -> None:
    assert terms("permisos", language="es") == terms("permiso", language="es")
    assert terms("\u0434\u043e\u043c\u0430", language="ru") == terms(
        "\u0434\u043e\u043c", language="ru"
    )


def test_between_kana_a_single_character_is_a_word_and_in_chinese_it_is_none() -> None:
    table = "\u8868"
    assert table in terms("\u8868\u3092\u4f5c\u6210\u3059\u308b")
    assert table in terms("\u898b\u3084\u3059\u3044\u8868")
    assert terms(table) == [table]
    assert terms("\u4e66\u5199\u6c49\u5b57") == ["\u4e66\u5199", "\u5199\u6c49", "\u6c49\u5b57"]


def test_a_megabyte_without_a_space_is_cut_in_its_pairs() -> None:
    text = "\u6f22\u5b57\u304b\u306a" * 90_000
    assert len(terms(text)) == len(text) - 1


@given(st.text(max_size=200))
def test_no_text_breaks_the_words(text: str) -> None:
    assert all(terms(text, language=one) is not None for one in ("en", "ru"))
    assert words(text) == words(text.replace("\u200e", ""))


def test_stop_words_and_case_are_the_callers() -> None:
    assert terms("Tell me the STRASSE", frozenset({"tell"})) == ["me", "the", "strass"]
    assert words("Stra\u00dfe") == ["stra\u00dfe"]
    assert words("Stra\u00dfe", fold=str.casefold) == ["strasse"]


@given(st.text(max_size=200))
def test_words_do_not_depend_on_case_or_on_what_is_between(text: str) -> None:
    found = [word for word in words(text) if word.isascii()]
    assert words(" \n".join(found).upper()) == found


@given(st.lists(st.sampled_from(["plant", "planting", "the", "rows", "of"]), max_size=20))
def test_a_term_is_there_as_often_as_its_word(chosen: list[str]) -> None:
    found = terms(" ".join(chosen))
    assert found == [stem(word) for word in chosen if word not in STOP_WORDS]


@given(st.text())
@example("Die K\u00fcndigungs\u00adfristen, cle\u0301s, gr\u00f6\u00dfere")
@example("\u0439\u043e\u0433\u0430 \u0451\u0436 p\u0430ypal")
@example("\u062a\u064f\u0633\u0644\u0651\u064e\u0645 \u0661\u0662")
@example("\u0e43\u0e1a\u0e01\u0e33\u0e01\u0e31\u0e1a \ud55c\uad6d\uc5b4 don\u2019t \ufb01nd")
def test_a_text_holds_each_of_its_words_unmarked(text: str) -> None:
    assert [one for one in words(text) if unmarked(one) not in unmarked(text)] == []
