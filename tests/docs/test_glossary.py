"""The glossary says of each term where it lives, and it does."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
ROWS = re.findall(r"^\| ([a-z ]+) \| (.+) \| `([\w.]+)` \|$", GLOSSARY.read_text(), re.M)


@pytest.mark.parametrize(("term", "module"), [(term, module) for term, _, module in ROWS])
def test_a_term_lives_where_the_glossary_says(term: str, module: str) -> None:
    assert find_spec(module) is not None


def test_each_term_is_said_once_in_one_sentence() -> None:
    terms = [term for term, _, _ in ROWS]
    assert len(terms) == len(set(terms)) >= 40
    assert all(meaning.endswith(".") and ". " not in meaning for _, meaning, _ in ROWS)
