"""The ranking on a real knowledge base: floors that no change may break.

Half of the base is read here, the documents that answer among it, as its embedding takes minutes;
`python -m benchmarks search_quality` measures the whole.
"""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import pytest

from benchmarks.judged import OWN_QUESTIONS, judged
from benchmarks.library import library
from benchmarks.search_quality import LARGER, PRODUCT, larger_rows, rows

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(1800)]


async def test_the_product_beats_keywords_and_similarity_on_both_kinds_of_question(
    test_data: Path, tmp_path: Path
) -> None:
    civic = test_data / "civic-kb"
    content = _half(civic / "repo", tmp_path / "content", _answers(civic / "queries.json"))
    async with library(content, tmp_path) as opened:
        await opened.sync.run()
        read = opened.usage.texts
        measured = {row.what: row for row in await rows(opened, test_data)}
        same = await larger_rows(opened, test_data)  # of the same model they are the same
        asked = opened.usage.texts
        await opened.sync.run()
        assert read > 2000
        assert opened.usage.texts == asked
    for row in same:
        assert row.value == measured[row.what.replace(LARGER, PRODUCT)].value
    assert [row.bar.limit for row in same if row.bar] == [0.65, 0.65]
    deciding = [row for what, row in measured.items() if PRODUCT in what and row.bar]
    assert len(deciding) == 3
    assert [row.what for row in deciding if row.missed] == []


def _answers(given: Path) -> set[str]:
    """The ids of the documents that answer any question."""
    questions = [*judged(given), *judged(OWN_QUESTIONS)]
    return {key.rpartition("/")[2] for question in questions for key in question.grades}


def _half(base: Path, copy: Path, kept: set[str]) -> Path:
    """Copy the documents that are kept and every second one of the others."""
    for file in base.rglob("*.md"):
        path = file.relative_to(base)
        if file.stem in kept or zlib.crc32(path.as_posix().encode()) % 2:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy / path)
    return copy
