"""An index is built from files in any order, each read once, in bounded memory."""

from __future__ import annotations

import hashlib
import random
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Tier
from gateway.repositories.errors import SourceFailed
from gateway.repositories.protocol import Entry
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.build import Builder, build
from plugins.skills_repo.index.entries import AgentEntry, SkillEntry, SourceIndex
from plugins.skills_repo.index.library import Library


def entry(path: str, content: bytes = b"") -> Entry:
    return Entry(path, len(content), "", hashlib.sha256(content).hexdigest(), content)


def skills_of(files: dict[str, bytes], source: str = "house") -> dict[str, SkillEntry]:
    builder = Builder(source, "skills", "")
    for path, content in files.items():
        builder.take(path, entry(path, content))
    return {each.directory: each for each in builder.done()[0].skills}


def agent_of(text: str, path: str = "a.md") -> AgentEntry:
    builder = Builder("crew", "agents", "")
    builder.take(path, entry(path, text.encode()))
    [agent] = builder.done()[0].agents
    return agent


def test_a_manifest_lists_every_file_but_skill_md_sorted() -> None:
    files = {
        "b/scripts/z.py": b"z",
        "b/SKILL.md": b"",
        "b/a.md": b"a",
        "b/deep/SKILL.md": b"",
        "b/deep/x.md": b"x",
        "beside.md": b"",
        "bb/y.md": b"",
    }
    found = skills_of(files)
    assert set(found) == {"b", "b/deep"}
    assert [f.path for f in found["b"].files] == [
        "a.md",
        "deep/SKILL.md",
        "deep/x.md",
        "scripts/z.py",
    ]
    assert [f.path for f in found["b/deep"].files] == ["x.md"]
    assert found["b"].files[0].sha256 == hashlib.sha256(b"a").hexdigest()


def test_a_source_that_is_itself_one_skill_has_the_sources_name() -> None:
    found = skills_of({"SKILL.md": b"Text.", "a.md": b""}, "lone")
    assert (found[""].name, found[""].path) == ("lone", "SKILL.md")
    assert [file.path for file in found[""].files] == ["a.md"]


def test_without_frontmatter_the_file_gives_the_name() -> None:
    assert skills_of({"x/pdf/SKILL.md": b"Text."})["x/pdf"].name == "pdf"
    assert skills_of({"x/pdf/SKILL.md": b"Text."})["x/pdf"].description is None
    plain = agent_of("Text.", "group/reviewer.md")
    assert (plain.name, plain.description, plain.stem) == ("reviewer", None, "group/reviewer")


def test_a_file_too_large_to_be_read_is_an_entry_with_a_fault() -> None:
    builder = Builder("house", "skills", "")
    builder.take("a/SKILL.md", Entry("a/SKILL.md", 5_000_000, "", "", None))
    index, _ = builder.done()
    assert (index.skills[0].name, "5000000 bytes" in index.skills[0].fault) == ("a", True)
    assert index.faults == [f"house/a/SKILL.md: {index.skills[0].fault}"]


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("tools: Read, Grep", ("Read", "Grep")),
        ("tools: Read Grep", ("Read", "Grep")),
        ("tools: [Read, Grep]", ("Read", "Grep")),
        ("allowed-tools: Bash(git add:*, git rm:*), Read", ("Bash(git add:*, git rm:*)", "Read")),
        ("tools:\n  - Read\n  - mcp__x__y", ("Read", "mcp__x__y")),
        ("tools: '*'", ("*",)),
        ("tools: []", ()),
        ("tools: 3", None),
        ("tools:", None),
        ("model: x", None),
    ],
)
def test_allowed_tools_are_read_however_they_are_written(written: str, tools: Any) -> None:
    assert agent_of(f"---\nname: a\n{written}\n---\n").allowed_tools == tools


@pytest.mark.parametrize(
    ("written", "hint"),
    [("'[file]'", "[file]"), ("[file]", "[file]"), ("[a, b]", "[a, b]"), ("", None), ("7", "7")],
)
def test_a_hint_in_brackets_is_a_text(written: str, hint: str | None) -> None:
    content = f"---\nname: a\nargument-hint: {written}\n---\n".encode()
    assert skills_of({"a/SKILL.md": content})["a"].argument_hint == hint


