"""Questions with known answers over the civic-kb data set, and the measures of a ranking."""

from __future__ import annotations

import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Unmeasurable
from gateway.toolkit.words import terms, words
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval.markup import one_line, plain
from plugins.knowledge.retrieval.passages import cut

OWN_QUESTIONS = Path(__file__).parent / "data" / "civic_questions.json"
PHRASES = 150
_PHRASE = re.compile(r"[\w ,'\u2019-]+")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and how good which documents (``contentType/id``) are as an answer."""

    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over questions, with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def data_directory() -> Path:
    """The directory of data sets that ``PORCH_TEST_DATA`` names.

    Raises:
        Unmeasurable: it is not set, or holds no civic-kb.
    """
    directory = Path(os.environ.get("PORCH_TEST_DATA", ""))
    if not (directory / "civic-kb" / "repo").is_dir():
        raise Unmeasurable("Set PORCH_TEST_DATA to the directory that holds civic-kb.")
    return directory


def judged(file: Path) -> list[Question]:
    """The questions of a file, judged by people."""
    found = json.loads(file.read_text(encoding="utf-8"))["queries"]
    return [Question(one["query"], _grades(one["relevant"])) for one in found]


def known_items(documents: Sequence[Document], seed: int = 1) -> list[Question]:
    """Questions that name or quote a document: every title and alias, and some phrases.

    A title or phrase that several documents share accepts any of them.
    """
    named: dict[str, dict[str, int]] = defaultdict(dict)
    asked: dict[str, str] = {}
    for document in documents:
        for name in (one_line(document.title), *document.aliases):
            asked.setdefault(_plain_words(name), name.lstrip("#"))
            named[_plain_words(name)][document.key] = 2
    names = (Question(asked[name], found) for name, found in named.items())
    return [*names, *_phrases(documents, random.Random(seed))]


def ndcg(ranking: Sequence[str], question: Question, depth: int = 5) -> float:
    """Normalised discounted cumulative gain, with gains of 2^grade - 1."""
    ideal = sorted(question.grades.values(), reverse=True)
    gained = [question.grades.get(key, 0) for key in ranking[:depth]]
    return _discounted(gained) / _discounted(ideal[:depth])


def recall(ranking: Sequence[str], question: Question, depth: int = 5) -> float:
    """Which part of the good documents stands among the first."""
    return len(question.grades.keys() & set(ranking[:depth])) / len(question.grades)


def reciprocal_rank(ranking: Sequence[str], question: Question) -> float:
    """One by the place of the first good document, or 0."""
    places = (place for place, key in enumerate(ranking, 1) if key in question.grades)
    return 1 / next(places, float("inf"))


def mean(values: Sequence[float], seed: int = 1) -> Score:
    """The mean, and the interval in which 95 % of 2,000 resampled means lie."""
    drawn = np.random.default_rng(seed).choice(np.array(values), (2000, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return Score(float(np.mean(values)), float(low), float(high))


def _discounted(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / log2(place + 1) for place, grade in enumerate(grades, start=1))


def _grades(relevant: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {f"{one['contentType']}/{one['id']}": one["grade"] for one in relevant}


def _plain_words(text: str) -> str:
    return " ".join(words(text))


def _phrases(documents: Sequence[Document], chance: random.Random) -> Iterator[Question]:
    """Runs of five to eight words that at most two documents hold."""
    bodies = {one.key: f" {_plain_words(plain(one.content))} " for one in documents}
    passages = [(one.key, passage.text) for one in documents for passage in cut(one.content)]
    chance.shuffle(passages)
    found = 0
    for key, text in passages:
        parts = text.split()
        length = chance.randint(5, 8)
        if found == PHRASES or len(parts) < 20:
            continue
        start = chance.randrange(len(parts) - length)
        phrase = " ".join(parts[start : start + length])
        if not _PHRASE.fullmatch(phrase) or len(set(terms(phrase))) < 4:
            continue
        holding = [one for one, body in bodies.items() if f" {_plain_words(phrase)} " in body]
        if key in holding and len(holding) <= 2:
            found += 1
            yield Question(phrase, dict.fromkeys(holding, 2))
