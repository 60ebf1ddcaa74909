"""An export writes what is its own, whole, inside its directory, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.files.exporter import STAGING, export
from plugins.workflows.files.importer import import_paths
from plugins.workflows.files.parsed import EXPORT_RECORD
from plugins.workflows.ids import portal_id
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL, TargetType
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.tables import skill_attachments, workflows
from tests.plugins.workflows.conftest import workflow
from tests.plugins.workflows.files.desk import OPERATOR, tree, write

# One database is enough: rows are read through the playbook.
pytestmark = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


@pytest.fixture
async def out(playbook: Playbook, tmp_path: Path) -> Path:
    """A directory that holds the export of a small playbook."""
    write(tmp_path / "in", "prompts/look.md", "Look.")
    write(tmp_path / "in", "skills/card.md", "Know.")
    write(tmp_path / "in", "skills/card/list.csv", "a,b")
    write(tmp_path / "in", "workflows/w.yaml", "name: W\nstages: [{name: A}]\n")
    await import_paths(playbook, OPERATOR, [tmp_path / "in"])
    done = await export(playbook, tmp_path / "out", PORTAL)
    assert sorted(done.written) == sorted(tree(tmp_path / "out"))
    return tmp_path / "out"


async def test_a_second_export_writes_what_has_changed(
    playbook: Playbook, out: Path, tmp_path: Path
) -> None:
    write(tmp_path / "in", "prompts/look.md", "Look again.")
    await import_paths(playbook, OPERATOR, [tmp_path / "in"])
    done = await export(playbook, out, PORTAL)
    assert (done.written, len(done.unchanged), done.kept) == (["prompts/look.md"], 3, [])
    assert not (out / STAGING).exists()


async def test_two_exports_are_the_same_byte_for_byte(
    playbook: Playbook, out: Path, tmp_path: Path
) -> None:
    await export(playbook, tmp_path / "other", PORTAL)
    assert tree(tmp_path / "other") == tree(out)
    assert (tmp_path / "other" / EXPORT_RECORD).read_bytes() == (out / EXPORT_RECORD).read_bytes()


async def test_what_somebody_changed_or_wrote_stays_unless_forced(
    playbook: Playbook, out: Path, tmp_path: Path
) -> None:
    theirs = write(out, "workflows/w.yaml", "name: Mine now\n")
    before = tree(out)
    write(tmp_path / "in", "prompts/look.md", "Look again.")
    await import_paths(playbook, OPERATOR, [tmp_path / "in"])
    done = await export(playbook, out, PORTAL)
    assert (done.kept, done.written) == (["workflows/w.yaml"], [])
    assert tree(out) == before
    done = await export(playbook, out, PORTAL, force=True)
    assert (done.kept, done.written) == ([], ["prompts/look.md", "workflows/w.yaml"])
    assert theirs.read_text("utf-8").startswith("name: W\n")


async def test_a_file_of_the_same_bytes_is_in_nobodys_way(playbook: Playbook, out: Path) -> None:
    (out / EXPORT_RECORD).unlink()
    done = await export(playbook, out, PORTAL)
    assert (done.kept, done.written, len(done.unchanged)) == ([], [], 4)


async def test_files_of_items_that_are_gone_go_too_unless_somebody_changed_them(
    playbook: Playbook, out: Path
) -> None:
    for type_, delete in (
        (TargetType.SKILL, playbook.delete_skill),
        (TargetType.WORKFLOW, playbook.delete_workflow),
    ):
        await delete(OPERATOR, portal_id(type_, "card" if type_ is TargetType.SKILL else "w"), 1)
    write(out, "skills/card/list.csv", "mine")
    done = await export(playbook, out, PORTAL)
    assert done.removed == ["skills/card.md", "workflows/w.yaml"]
    assert sorted(tree(out)) == ["prompts/look.md", "skills/card/list.csv"]


async def test_the_export_of_another_owner_takes_nothing_away(
    playbook: Playbook, out: Path, alice: Writer
) -> None:
    await playbook.add_workflow(alice, workflow(name="Hers"))
    done = await export(playbook, out, alice.person)
    assert done.removed == []
    assert {"workflows/hers.yaml", "workflows/w.yaml"} <= set(tree(out))


async def test_a_link_that_leads_out_is_not_followed(
    playbook: Playbook, out: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (out / "skills/card/list.csv").unlink()
    (out / "skills/card").rmdir()
    (out / "skills/card").symlink_to(outside)
    with pytest.raises(OSError, match="leads out of"):
        await export(playbook, out, PORTAL, force=True)
    assert list(outside.iterdir()) == []


async def test_a_record_that_names_other_places_is_not_believed(
    playbook: Playbook, out: Path, tmp_path: Path
) -> None:
    victim = write(tmp_path, "victim", "x")
    record = json.loads((out / EXPORT_RECORD).read_text("utf-8"))
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    record["files"] |= {"../victim": [digest], str(victim): [digest]}
    (out / EXPORT_RECORD).write_text(json.dumps(record), "utf-8")
    done = await export(playbook, out, PORTAL)
    assert (done.removed, victim.exists()) == ([], True)
    (out / EXPORT_RECORD).write_text("[]", "utf-8")
    assert (await export(playbook, out, PORTAL)).kept == []


async def test_what_cannot_be_a_file_is_refused_by_name(
    playbook: Playbook, out: Path, database: OwnedDatabase
) -> None:
    async with database.begin() as connection:
        await connection.execute(update(workflows).values(key="../../w"))
        await connection.execute(update(skill_attachments).values(name="../../list.csv"))
    done = await export(playbook, out, PORTAL)
    assert [each.split(":")[0] for each in done.refused] == ["skills/card", "workflows/../../w"]
    assert set(tree(out)) == {"prompts/look.md"}
    assert list(out.parent.glob("*.csv")) == []


async def test_bytes_that_are_gone_refuse_one_card_alone(
    playbook: Playbook, out: Path, tmp_path: Path
) -> None:
    for path in (tmp_path / "objects").rglob("attachments/*"):
        path.unlink()
    done = await export(playbook, tmp_path / "new", PORTAL)
    assert [each.split(":")[0] for each in done.refused] == ["skills/card"]
    assert sorted(done.written) == ["prompts/look.md", "workflows/w.yaml"]
