"""``porch skills install``: what it writes, for whom, and what it never touches."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from plugins.skills_repo.client_places import PLACES, Client
from plugins.skills_repo.installation import Outcome, Wanted, planned, written
from tests.plugins.skills_repo.test_commands import porch

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, from which commands are run by somebody with an empty home."""
    for name in ("project", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def files(folder: Path) -> dict[str, bytes]:
    """What lies below a folder."""
    found = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): each.read_bytes() for each in found}


def install(garden: Any, *words: str, **more: Any) -> Any:
    return porch(garden, "skills", "install", *words, **more)


@pytest.mark.parametrize("backend", ["local", "github"])
def test_a_skill_comes_whole_to_where_the_client_reads_it(
    garden: Any, project: Path, backend: str
) -> None:
    text = garden.skill("writing/pdf").read_bytes()
    garden.write("skills/writing/pdf/assets/logo.png", b"\x89PNG\x00")
    garden.write("skills/writing/pdf/scripts/fill.sh", "#!/bin/sh\n").chmod(0o755)
    done = install(
        garden, "pdf", "--client", "claude", sources=[garden.source("house", backend=backend)]
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert files(project) == {
        ".claude/skills/pdf/SKILL.md": text,
        ".claude/skills/pdf/assets/logo.png": b"\x89PNG\x00",
        ".claude/skills/pdf/scripts/fill.sh": b"#!/bin/sh\n",
    }
    assert "written   .claude/skills/pdf/scripts/fill.sh" in done.stdout
    assert "Read pdf before you let an agent follow it." in done.stdout


def test_what_can_be_run_at_the_source_can_be_run_in_the_copy(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    garden.write("skills/pdf/run.sh", "#!/bin/sh\n").chmod(0o755)
    garden.write("skills/pdf/notes.md", "No program.")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "All"]):
        user = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        subprocess.run(["git", *user, *words], cwd=garden.root, check=True)
    for place, more in enumerate(({}, {"branch": "main"}, {"backend": "github"})):
        into = project / str(place)
        into.mkdir()
        source = garden.source("house", **more)
        done = install(garden, "pdf", "--client", "codex", "--into", str(into), sources=[source])
        assert done.exit_code == 0, done.stdout
        run, notes = (into / ".agents/skills/pdf" / each for each in ("run.sh", "notes.md"))
        assert run.stat().st_mode & stat.S_IXUSR
        assert not notes.stat().st_mode & 0o111


@pytest.mark.parametrize("place", PLACES, ids=lambda each: f"{each.client}-{each.kind}")
def test_every_client_has_its_place_in_a_project_and_at_home(
    garden: Any, project: Path, place: Any
) -> None:
    garden.skill("pdf")
    garden.write("agents/ann.md", "---\nname: Ann\n---\nBe Ann.")
    name = "pdf" if place.kind == "skills" else "ann"
    sources = [garden.source("house"), garden.source("crew", "agents")]
    words = [name, "--client", place.client.value]
    assert install(garden, *words, sources=sources).exit_code == 0
    assert install(garden, *words, "--user", sources=sources).exit_code == 0
    home = {f"~/{each}" for each in files(Path.home())}
    assert set(files(project)) == {place.shown(name)}
    assert home == {place.shown(name, user=True)}


