"""Texts and arguments without their secrets."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.scrubbing.opaque import opaque
from gateway.scrubbing.rule_files import shipped
from gateway.scrubbing.scanner import MAX_FOUND
from gateway.scrubbing.scrubber import Scrubber
from tests.gateway.scrubbing.fakes import made
from tests.gateway.scrubbing.labelled import cases
from tests.gateway.scrubbing.more_fakes import MORE_FORMS

scrubber = Scrubber()
TOKEN = made("ghp_{alnum:36}", Random(1))
OTHER = made("glpat-{alnum:20}", Random(2))
PEM = made(MORE_FORMS["private-key"][0].replace("<<", "").replace(">>", ""), Random(3))
TEXTS = [case.text for case in cases()]

fragments = st.one_of(
    st.text(max_size=30),
    st.integers(0, len(TEXTS) - 1).map(lambda number: TEXTS[number]),
    st.sampled_from(
        [TOKEN, OTHER, PEM, "password = ", "'", '"', "\n", "\r\n", "=", ":", "@", "://"]
    ),
)
texts = st.lists(fragments, max_size=6).map("".join)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=20), inner, max_size=4)
    ),
    max_leaves=8,
)
arguments = st.dictionaries(st.text(max_size=20), values, max_size=4)


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [_shape(each) for each in value.values()]
    if isinstance(value, list):
        return [_shape(each) for each in value]
    return "text" if isinstance(value, str) else value


@given(texts)
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    cleaned, _ = scrubber.text(text)
    assert scrubber.text(cleaned) == (cleaned, [])


@given(texts)
def test_lines_stay_as_many_as_they_were(text: str) -> None:
    assert scrubber.text(text)[0].count("\n") == text.count("\n")


@given(texts)
def test_a_text_of_which_nothing_is_told_is_unchanged(text: str) -> None:
    cleaned, redactions = scrubber.text(text)
    assert (cleaned == text) == (not redactions)


@given(arguments)
def test_values_keep_their_shape_and_the_callers_own_are_not_touched(raw: dict[str, Any]) -> None:
    before = repr(raw)
    cleaned, redactions = scrubber.arguments(raw)
    assert _shape(cleaned) == _shape(raw)
    assert repr(raw) == before
    assert redactions or cleaned is raw


@given(arguments)
def test_arguments_are_clean_after_one_round(raw: dict[str, Any]) -> None:
    cleaned, _ = scrubber.arguments(raw)
    assert scrubber.arguments(cleaned)[1] == []


def test_a_key_in_a_diff_leaves_a_diff_that_still_fits() -> None:
    added = "".join(f"+{line}\n" for line in PEM.splitlines())
    cleaned, redactions = scrubber.text(f"@@ -0,0 +1,9 @@\n{added} x = 1\n")
    lines = cleaned.splitlines()
    assert lines[0] == "@@ -0,0 +1,9 @@"
    assert lines[1:-1] == ["+[REDACTED]"] * len(PEM.splitlines())
    assert lines[-1] == " x = 1"
    assert [(each.rule, each.line) for each in redactions] == [("private-key", 2)]


def test_a_key_that_is_cut_off_is_taken_out_as_far_as_it_goes() -> None:
    cut = "\n".join(PEM.splitlines()[:4])
    cleaned, _ = scrubber.text(f"{cut}\nand so on, the text goes on\n")
    assert cleaned == "[REDACTED]\n" * 4 + "and so on, the text goes on\n"


@pytest.mark.parametrize("end", ["", "\n", "\r\nother: 1\r\n"])
def test_a_key_in_one_line_of_json_is_one_mark(end: str) -> None:
    escaped = PEM.replace("\n", "\\n")
    cleaned, _ = scrubber.text(f'{{"key": "{escaped}\\n"}}{end}')
    assert cleaned == f'{{"key": "[REDACTED]\\n"}}{end}'


def test_the_name_of_a_key_in_code_is_left_alone() -> None:
    text = 'if "-----BEGIN PRIVATE KEY-----" in text:\n    return parse(text)\n'
    assert scrubber.text(text) == (text, [])


def test_a_finding_names_the_argument_and_the_line() -> None:
    raw = {"files": [{"text": f"a\nb = '{TOKEN}'\n"}], "query": f"what is {OTHER}"}
    cleaned, redactions = scrubber.arguments(raw)
    assert cleaned == {
        "files": [{"text": "a\nb = '[REDACTED]'\n"}],
        "query": "what is [REDACTED]",
    }
    assert [(each.rule, each.argument, each.line) for each in redactions] == [
        ("github-classic-token", "files.0.text", 2),
        ("gitlab-personal-token", "query", None),
    ]


def test_names_are_scrubbed_too_and_stay_apart() -> None:
    cleaned, redactions = scrubber.arguments({"env": {TOKEN: 1, OTHER: 2, "x": 3}})
    assert cleaned == {"env": {"[REDACTED]": 1, "[REDACTED] 2": 2, "x": 3}}
    assert {each.argument for each in redactions} == {"env"}


def test_a_value_is_a_secret_because_of_its_name() -> None:
    cleaned, _ = scrubber.arguments({"env": {"DB_PASSWORD": "hunter22", "DB_HOST": "hunter22"}})
    assert cleaned == {"env": {"DB_PASSWORD": "[REDACTED]", "DB_HOST": "hunter22"}}


def test_an_unknown_secret_is_marked_as_one_of_high_entropy() -> None:
    blob = made("{b64:48}", Random(5))
    cleaned, redactions = scrubber.text(f'send("{blob}")')
    assert cleaned == 'send("[REDACTED_HIGH_ENTROPY]")'
    assert [each.rule for each in redactions] == ["high-entropy"]


def test_what_is_opaque_is_left_alone_and_its_neighbours_are_not() -> None:
    raw = {
        "cursor": TOKEN,
        "attachments": [{"base64": TOKEN, "text": TOKEN}],
        "inner": {"cursor": TOKEN},
    }
    cleaned, redactions = scrubber.arguments(raw, opaque(["attachments.base64"]))
    assert cleaned == {
        "cursor": TOKEN,
        "attachments": [{"base64": TOKEN, "text": "[REDACTED]"}],
        "inner": {"cursor": "[REDACTED]"},
    }
    assert [each.argument for each in redactions] == ["attachments.0.text", "inner.cursor"]


def test_everything_may_be_opaque() -> None:
    raw = {"path": TOKEN}
    assert scrubber.arguments(raw, None) == (raw, [])
    assert scrubber.arguments({"path": {"a": [TOKEN]}}, opaque(["path"]))[1] == []
    assert scrubber.arguments({"path": {"a": [TOKEN]}}, opaque(["path", "path.a"]))[1] == []


def test_a_rule_that_is_left_out_finds_nothing() -> None:
    without = Scrubber(shipped(["github-classic-token"]))
    assert without.text(f"see {TOKEN}") == (f"see {TOKEN}", [])
    assert without.text(f"see {OTHER}")[0] == "see [REDACTED]"


@pytest.mark.parametrize("text", ["\ud800" + "x" * 20, "é" * 40, "\0" * 40, "-----BEGIN " * 400])
def test_any_text_is_taken(text: str) -> None:
    assert scrubber.text(text) == (text, [])
    assert scrubber.text(f"{text} {TOKEN}")[0] == f"{text} [REDACTED]"


def test_many_beginnings_of_keys_take_no_time_without_bound() -> None:
    text = "-----BEGIN RSA PRIVATE KEY-----\nno key\n" * 5_000
    assert scrubber.text(text) == (text, [])


@pytest.mark.parametrize("between", ["\n", " "])
def test_of_a_text_of_very_many_secrets_nothing_is_let_through(between: str) -> None:
    tokens = [made("ghp_{alnum:36}", Random(n)) for n in range(MAX_FOUND + 500)]
    text = f"é{between.join(f't = {each}' for each in tokens)}\n+ and so on"
    cleaned, redactions = scrubber.text(text)
    assert not any(each in cleaned for each in tokens)
    assert cleaned.count("\n") == text.count("\n")
    assert cleaned.startswith("ét = [REDACTED]")
    assert cleaned.endswith("\n+ [REDACTED]")
    assert len(redactions) < MAX_FOUND + 300  # a part of the text more
    assert redactions[-1].rule == "very-many-secrets"
    assert scrubber.text(cleaned) == (cleaned, [])


@pytest.mark.parametrize("part", ['token="', "http://a:b@", "AKIAQYLPMN5HHHFPZAM2 "])
def test_what_is_told_of_a_text_of_nothing_but_secrets_is_bounded(part: str) -> None:
    _, redactions = scrubber.text(part * (900_000 // len(part)))
    assert 0 < len(redactions) <= 4 * (MAX_FOUND + 1)


def test_secrets_by_the_thousand_are_all_taken_out() -> None:
    text = "\n".join(made("t = ghp_{alnum:36}", Random(n)) for n in range(2_000))
    cleaned, redactions = scrubber.text(text)
    assert cleaned == "\n".join(["t = [REDACTED]"] * 2_000)
    assert [each.line for each in redactions] == list(range(1, 2_001))
