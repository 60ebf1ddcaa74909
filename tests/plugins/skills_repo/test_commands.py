"""``porch skills index`` and ``porch skills check``, as commands of a real portal's files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli import main
from plugins.skills_repo.command_actions import _with_local_path
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.frontmatter import read
from plugins.skills_repo.inspection import Problem, links
from tests.plugins.skills_repo.waiting import entries

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


def porch(garden: Any, *words: str, sources: Any = None) -> Result:
    """Run the command line over the garden's configuration."""
    config = garden.root.parent / "config"
    config.mkdir(exist_ok=True)
    written = garden.config(*(sources if sources is not None else [garden.source("house")]))
    written["services"] = {"embedding": "none"}
    (config / "portal.yaml").write_text(yaml.safe_dump(written), "utf-8")
    data = garden.root.parent / "data"
    places = ["--config", str(config), "--data", str(data)]
    return CliRunner().invoke(main, [*words, *places], prog_name="porch", catch_exceptions=False)


def test_index_writes_one_file_for_each_source(garden: Any) -> None:
    garden.skill("pdf", argument_hint="x")
    garden.write("agents/a.md", "---\nname: ann\n---\n")
    garden.write("docs/a.md", "# A")
    sources = [
        garden.source("house"),
        garden.source("crew", "agents", "github"),
        garden.source("handbook", "docs"),
    ]
    done = porch(garden, "skills", "index", sources=sources)
    assert (done.exit_code, done.stderr) == (0, "")
    assert [line.split(" at ")[0] for line in done.stdout.splitlines()] == [
        "house: 1 skill",
        "crew: 1 agent",
        "handbook: 1 doc",
    ]
    root = garden.root.parent / "data/objects/skills_repo/index"
    skills = json.loads((root / "house/skills-index.json").read_text())
    agents = json.loads((root / "crew/agents-index.json").read_text())
    docs = json.loads((root / "handbook/docs-index.json").read_text())
    assert skills["skills"][0]["argument_hint"] == "x"
    assert agents["agents"][0]["name"] == "ann"
    assert docs["docs"][0]["title"] == "A"
    assert (garden.root.parent / "data").stat().st_mode & 0o77 == 0


def test_index_says_which_source_failed_and_keeps_its_last_index(garden: Any) -> None:
    garden.skill("pdf")
    garden.skill("far", below="more")
    sources = [garden.source("house"), garden.source("away", path="more", backend="github")]
    assert porch(garden, "skills", "index", sources=sources).exit_code == 0
    garden.github.failing = 502
    done = porch(garden, "skills", "index", "--json", sources=sources)
    assert done.exit_code == 1
    house, away = json.loads(done.stdout)["sources"]
    assert (house["entries"], house["error"]) == (1, None)
    assert "502" in away["error"]
    kept = garden.root.parent / "data/objects/skills_repo/index/away/skills-index.json"
    assert json.loads(kept.read_text())["skills"][0]["name"] == "far"


def test_index_takes_one_source_and_names_those_there_are(garden: Any) -> None:
    garden.skill("pdf")
    assert porch(garden, "skills", "index", "--source", "house").exit_code == 0
    done = porch(garden, "skills", "index", "--source", "nobody")
    assert (done.exit_code, done.stdout) == (2, "There is no source nobody; there are house.\n")
    none = porch(garden, "skills", "index", sources=[])
    assert (none.exit_code, "No source is configured" in none.stdout) == (2, True)


