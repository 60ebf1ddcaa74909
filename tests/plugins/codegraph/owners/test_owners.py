"""Who works on code: by CODEOWNERS, by Git's history, and bounded whatever a repository holds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.owners.authors import LastAuthors
from plugins.codegraph.owners.declared import MAX_BYTES, PLACES, declared
from plugins.codegraph.owners.owners import Owners
from tests.plugins.codegraph.checkouts import committed, run_git
from tests.plugins.codegraph.justification.opinions.asked import context
from tests.plugins.codegraph.justification.shops import SHOP


def by(root: Path, name: str, files: dict[str, str]) -> None:
    """Commit files as somebody."""
    committed(root, files)
    run_git(root, "commit", "-q", "--amend", "--no-edit", f"--author={name} <x@example.org>")


@pytest.mark.parametrize("place", PLACES)
def test_owners_are_declared_in_any_of_the_usual_places(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("* @all\n/docs/ @org/writers w@example.org\n*.go @gopher # go\n")
    owners_of = declared(tmp_path)
    assert owners_of is not None
    assert owners_of("a.py") == ["@all"]
    assert owners_of("docs/a/b.md") == ["@org/writers", "w@example.org"]
    assert owners_of("x/a.go") == ["@gopher"]


def test_a_repository_cannot_make_its_owners_slow_large_or_anothers(tmp_path: Path) -> None:
    file = tmp_path / "CODEOWNERS"
    assert declared(tmp_path) is None
    file.write_text(f"* @all\n{'**/' * 60}x @slow\n{'a*' * 60}b @slow\n")
    owners_of = declared(tmp_path)
    assert owners_of is not None
    began = time.process_time()
    assert owners_of("a" * 500 + "/a" * 200) == ["@all"]
    assert time.process_time() - began < 1
    file.write_text("* @all\n" + "#" * MAX_BYTES)
    assert declared(tmp_path) is None
    file.write_text("* @all\n[ab @broken\n")
    owners_of = declared(tmp_path)
    assert owners_of is not None
    assert owners_of("a") == ["@all"]
    file.unlink()
    other = tmp_path.parent / f"{tmp_path.name}-other"
    other.write_text("* @other\n")
    file.symlink_to(other)
    assert declared(tmp_path) is None


async def test_git_tells_who_changed_a_file_last_the_newest_first(tmp_path: Path) -> None:
    root = tmp_path / "town"
    by(root, "Ana", {"a.py": "1", "b.py": "1"})
    by(root, "Ben", {"a.py": "2"})
    authors = LastAuthors()
    found = await authors.of(root, ["a.py", "b.py", "gone.py"])
    assert {path: [each.name for each in some] for path, some in found.items()} == {
        "a.py": ["Ben", "Ana"],
        "b.py": ["Ana"],
        "gone.py": [],
    }
    by(root, "Cleo", {"b.py": "3"})
    again = await authors.of(root, ["b.py"])
    assert [each.name for each in again["b.py"]] == ["Cleo", "Ana"]


async def test_where_there_is_no_history_nobody_is_named(tmp_path: Path) -> None:
    root, plain = tmp_path / "town", tmp_path / "plain"
    by(root, "Ana", {"a.py": "1"})
    by(root, "Ben", {"a.py": "2"})
    shallow = tmp_path / "shallow"
    run_git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", str(shallow))
    plain.mkdir()
    for each in (shallow, plain):
        assert await LastAuthors().of(each, ["a.py"]) == {}

    async def gone(repo: str) -> Path | None:
        return None

    assert await Owners(gone).of("x", ["a.py"]) == []


async def test_an_impact_says_who_works_on_what_breaks(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    by(root, "Ana", {path: text.decode() for path, text in SHOP.items()})
    owners = {"CODEOWNERS": "/shop/orders/ @shop/orders\n"}
    by(root, "Ben <b>", {**owners, "shop/textutils.py": SHOP["shop/textutils.py"].decode() + "\n"})
    declared = {"repositories": [{"path": str(root)}]}
    config = {"plugins": {"codegraph": declared}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as portal:
        await context(portal, "slugify", lambda found: True)
        asked = {"name": "slugify", "business": True}
        meta = (await portal.call("analyze_impact", asked)).structured["meta"]
        team, *people = meta["owners"]
        assert (team["name"], team["by"]) == ("@shop/orders", "CODEOWNERS")
        assert team["files"] == ["shop/orders/routes.py"]
        names = {each["name"]: each for each in people}
        assert names["Ana"]["fileCount"] == 2
        assert names["Ana"]["last"]
        assert "x@example.org" not in str(meta)
        plain = (await portal.call("analyze_impact", {"name": "slugify"})).structured["meta"]
        assert "owners" not in plain
        page = await portal.http("open").get("/codegraph/impact?name=slugify&business=true")
        assert "Who works on it" in page.text
        assert "@shop/orders" in page.text