@given(st.dictionaries(st.sampled_from(["a/SKILL.md", "a/x.md", "b.md", "c/d.md"]), st.binary()))
def test_no_content_stops_a_build(files: dict[str, bytes]) -> None:
    for kind in ("skills", "agents", "docs"):
        builder = Builder("house", kind, "")
        for path, content in files.items():
            builder.take(path, entry(path, content))
        index, texts = builder.done()
        assert SourceIndex.model_validate_json(index.model_dump_json()) == index
        texts.model_dump_json()


class Counting:
    """A repository of many generated files, which counts how often each is read."""

    repo, branch, commit = "many", None, None
    left_out = ()

    def __init__(self, count: int) -> None:
        self.paths = [f"s{n}/{name}" for n in range(count // 2) for name in ("SKILL.md", "a.md")]
        random.Random(7).shuffle(self.paths)
        self.read: Counter[str] = Counter()

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Counting]:
        yield self

    async def files(self, below: str = "") -> AsyncIterator[Entry]:
        for path in self.paths:
            self.read[path] += 1
            name = path.partition("/")[0]
            yield entry(path, f"---\nname: {name}\n---\n".encode() + b"x" * 20_000)


async def test_two_thousand_files_are_read_once_each_in_bounded_memory() -> None:
    many = Counting(2000)
    source = Source(name="house", kind="skills", directory="/nowhere", credential="none")
    tracemalloc.start()
    index, texts = await build(source, many)  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert set(many.read.values()) == {1}
    assert (len(index.skills), len(texts.bodies)) == (1000, 1000)
    assert peak < 25 * 1024 * 1024, "all contents together are 40 MB"


# What a name means.


def made(*sources: tuple[str, Tier, dict[str, bytes]]) -> Library:
    configured, indexes = [], {}
    for name, tier, files in sources:
        configured.append(Source(name=name, kind="skills", directory="/nowhere", tier=tier))
        builder = Builder(name, "skills", "")
        for path, content in files.items():
            builder.take(path, entry(path, content))
        indexes[name] = builder.done()[0]
    return Library(configured, indexes)


NAMED_PDF = b"---\nname: pdf\ndescription: x\n---\n"


def test_a_folder_is_surer_than_a_name_and_a_name_than_an_inner_folder() -> None:
    library = made(("house", Tier.OPEN, {"pdf/SKILL.md": b"", "x/SKILL.md": NAMED_PDF}))
    found = library.skill("pdf", Tier.OPEN)
    assert found is not None
    assert found.entry.directory == "pdf"
    library = made(
        ("house", Tier.OPEN, {"g/pdf/SKILL.md": b"---\nname: q\n---\n", "x/SKILL.md": NAMED_PDF})
    )
    found = library.skill("pdf", Tier.OPEN)
    assert found is not None
    assert found.entry.directory == "x"


_TIERS = st.sampled_from(list(Tier))


@given(st.lists(_TIERS, min_size=1, max_size=4), _TIERS, st.integers(0, 3))
def test_no_name_leads_to_a_source_above_the_callers_tier(
    tiers: list[Tier], caller: Tier, place: int
) -> None:
    library = made(*((f"s{n}", tier, {"pdf/SKILL.md": b""}) for n, tier in enumerate(tiers)))
    seen = {f"s{n}" for n, tier in enumerate(tiers) if caller.allows(tier)}
    assert {each.source.name for each in library.skills(caller)} == seen
    if len(seen) > 1:
        with pytest.raises(SourceFailed) as refused:
            library.skill("pdf", caller)
        assert set(refused.value.details["sources"]) == seen
    else:
        found = library.skill("pdf", caller)
        assert {found.source.name} if found else set() == seen
    if f"s{place}" not in seen:
        with pytest.raises(SourceFailed) as refused:
            library.skill("pdf", caller, f"s{place}")
        assert refused.value.code == "NOT_FOUND"