async def test_a_running_portal_serves_what_the_command_built(
    garden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plugins.skills_repo import index_loop

    monkeypatch.setattr(index_loop, "POLL_INTERVAL_S", 0.05)
    garden.skill("pdf")
    source = garden.source("house", backend="github")
    data = garden.root.parent / "data"
    async with garden.opened(source, data_dir=data, wait_ready=False) as portal:

        async def names() -> list[str]:
            listed = await entries(portal)
            return [each["name"] for each in listed]

        async with asyncio.timeout(60):
            while await names() != ["pdf"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        garden.skill("fresh")
        done = await asyncio.to_thread(porch, garden, "skills", "index", sources=[source])
        assert done.exit_code == 0, done.stderr
        async with asyncio.timeout(60):
            while await names() != ["fresh", "pdf"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


# The check.


def problems(done: Result, root: Path | str) -> list[str]:
    return [
        line.removeprefix(f"{root}/") for line in done.stdout.splitlines() if line.count(":") >= 2
    ]


@pytest.mark.parametrize("backend", ["local", "github"])
def test_check_names_everything_by_file_and_line(garden: Any, backend: str) -> None:
    garden.skill("good", "See [forms](references/forms.md) and [this](#top).")
    garden.write("skills/good/references/forms.md", "Back to [the skill](../SKILL.md), [x](no.md).")
    garden.skill("links", "Text.\n\n[a](missing.md)\n```\n[b](in-code.md)\n```\n`[c](code.md)`")
    garden.skill("Loud", name="Loud")
    garden.skill("other", name="elsewhere")
    garden.skill("wordy", description="x" * 1025)
    garden.skill("mute", description=None)
    garden.skill("typed", license="[MIT]", user_invocable="maybe", metadata="{version: 1}")
    garden.skill("long", compatibility="y" * 501)
    garden.skill("broken", description="a: b")
    garden.write("skills/bare/SKILL.md", "Text.")
    done = porch(garden, "skills", "check", sources=[garden.source("house", backend=backend)])
    assert done.exit_code == 1, done.stderr
    base = garden.root if backend == "local" else "garden/tools"
    found = {":".join(line.split(":")[:2]): line for line in problems(done, f"{base}/skills")}
    assert set(found) == {
        "good/references/forms.md:1",
        "links/SKILL.md:7",
        "Loud/SKILL.md:2",
        "other/SKILL.md:2",
        "wordy/SKILL.md:3",
        "mute/SKILL.md:1",
        "typed/SKILL.md:4",
        "typed/SKILL.md:5",
        "typed/SKILL.md:6",
        "long/SKILL.md:4",
        "broken/SKILL.md:3",
        "bare/SKILL.md:1",
    }
    assert "the link to missing.md leads nowhere" in found["links/SKILL.md:7"]
    assert "metadata.version is not a text" in found["typed/SKILL.md:6"]
    assert done.stdout.splitlines()[-1] == "10 files checked, 12 problems."


def test_check_passes_what_is_in_order_and_json_says_the_same(garden: Any) -> None:
    garden.skill("good")
    garden.write("agents/a.md", "---\nname: a\ndescription: A.\n---\n")
    garden.write("agents/README.md", "# What these are")
    garden.write("docs/a.md", "No frontmatter is fine.")
    sources = [
        garden.source("house"),
        garden.source("crew", "agents"),
        garden.source("handbook", "docs"),
    ]
    assert (
        porch(garden, "skills", "check", sources=sources).stdout == "4 files checked, 0 problems.\n"
    )
    garden.write("agents/a.md", "---\nname: a\n---\n")
    garden.write("docs/a.md", "---\na: b: c\n---\n")
    done = porch(garden, "skills", "check", "--json", sources=sources)
    report = json.loads(done.stdout)
    assert (done.exit_code, report["checked"], report["unread"]) == (1, 4, {})
    assert [(Path(one["path"]).parent.name, one["line"]) for one in report["problems"]] == [
        ("agents", 1),
        ("docs", 2),
    ]


def test_check_takes_a_directory_and_says_what_cannot_be_read(garden: Any) -> None:
    garden.skill("good")
    skills = str(garden.root / "skills")
    assert porch(garden, "skills", "check", "--directory", skills, sources=[]).exit_code == 0
    gone = str(garden.root / "gone")
    done = porch(garden, "skills", "check", "--directory", gone, sources=[])
    assert (done.exit_code, done.stdout) == (
        2,
        f"The directory {gone} is not there; name another.\n",
    )
    garden.write("empty/notes.txt", "No skill.")
    done = porch(garden, "skills", "check", "--directory", str(garden.root / "empty"), sources=[])
    assert (done.exit_code, "There is no SKILL.md in" in done.stdout) == (2, True)


def test_check_names_files_as_they_are_seen_from_here(
    garden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    garden.write("skills/bare/SKILL.md", "Text.")
    source = Source(name="house", kind="skills", directory=garden.root, path="skills")
    problem = Problem("bare/SKILL.md", 1, "it has no frontmatter")
    assert _with_local_path(source, problem).path == f"{garden.root}/skills/bare/SKILL.md"
    monkeypatch.chdir(garden.root)
    assert _with_local_path(source, problem).path == "skills/bare/SKILL.md"


def test_real_skills_are_checked_and_missing_files_named(garden: Any, test_data: Path) -> None:
    directory = test_data / "skills-repo-a/skills"
    done = porch(garden, "skills", "check", "--json", "--directory", str(directory), sources=[])
    report = json.loads(done.stdout)
    assert report["checked"] == 103
    reasons = [one["reason"] for one in report["problems"]]
    assert any("leads nowhere" in reason for reason in reasons)
    assert not any("broken YAML" in reason for reason in reasons)


def test_links_are_found_as_markdown_has_them() -> None:
    text = (
        '[a](b.md) ![i](<c d.png>) [t](e.md "title") [u](https://x.example/y) [m](mailto:a@b)\n'
        "[q](f.md?x#y) [s](/abs.md) [p]({file}.md) [e](%C3%A9.md) [n](g(1).md)\n"
        "~~~\n[z](fence.md)\n~~~\n"
    )
    found = [target for _, target in links(read(text.encode()))]
    assert found == ["b.md", "c d.png", "e.md", "f.md", "é.md", "g(1).md"]
