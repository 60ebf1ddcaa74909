"""What a local Git checkout adds to its notes: the commit that holds them, and their dates."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any


def git(directory: Path, *arguments: str, date: str = "2024-03-04T05:06:07+00:00") -> str:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=os.environ | identity | {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


async def test_a_checkout_gives_its_commit_and_the_missing_dates(library: Any) -> None:
    git(library.notes, "init", "-q")
    library.note("notes/ä b.md", date=None)
    library.note("notes/dated.md", date="2020-01-01")
    git(library.notes, "add", ".")
    git(library.notes, "commit", "-qm", "one")
    library.note("notes/new.md", date=None)
    await library.sync()
    document = await library.document("file/ä b")
    assert document.commit_sha == git(library.notes, "rev-parse", "HEAD")
    assert document.metadata.date.isoformat() == "2024-03-04T05:06:07+00:00"
    assert (await library.document("file/dated")).metadata.date.year == 2020
    assert (await library.document("file/new")).metadata.date.year > 2024


async def test_a_commit_is_cited_for_what_it_holds_alone(library: Any) -> None:
    git(library.notes, "init", "-q")
    library.write(".gitignore", "ignored.md")
    library.note("notes/ä b.md")
    edited = library.note("notes/edited.md", body="Old.")
    git(library.notes, "add", ".")
    git(library.notes, "commit", "-qm", "one")
    library.note("notes/edited.md", body="New.")
    library.note("notes/ignored.md")
    library.note("notes/staged.md")
    git(library.notes, "add", "notes/staged.md")
    await library.sync()
    first = git(library.notes, "rev-parse", "HEAD")
    assert await commits(library) == {"ä b": first, "edited": "", "ignored": "", "staged": ""}
    git(library.notes, "commit", "-qam", "two")
    assert (await library.sync()).written == ["file/edited", "file/staged"]
    second = git(library.notes, "rev-parse", "HEAD")
    now = {"ä b": first, "edited": second, "ignored": "", "staged": second}
    assert await commits(library) == now
    edited.write_text(edited.read_text() + "\nMore.")
    await library.sync()
    assert await commits(library) == now | {"edited": ""}
    await library.agrees()


async def commits(library: Any) -> dict[str, str]:
    found = [await library.document(key) for key in library.keys]
    return {each.id: each.commit_sha for each in found}


async def test_a_commit_alone_brings_itself_and_the_new_date(library: Any) -> None:
    git(library.notes, "init", "-q")
    library.note("notes/a.md", date=None)
    library.note("notes/b.md")
    await library.sync()
    git(library.notes, "add", ".")
    git(library.notes, "commit", "-qm", "one")
    await library.start()
    outcome = await library.sync()
    assert outcome.written == ["file/a", "file/b"]
    assert (await library.document("file/a")).metadata.date.year == 2024
    assert (await library.document("file/b")).commit_sha == git(library.notes, "rev-parse", "HEAD")


async def test_a_checkout_starts_none_of_its_own_programs(library: Any) -> None:
    git(library.notes, "init", "-q")
    ran = library.notes.parent / "ran"
    spy = library.write("spy.sh", f"#!/bin/sh\ntouch {ran}\n")
    spy.chmod(0o755)
    git(library.notes, "config", "core.fsmonitor", str(spy))
    git(library.notes, "config", "filter.spy.clean", str(spy))
    library.write(".gitattributes", "b.md filter=spy")
    library.note("notes/a.md", date=None)
    git(library.notes, "-c", "core.fsmonitor=false", "add", ".")
    git(library.notes, "-c", "core.fsmonitor=false", "commit", "-qm", "one")
    library.note("notes/b.md")
    await library.sync()
    assert library.keys == ["file/a", "file/b"]
    assert not ran.exists()