def test_a_file_that_differs_stays_until_it_is_forced(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    garden.write("skills/pdf/forms.md", "Theirs.")
    garden.write("skills/pdf/new.md", "New.")
    mine = project / ".cursor/skills/pdf/forms.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("Mine.")
    kept = install(garden, "pdf", "--client", "cursor")
    assert kept.exit_code == 1
    assert files(project) == {".cursor/skills/pdf/forms.md": b"Mine."}
    assert "differs   .cursor/skills/pdf/forms.md" in kept.stdout
    assert "--force replaces it." in kept.stdout
    shown = install(garden, "pdf", "--client", "cursor", "--force", "--dry-run")
    assert (shown.exit_code, mine.read_text()) == (0, "Mine.")
    assert install(garden, "pdf", "--client", "cursor", "--force").exit_code == 0
    assert mine.read_text() == "Theirs."
    again = install(garden, "pdf", "--client", "cursor")
    assert (again.exit_code, "Cursor has pdf already." in again.stdout) == (0, True)


def test_a_dry_run_writes_nothing_and_says_what_it_would(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    done = install(garden, "pdf", "--client", "vscode", "--dry-run", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, files(project)) == (0, {})
    assert said["files"] == [{"path": "SKILL.md", "outcome": "missing"}]
    assert said["folder"] == ".github/skills/pdf"


def test_a_link_in_a_project_leads_no_file_out_of_it(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (project / ".claude").symlink_to(elsewhere)
    done = install(garden, "pdf", "--client", "claude", "--force")
    assert (done.exit_code, files(elsewhere)) == (1, {})
    assert "by a link. Nothing was written." in done.stdout
    (project / ".claude").unlink()
    secret = project / "settings"
    secret.write_text("Mine.")
    (project / ".claude/skills/pdf").mkdir(parents=True)
    (project / ".claude/skills/pdf/SKILL.md").symlink_to(secret)
    assert install(garden, "pdf", "--client", "claude", "--force").exit_code == 1
    assert secret.read_text() == "Mine."


def test_a_name_in_a_skill_leads_no_file_out_of_its_folder(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    garden.write("skills/pdf/..\\..\\evil.md", "Evil.")
    done = install(garden, "pdf", "--client", "claude")
    assert (done.exit_code, set(files(project))) == (0, {".claude/skills/pdf/SKILL.md"})
    assert "left out" in done.stdout
    garden.write("one/SKILL.md", "---\nname: ../../evil\ndescription: Evil.\n---\n")
    alone = [garden.source("one", path="one")]
    done = install(garden, "../../evil", "--client", "claude", sources=alone)
    assert (done.exit_code, set(files(project))) == (1, {".claude/skills/pdf/SKILL.md"})


@given(path=st.text(alphabet="a./\\~%:\0", max_size=12))
def test_whatever_a_file_is_called_it_lands_below_its_folder_or_nowhere(
    path: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("root")
    folder = root / "project/skill"
    try:
        steps = planned(folder, root / "project", [Wanted(path, b"x")])
    except ToolFailed:
        return
    assert [written(each).outcome for each in steps] == [Outcome.WRITTEN]
    assert all(each.startswith("project/skill/") for each in files(root))


def test_what_cannot_be_followed_says_what_to_do(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    garden.write("agents/pdf.md", "---\nname: pdf\n---\n")
    both = [garden.source("house"), garden.source("crew", "agents")]
    for words, code, said in (
        (["pdf"], 2, "--client with one of claude, cursor"),
        (["pdf", "--client", "claude"], 1, "Say which with --source."),
        (["pdg", "--client", "claude"], 1, "The nearest: pdf"),
        (["pdf", "--client", "codex", "--source", "crew"], 2, "Codex reads no agent profile"),
        (["pdf", "--client", "claude", "--source", "none"], 2, "There is no source none"),
        (["pdf", "--client", "claude", "--into", "gone"], 2, "gone is not a directory."),
        (["pdf", "--client", "claude", "--into", ".", "--user"], 2, "give one of them"),
    ):
        done = install(garden, *words, sources=both)
        assert (done.exit_code, said in done.stdout) == (code, True), done.stdout
    assert files(project) == {}


def test_a_skill_that_is_new_since_the_last_index_is_found(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    assert porch(garden, "skills", "index").exit_code == 0
    garden.skill("fresh")
    assert install(garden, "fresh", "--client", "gemini").exit_code == 0
    assert set(files(project)) == {".gemini/skills/fresh/SKILL.md"}


def test_a_file_that_is_too_large_leaves_everything_as_it_was(garden: Any, project: Path) -> None:
    garden.skill("pdf")
    garden.write("skills/pdf/huge.bin", b"x" * (1024 * 1024 + 1))
    done = install(garden, "pdf", "--client", "claude")
    assert (done.exit_code, files(project)) == (1, {})
    assert "more than max_file" in done.stdout


def test_every_client_has_a_name_for_people_and_a_row_in_the_docs() -> None:
    assert all(each.label for each in Client)
    docs = Path(__file__).parents[3] / "docs/members/skills.md"
    rows = {line.split("`")[1]: line for line in docs.read_text().splitlines() if line[:3] == "| `"}
    for place in PLACES:
        assert f"`{place.project}` | `~/{place.user}`" in rows[place.client.value]
