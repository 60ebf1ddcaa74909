"""What a source leaves out is nowhere: not in its index, and not where a file is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.repositories import SourceFailed
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.index.build import source_fingerprint
from plugins.skills_repo.index.entries import LAYOUT_VERSION
from plugins.skills_repo.repositories import open_repositories
from plugins.skills_repo.source_filter import includes
from tests.plugins.skills_repo.test_tools import BACKENDS, code_of
from tests.plugins.skills_repo.waiting import entries


def source(*include: str, exclude: tuple[str, ...] = (), path: str = "") -> Source:
    return Source(
        name="crew", kind="agents", directory="/x", path=path, include=include, exclude=exclude
    )


@pytest.mark.parametrize(
    ("glob", "path", "is_taken"),
    [
        ("plugins/*/agents/*.md", "plugins/a/agents/b.md", True),
        ("plugins/*/agents/*.md", "plugins/a/skills/b.md", False),
        ("plugins/*/agents/*.md", "plugins/a/b/agents/c.md", False),
        ("plugins/**/agents/*.md", "plugins/a/b/agents/c.md", True),
        ("plugins/**/agents/*.md", "plugins/agents/c.md", True),
        ("*.md", "a.md", True),
        ("*.md", "a/b.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("**/*.md", "a/b/c.mdx", False),
        ("./house/", "house/a/SKILL.md", True),
        ("house", "houses/a/SKILL.md", False),
        ("house/**", "house/a/b", True),
        ("[ab]?.md", "bc.md", True),
        ("A.md", "a.md", False),
    ],
)
def test_a_glob_means_files_and_whole_folders(glob: str, path: str, is_taken: bool) -> None:
    assert includes(source(glob), path) == is_taken
    assert includes(source(glob, path="deep/er"), f"deep/er/{path}") == is_taken
    assert includes(source(exclude=(glob,)), path) != is_taken


async def test_a_link_goes_round_no_exclude(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "plan.md").write_text("The plan.")
    (tmp_path / "open.md").symlink_to("private/plan.md")
    docs = Source(name="docs", kind="docs", directory=tmp_path, exclude=("private/**",))
    config = SkillsRepoConfig(sources=(docs,))
    async with open_repositories(config, lambda name: "") as found:
        with pytest.raises(SourceFailed):
            await found["docs"].read("open.md")
        async with found["docs"].snapshot() as opened:
            assert [entry async for entry in opened.files()] == []


WORDS = st.text("ab.*?[]", min_size=1, max_size=6).filter(lambda word: word not in (".", ".."))
PATHS = st.lists(WORDS, min_size=1, max_size=5).map("/".join)


@given(PATHS, st.lists(PATHS, max_size=3), st.lists(PATHS, max_size=3))
def test_what_is_excluded_is_never_taken_and_no_include_is_everything(
    path: str, include: list[str], exclude: list[str]
) -> None:
    without = includes(source(*include), path)
    assert includes(source(*include, exclude=tuple(exclude)), path) == (
        without and includes(source(exclude=tuple(exclude)), path)
    )
    assert includes(source(), path)
    assert includes(source("**"), path)


@BACKENDS
async def test_only_what_is_included_is_listed_and_read(garden: Any, backend: str) -> None:
    for plugin in ("one", "two"):
        garden.write(f"plugins/{plugin}/agents/{plugin}.md", "Be it.")
        garden.write(f"plugins/{plugin}/agents/README.md", "---\nname: about\n---\n")
        garden.write(f"plugins/{plugin}/commands/run-{plugin}.md", "No agent.")
        garden.skill(f"{plugin}/skills/do-{plugin}", below="plugins")
    more: dict[str, Any] = {"path": "plugins"}
    crew = garden.source(
        "crew", "agents", backend, include=["*/agents/*.md"], exclude=["**/README.md"], **more
    )
    house = garden.source("house", "skills", backend, exclude=["two"], **more)
    async with garden.opened(crew, house) as portal:
        listed = [each["file"] for each in await entries(portal, "list_agents")]
        assert listed == ["one/agents/one", "two/agents/two"]
        assert [each["name"] for each in await entries(portal)] == ["do-one"]
        garden.github.requests.clear()
        for name in ("two/commands/run-two", "two/agents/README"):
            assert await code_of(portal, "get_agent", name=name) == "NOT_FOUND"
        assert await code_of(portal, "get_skill", name="two/skills/do-two") == "NOT_FOUND"
        # Newer than the index: a file outside is not there, one inside is.
        garden.write("plugins/three/commands/new.md", "No agent.")
        garden.write("plugins/three/agents/new.md", "An agent.")
        garden.skill("two/skills/new", below="plugins")
        garden.skill("three/skills/new", below="plugins")
        again = {"skipCache": True}
        outside = await code_of(portal, "get_agent", name="three/commands/new", **again)
        assert outside == "NOT_FOUND"
        assert await code_of(portal, "get_skill", name="two/skills/new", **again) == "NOT_FOUND"
        for tool, name in (("get_agent", "three/agents/new"), ("get_skill", "three/skills/new")):
            found = await portal.call(tool, {"name": name, **again})
            assert not found.is_error, found.text
        asked = [each for each in garden.github.asked if "/contents/" in each]
        assert not [each for each in asked if "commands" in each or "/two/skills" in each]


def test_another_choice_is_another_index_and_none_is_the_same_as_before() -> None:
    assert (
        len({source_fingerprint(each) for each in (source(), source("a"), source(exclude=("a",)))})
        == 3
    )
    assert source_fingerprint(source()) == f"{LAYOUT_VERSION}:agents:/x:::none"
