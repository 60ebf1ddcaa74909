"""What documents are called where several ask for the same id."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.knowledge.notes.ids import MAX_ID_BYTES
from plugins.knowledge.sync.keys import Candidate, assigned
from plugins.knowledge.sync.verification import Verifier

PAGE = "<html><body><p>{}</p></body></html>"


async def two_sources(library: Any, *, first: str = "a", **settings: Any) -> None:
    """Serve the folders ``a`` and ``b`` as two sources; ``first`` stands first."""
    names = sorted("ab", key=lambda name: name != first)
    library.config["sources"] = [
        {"name": name, "directory": library.notes / name, **settings} for name in names
    ]
    await library.start()
    await library.sync()


def verifier(library: Any) -> Verifier:
    sync = library.syncing
    return Verifier(sync._sources, library.objects, library.index, sync._rules, sync.own)


def paths(library: Any) -> dict[str, str]:
    return {entry.key: entry.path for entry in library.syncing._manifest.entries().values()}


@pytest.mark.parametrize("ids", ["name", "path"])
async def test_of_two_sources_with_the_same_pages_both_are_served_whole(
    library: Any, ids: str
) -> None:
    for name in "ab":
        library.note(f"{name}/index.md", body=f"Home of {name}.")
        library.note(f"{name}/install.md", body=f"Install {name}.")
    await two_sources(library, ids=ids)
    assert library.problems == []
    assert library.keys == ["file/b.index", "file/b.install", "file/index", "file/install"]
    assert (await library.document("file/b.install")).content == "Install b."
    await library.agrees()


async def test_the_order_of_the_configuration_says_which_source_has_the_short_id(
    library: Any,
) -> None:
    library.note("a/index.md")
    library.note("b/index.md")
    await two_sources(library, first="b")
    assert paths(library) == {"file/index": "b/index.md", "file/a.index": "a/index.md"}


async def test_an_id_stays_with_its_page_whatever_comes_to_other_sources(library: Any) -> None:
    library.note("a/index.md")
    library.note("b/index.md")
    library.note("b/faq.md")
    await two_sources(library)
    library.note("a/faq.md")
    library.delete("a/index.md")
    await library.sync()
    kept = {"file/a.faq": "a/faq.md", "file/faq": "b/faq.md", "file/b.index": "b/index.md"}
    assert paths(library) == kept
    await two_sources(library, first="b")
    assert paths(library) == kept
    await library.agrees()


async def test_a_page_with_a_longer_id_is_read_again_and_verified_under_it(
    library: Any,
) -> None:
    library.note("a/index.md")
    library.note("b/index.md", body="Old.")
    await two_sources(library)
    library.note("b/index.md", body="New.")
    outcome = await library.sync()
    assert (outcome.written, outcome.removed) == (["file/b.index"], [])
    found = await verifier(library).compare()  # the index of the tests holds times, too
    assert [one for one in found.differences if one.kind != "index"] == []
    library.write("b/index.md", "---\npublish: [\n---\nBroken.")
    await library.sync()
    assert (await library.document("file/b.index")).content == "New."
    await library.agrees()


async def test_documents_of_one_stem_are_both_served(library: Any) -> None:
    for path in ("statutes.htm", "statutes.html", "2023/minutes.html", "2024/minutes.html"):
        library.write(path, PAGE.format(path))
    source = {"directory": library.notes, "publish": "all", "documents": True}
    library.config["sources"] = [source]
    await library.start()
    await library.sync()
    assert library.problems == []
    assert paths(library) == {
        "file/minutes": "2023/minutes.html",
        "file/minutes.html": "2024/minutes.html",
        "file/statutes": "statutes.htm",
        "file/statutes.html": "statutes.html",
    }
    await library.agrees()


async def test_markdown_comes_before_what_was_made_of_it(library: Any) -> None:
    library.write("plan.html", PAGE.format("Exported."))
    source = {"directory": library.notes, "publish": "all", "documents": True}
    library.config["sources"] = [source]
    await library.start()
    await library.sync()
    assert paths(library) == {"file/plan": "plan.html"}
    library.note("plan.md")
    library.write("old/plan.html", PAGE.format("Older."))
    await library.sync()
    assert paths(library) == {"file/plan": "plan.md", "file/plan.html": "old/plan.html"}
    [problem] = library.syncing.status.problems
    assert (problem.path, problem.severity) == ("plan.html", "warning")
    assert "plan.md beside it is the same in Markdown" in problem.reason
    library.delete("plan.md")
    await library.sync()
    assert paths(library) == {"file/plan": "plan.html", "file/plan.html": "old/plan.html"}
    await library.agrees()


def test_an_id_that_would_be_too_long_stays_an_error() -> None:
    key = f"file/{'x' * MAX_ID_BYTES}"
    both = [Candidate(f"{name}/x.md", key, at, name) for at, name in enumerate("ab")]
    found = assigned({one.path: one for one in both})
    assert found.served == {"a/x.md": key}
    assert "is also what a/x.md is served as" in found.problems["b/x.md"].reason
