"""The code graph that benchmarks measure from inside answers as a portal's does."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.code_library import code_library

SOURCE = """\
def add(a, b):
    return a + b


def twice(a):
    return add(a, a)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of one module."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "sums.py").write_text(SOURCE)
    return tmp_path / "root"


async def test_callers_are_told_where_several_repositories_are_known(
    root: Path, tmp_path: Path
) -> None:
    async with code_library(tmp_path / "data", "none") as opened:
        for name in ("one", "other"):
            await opened.index(name, root)
        answer, size = await opened.answer("get_callers", "one", {"name": "add"})
    assert [one["name"] for one in answer["data"]] == ["twice"]
    assert size > 0
