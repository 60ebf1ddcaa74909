"""The ranking on a real knowledge base: floors that no change may break."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.library import library
from benchmarks.search_quality import PRODUCT, rows

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(1800)]


async def test_the_product_beats_keywords_and_similarity_on_both_kinds_of_question(
    test_data: Path, tmp_path: Path
) -> None:
    async with library(test_data / "civic-kb" / "repo", tmp_path) as opened:
        await opened.sync.run()
        read = opened.usage.texts
        measured = {row.what: row for row in await rows(opened, test_data)}
        asked = opened.usage.texts
        await opened.sync.run()
        assert read > 5000
        assert opened.usage.texts == asked
    deciding = [row for what, row in measured.items() if PRODUCT in what and row.bar]
    assert len(deciding) == 3
    assert [row.what for row in deciding if row.missed] == []
