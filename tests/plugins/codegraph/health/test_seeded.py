"""What is planted is found, and what only looks like it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.codegraph.health import seeded
from tests.plugins.codegraph.health.measuring import found_in, rates
from tests.plugins.codegraph.health.reading import read

PRECISION, RECALL = 0.95, 0.85


@pytest.mark.parametrize("program", [seeded.python, seeded.typescript])
async def test_each_analysis_finds_what_is_planted_and_no_decoy(
    program: object, tmp_path: Path, codegraph_file: Path
) -> None:
    planted = program(6)  # type: ignore[operator]
    found = found_in(await read(planted.files, tmp_path, codegraph_file))
    for name, (precision, recall, wrong) in rates(planted, found).items():
        assert precision >= PRECISION, (name, wrong)
        assert recall >= RECALL, (name, wrong)
