"""A thousand real skills, two thousand pages: everything works, and each file is read once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.skill_library import write_pages, write_skills
from gateway.repositories.local import LocalRepository
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.build import build
from tests.plugins.skills_repo.waiting import entries

SKILLS, PAGES = 1_000, 2_000
_HEAVY = {"cryptography", "httpx", "jwt", "mcp", "numpy", "rich", "sqlalchemy", "tarfile"}

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each file is opened, by its inode: a path may be opened in steps."""
    counted: Counter[int] = Counter()
    real = os.open

    def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
        descriptor = real(path, flags, *more, **named)
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            counted[status.st_ino] += 1
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    return counted


async def test_an_index_of_two_thousand_pages_reads_each_file_once(
    tmp_path: Path, test_data: Path, reads: Counter[int]
) -> None:
    write_pages(test_data, tmp_path / "docs", PAGES)
    reads.clear()
    source = Source.model_validate({"name": "docs", "kind": "docs", "directory": str(tmp_path)})
    index, _ = await build(source, LocalRepository(tmp_path, None, 1024 * 1024))
    assert len(index) == PAGES
    assert reads == _once(tmp_path)


def _once(folder: Path) -> dict[int, int]:
    return {file.stat().st_ino: 1 for file in folder.rglob("*") if file.is_file()}


async def test_an_index_of_two_thousand_files_at_github_is_one_download(
    garden: Any, test_data: Path
) -> None:
    write_pages(test_data, garden.root / "docs", PAGES)
    async with garden.opened(garden.source("handbook", "docs", "github")) as portal:
        health = (await portal.health())["plugins"]["skills_repo"]
        assert health["facts"]["sources"]["handbook"]["entries"] == PAGES
        await portal.call("list_docs")
        tarball = {"/repos/garden/tools/tarball/main": 1, "/codeload/garden/tools": 1}
        assert garden.github.asked == tarball


async def test_a_thousand_skills_are_listed_read_prompted_served_and_found(
    garden: Any, test_data: Path
) -> None:
    write_skills(test_data / "skills-repo-a" / "skills", garden.root / "skills", SKILLS)
    async with garden.opened(garden.source("house")) as portal:
        listed = await entries(portal)
        names = [each["name"] for each in listed]
        assert len(set(names)) == SKILLS
        assert len(await portal.prompts()) == SKILLS
        assert {each["name"] for each in (await portal.prompts()).values()} == set(names)

        first = await portal.mcp().request("skills/list", {})
        assert len(first["skills"]) < SKILLS
        assert "nextCursor" in first
        served = await portal.skills()
        assert set(served) == {f"skill://house/{name}/SKILL.md" for name in names}

        for name in names[::97]:
            written = (garden.root / "skills" / name / "SKILL.md").read_text("utf-8")
            assert (await portal.call("get_skill", {"name": name})).structured["content"] == written
            assert await portal.read(f"skill://house/{name}/SKILL.md") == written
            found = (await portal.call("search_skills", {"query": name})).structured["results"]
            assert found[0]["name"] == name


def test_the_plugin_loads_nothing_heavy_until_it_is_used() -> None:
    code = f"import sys, plugins.skills_repo.plugin\nprint(sorted({_HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_without_a_skill_search_holds_no_collection(garden: Any, tmp_path: Path) -> None:
    async with garden.opened(garden.source("house"), data_dir=tmp_path / "data"):
        assert _collections(tmp_path / "data") == []
    garden.skill("pdf")
    async with garden.opened(garden.source("house"), data_dir=tmp_path / "data"):
        assert _collections(tmp_path / "data") == ["skills-repo--skills"]


def _collections(data: Path) -> list[str]:
    return [each.name for each in data.glob("vectors/*")]
