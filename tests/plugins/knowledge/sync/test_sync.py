"""What a sync makes of every change to the notes."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Tier
from gateway.repositories import read_file
from gateway.services.objects import ObjectService
from plugins.knowledge.sync.emptied import SourceEmptied
from tests.plugins.knowledge.sync.later import let_a_day_pass


async def test_a_published_note_is_stored_in_the_specified_layout(library: Any) -> None:
    library.note("artifacts/patterns/cell-governance.md", type="pattern", title="Cells")
    await library.sync()
    stored = await library.stored()
    assert sorted(stored) == [
        "content/pattern/cell-governance.json",
        "raw/artifacts/patterns/cell-governance.md",
    ]
    document = json.loads(stored["content/pattern/cell-governance.json"])
    assert document["metadata"] == {
        "type": "pattern",
        "title": "Cells",
        "date": "2024-10-16T00:00:00Z",
        "publish": True,
        "draft": False,
    }
    assert {"id", "contentType", "path", "content", "syncedAt", "commitSha", "tier"} < set(document)
    assert await library.objects.get("metadata/manifest.json")


async def test_only_what_is_published_and_no_draft_is_served(library: Any) -> None:
    library.note("notes/a.md")
    library.note("notes/b.md", publish="false")
    library.note("notes/c.md", publish=None)
    library.note("notes/d.md", draft="true")
    library.note("notes/e.md", publish="maybe")
    library.note("notes/f.md", draft="perhaps")
    await library.sync()
    assert library.keys == ["file/a"]


async def test_a_note_is_published_at_its_time_and_no_longer_though_nobody_touches_it(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    library.note("notes/a.md", publishDate=soon.isoformat())
    library.note("notes/b.md", expiryDate=soon.isoformat())
    library.note("notes/c.md")
    await library.sync()
    assert (library.keys, library.syncing.status.turns) == (["file/b", "file/c"], soon)
    let_a_day_pass(monkeypatch)
    outcome = await library.sync()
    assert (outcome.written, outcome.removed) == (["file/a"], ["file/b"])
    assert (library.keys, library.syncing.status.turns) == (["file/a", "file/c"], None)
    await library.agrees()


@pytest.mark.parametrize("how", ["unpublish", "draft", "delete", "exclude"])
async def test_what_is_no_longer_published_leaves_store_and_index(library: Any, how: str) -> None:
    library.note("tags/dao.md")
    library.note("tags/hat.md")
    await library.sync()
    if how == "delete":
        library.delete("tags/dao.md")
    elif how == "exclude":
        library.config["sources"] = [{"directory": library.notes, "exclude": ["dao.md"]}]
        await library.start()
    else:
        library.note("tags/dao.md", **({"publish": "no"} if how == "unpublish" else {"draft": 1}))
    outcome = await library.sync()
    assert (outcome.written, outcome.removed) == ([], ["tag/dao"])
    assert library.keys == ["tag/hat"]
    await library.agrees()


async def test_a_sync_with_nothing_changed_writes_nothing(library: Any) -> None:
    library.note("tags/dao.md")
    await library.sync()
    files = [path for path in library.notes.parent.rglob("*") if path.is_file()]
    before = [written(path) for path in files]
    await library.start()
    outcome = await library.sync()
    assert not outcome.changed
    assert library.index.replaced == []
    assert [written(path) for path in files] == before


def written(path: Path) -> tuple[int, int, int]:
    """What a write changes of a file; reading it changes its time of access."""
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


async def test_a_touched_file_is_not_indexed_again(library: Any) -> None:
    file = library.note("tags/dao.md")
    await library.sync()
    os.utime(file, ns=(1, 1))
    await library.start()
    assert not (await library.sync()).changed


async def test_a_renamed_file_keeps_its_document(library: Any) -> None:
    library.note("tags/dao.md", body="One.")
    await library.sync()
    (library.notes / "tags/old").mkdir()
    (library.notes / "tags/dao.md").rename(library.notes / "tags/old/dao.md")
    await library.sync()
    assert (await library.document("tag/dao")).path == "tags/old/dao.md"
    await library.agrees()


async def test_a_note_that_changes_its_type_moves(library: Any) -> None:
    library.note("notes/a.md", type="pattern")
    await library.sync()
    library.note("notes/a.md", type="practice")
    await library.sync()
    assert library.keys == ["practice/a"]
    await library.agrees()


async def test_two_types_may_share_an_id(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("links/dao.md", url="https://example.org")
    await library.sync()
    assert library.keys == ["link/dao", "tag/dao"]


async def test_two_files_with_one_type_and_id_are_an_error_that_names_both(library: Any) -> None:
    library.note("tags/b/dao.md", body="Second.")
    library.note("tags/a/dao.md", body="First.")
    await library.sync()
    assert (await library.document("tag/dao")).content == "First."
    [problem] = library.problems
    assert problem.startswith("tags/b/dao.md:1: tag/dao is also what tags/a/dao.md is served as")


async def test_the_file_served_already_keeps_its_id(library: Any) -> None:
    library.note("tags/b/dao.md", body="Second.")
    await library.sync()
    library.note("tags/a/dao.md", body="First.")
    await library.sync()
    await library.start()
    await library.sync()
    assert (await library.document("tag/dao")).content == "Second."
    assert library.problems[0].startswith("tags/a/dao.md:1:")
    library.delete("tags/b/dao.md")
    await library.sync()
    assert (await library.document("tag/dao")).content == "First."
    assert library.problems == []
    await library.agrees()


@pytest.mark.parametrize("broken", [b"---\na: [\n---\n", b"---\na: \xff\n---\n", b"x" * 6_000_000])
async def test_a_note_that_breaks_keeps_its_old_document(library: Any, broken: bytes) -> None:
    library.note("tags/dao.md", body="Old.")
    await library.sync()
    library.write("tags/dao.md", broken)
    await library.sync()
    await library.start()
    await library.sync()
    assert (await library.document("tag/dao")).content == "Old."
    assert len(library.problems) == 1
    await library.agrees()
    library.note("tags/dao.md", body="New.")
    await library.sync()
    assert (await library.document("tag/dao")).content == "New."
    assert library.problems == []


async def test_every_read_stops_at_its_tier(library: Any) -> None:
    library.config["sources"] = [{"directory": library.notes, "tier": "public"}]
    await library.start()
    for tier in ("open", "public", "members", "gold"):
        library.note(f"notes/{tier}.md", tier=tier)
    library.note("notes/unsaid.md")
    await library.sync()
    seen = {tier: [e.id for e in library.store.entries(tier)] for tier in Tier}
    assert seen[Tier.OPEN] == ["open"]
    assert seen[Tier.PUBLIC] == ["open", "public", "unsaid"]
    assert seen[Tier.MEMBERS] == ["gold", "members", "open", "public", "unsaid"]
    for tier, ids in seen.items():
        keys = [f"file/{id}" for id in seen[Tier.MEMBERS]]
        found = await library.store.documents(keys, tier)
        assert [d.id for d in found if d] == ids
        assert [key for key in keys if library.store.entry(key, tier)] == [f"file/{i}" for i in ids]
    assert "gold" in library.problems[0]


async def test_a_note_raised_to_members_is_hidden_at_once(library: Any) -> None:
    library.note("tags/dao.md")
    await library.sync()
    library.note("tags/dao.md", tier="members")
    await library.sync()
    assert library.store.entries(Tier.OPEN) == ()
    assert await library.store.document("tag/dao", Tier.PUBLIC) is None


async def test_new_rules_read_every_note_again(library: Any) -> None:
    library.note("notes/a.md", type="concept")
    await library.sync()
    assert library.keys == ["file/a"]
    library.config["types"] = {"Concept": "tag"}
    await library.start()
    await library.sync()
    assert library.keys == ["tag/a"]
    assert (await library.document("tag/a")).metadata.original_type == "concept"
    await library.agrees()


async def test_a_new_index_is_given_every_document_again(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("tags/hat.md")
    await library.sync()
    library.write("tags/hat.md", b"---\nbroken: [\n---\n")
    library.fingerprint = "2"
    await library.start()
    await library.sync()
    assert sorted(library.index.replaced) == ["tag/dao", "tag/hat"]
    await library.agrees()


async def test_answers_after_a_start_say_at_once_that_the_index_is_not_whole(library: Any) -> None:
    library.note("tags/dao.md")
    await library.sync()
    await library.start()
    assert library.syncing.unfinished() == ""
    library.fingerprint = "2"
    await library.start()
    assert "not indexed whole" in library.syncing.unfinished()
    await library.sync()
    assert library.syncing.unfinished() == ""


async def test_several_sources_lead_their_paths_with_their_names(
    library: Any, tmp_path: Path
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.md").write_text("---\npublish: true\ntype: article\n---\nMore.")
    library.note("notes/a.md")
    library.config["sources"] = [
        {"directory": library.notes, "name": "own"},
        {"directory": tmp_path / "more", "name": "more", "tier": "members"},
    ]
    await library.start()
    await library.sync()
    assert [(e.key, e.path, e.tier) for e in library.store.entries(Tier.MEMBERS)] == [
        ("article/a", "more/a.md", Tier.MEMBERS),
        ("file/a", "own/notes/a.md", Tier.OPEN),
    ]
    await library.agrees()


async def test_a_source_that_is_away_takes_nothing_with_it(library: Any) -> None:
    library.note("tags/dao.md")
    await library.sync()
    library.notes.rename(library.notes.parent / "away")
    with pytest.raises(OSError, match="notes"):
        await library.sync()
    assert library.keys == ["tag/dao"]
    assert "notes" in library.syncing.status.error
    (library.notes.parent / "away").rename(library.notes)
    await library.sync()
    assert library.syncing.status.error == ""
    await library.agrees()


async def test_a_lost_manifest_is_made_anew_without_leftovers(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("tags/gone.md")
    await library.sync()
    for damage in (None, b"{not json", b'{"format": 0}'):
        if damage is None:
            await library.objects.delete("metadata/manifest.json")
            library.delete("tags/gone.md")
        else:
            await library.objects.put("metadata/manifest.json", damage)
        await library.start()
        await library.sync()
        assert library.keys == ["tag/dao"]
        assert list(await library.index.documents()) == ["tag/dao"]


async def test_replicas_with_indexes_of_their_own_each_know_what_theirs_holds(
    library_class: Any, tmp_path: Path
) -> None:
    shared = ObjectService(str(tmp_path / "objects"))
    replicas = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        replica = library_class(tmp_path / name, shared)
        replica.fingerprint = name
        replica.indexed = ObjectService(str(tmp_path / name / "index"))
        replica.config["sources"] = [{"directory": tmp_path / "first" / "notes"}]
        replicas.append(replica)
    first, second = replicas
    first.note("tags/dao.md")
    first.note("tags/hat.md")
    for replica in (first, second):
        await replica.start()
        await replica.sync()
        assert sorted(replica.index.replaced) == ["tag/dao", "tag/hat"]
    first.note("tags/dao.md", body="New.")
    first.delete("tags/hat.md")
    await second.sync()
    for replica in (first, second):
        await replica.start()
        await replica.sync()
        assert [one.content for one in (await replica.index.documents()).values()] == ["New."]
        await replica.start()
        assert not (await replica.sync()).changed
        assert not replica.index.replaced


async def test_a_file_that_goes_while_it_is_read_is_no_error(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.note("notes/a.md")
    gone = library.note("notes/b.md")

    def racing(root: Path, path: str, *more: Any) -> bytes | int:
        if root / path == gone:
            gone.unlink(missing_ok=True)
        return read_file(root, path, *more)

    monkeypatch.setattr("plugins.knowledge.sync.sources.read_file", racing)
    await library.sync()
    assert (library.keys, library.problems) == (["file/a"], [])
    await library.sync()
    assert library.keys == ["file/a"]


async def test_what_is_served_of_a_directory_that_is_empty_all_at_once_stays(library: Any) -> None:
    notes = [library.note(f"{number}.md") for number in range(2)]
    await library.sync()
    for one in notes:
        one.unlink()
    await library.start()
    with pytest.raises(SourceEmptied, match=r"is empty, and documents of it are served \(2\)"):
        await library.sync()
    assert library.keys == ["file/0", "file/1"]
    library.syncing.removes_emptied = True
    assert (await library.sync()).removed == ["file/0", "file/1"]
    library.syncing.removes_emptied = False
    await library.sync()
    assert library.keys == []
    await library.agrees()


async def test_a_directory_that_is_empty_from_the_start_is_no_error(library: Any) -> None:
    await library.sync()
    await library.sync()
    assert library.keys == []


async def test_a_folder_that_goes_while_it_is_listed_is_no_error(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.note("notes/a.md")
    gone = library.note("x/b.md")
    scandir = os.scandir

    def racing(folder: Path) -> Any:
        if folder == gone.parent:
            monkeypatch.undo()
            shutil.rmtree(gone.parent)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", racing)
    await library.sync()
    assert library.keys == ["file/a"]
