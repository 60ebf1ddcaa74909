"""Questions in six languages over the English handbook, and passages that hold what was asked."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.judged import Question, judged
from benchmarks.library import Library, library
from benchmarks.table import Bar, Row
from gateway.contract import Tier
from gateway.services.embedding import all_mpnet, multilingual_e5
from gateway.toolkit.words import words
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.markup import plain

SECTION = "search_answers"
HANDBOOK = Path(__file__).parents[1] / "content"
QUESTIONS = Path(__file__).parent / "data" / "handbook_questions.json"
_FIRST = 3
_HEAD = "---\npublish: true\ntype: article\n---\n"


def measure() -> list[Row]:
    """Ask in six languages with each packaged model, and look into the shown passages."""
    models = ["embedded"] + ["multilingual"] * multilingual_e5.is_installed()
    rows = [asyncio.run(_languages(model)) for model in models]
    sets = Path(os.environ.get("PORCH_TEST_DATA", "")) / "passage-questions"
    if sets.is_dir():
        for model in ["embedded"] + ["english"] * all_mpnet.is_installed():
            rows += asyncio.run(_passages(sets, model))
    return rows


async def _languages(model: str) -> Row:
    """How often a right document is among the first three."""
    questions = judged(QUESTIONS)
    with tempfile.TemporaryDirectory() as data:
        async with library(HANDBOOK, Path(data), model) as opened:
            await opened.sync.run()
            hits = [await _is_hit(opened, one) for one in questions]
    return Row(
        SECTION,
        f"{len(questions)} questions in six languages, {model}: hit@{_FIRST}",
        sum(hits) / len(hits),
        bar=Bar("at least", 0.8) if model == "multilingual" else None,
        headline=model == "multilingual",
    )


async def _is_hit(opened: Library, question: Question) -> bool:
    filters = SearchFilters(limit=_FIRST)
    found = await opened.knowledge.search(question.text, filters, Tier.MEMBERS)
    return any(f"{one.content_type}/{one.id}" in question.grades for one in found.results)


async def _passages(sets: Path, model: str) -> list[Row]:
    """How often what a result shows of a long text holds what answers, to the letter."""
    asked = [json.loads(line) for line in (sets / "questions.jsonl").open(encoding="utf-8")]
    names = sorted({one["corpus"] for one in asked})
    with tempfile.TemporaryDirectory() as directory:
        content = Path(directory) / "content"
        content.mkdir()
        for name in names:
            (content / f"{name}.md").write_text(_HEAD + (sets / f"{name}.md").read_text())
        async with library(content, Path(directory) / "data", model) as opened:
            await opened.sync.run()
            shown = [await _shown(opened, one["question"], one["corpus"]) for one in asked]
    rows = []
    for name in names:
        pairs = [
            (one, each) for one, each in zip(asked, shown, strict=True) if one["corpus"] == name
        ]
        for what, depth in (("the shown passage holds it", 1), ("one of the shown", None)):
            held = [_holds(each[:depth], one["references"]) for one, each in pairs]
            label = f"{len(pairs)} questions to {name}, {model}, {what}"
            rows.append(Row(SECTION, label, sum(held) / len(held), headline=depth == 1))
    return rows


async def _shown(opened: Library, question: str, document: str) -> list[str]:
    filters = SearchFilters()
    found = await opened.knowledge.search(question, filters, Tier.MEMBERS, floor=False)
    result = next((one for one in found.results if one.id.replace("-", "_") == document), None)
    if result is None:
        return []
    return [result.passage or "", *(one.text for one in result.passages or ())]


def _holds(shown: Sequence[str], references: Sequence[dict[str, str]]) -> bool:
    texts = [f" {_words(text)} " for text in shown]
    return any(f" {_words(one['content'])} " in text for one in references for text in texts)


def _words(text: str) -> str:
    return " ".join(words(plain(text)))
