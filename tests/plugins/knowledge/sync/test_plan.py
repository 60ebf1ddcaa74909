"""A plan of what has changed is the plan of everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.knowledge.config import SourceConfig
from plugins.knowledge.notes.note import Note, Origin
from plugins.knowledge.sync.freshness import Freshness
from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.plan import Plan, Planner
from plugins.knowledge.sync.sources import File, NoteSource, Scan
from tests.examples import examples

AT = datetime(2026, 3, 1, tzinfo=UTC)
PATHS = ["tags/a.md", "tags/x/a.md", "notes/a.md", "notes/b.md", "links/index.md", "README.md"]
TWO = [f"{name}/{path}" for name in ("one", "two")
       for path in ("a.md", "x/a.md", "a.html", "a.docx", "x/a.html", "one.a.md")]  # fmt: skip
"""Of two sources: whatever may be called ``a``, and what another may be called for it."""
TEXTS = {
    "one": b"---\npublish: true\ntype: tag\n---\nOne.",
    "two": b"---\npublish: true\ntitle: Two\n---\nTwo.",
    "broken": b"---\npublish: [\n---\nThree.",
    "draft": b"---\npublish: true\ndraft: true\n---\nFour.",
    "away": None,
}
"""What a note may say; the last one cannot be read just now."""
EDITS = st.dictionaries(st.sampled_from(PATHS), st.sampled_from([*TEXTS, "gone"]), max_size=3)
OTHER_EDITS = st.dictionaries(st.sampled_from(TWO), st.sampled_from([*TEXTS, "gone"]), max_size=4)
DOUBTS = st.sets(st.sampled_from([*PATHS, "tag/a", "file/a", "file/b"]), max_size=1)


class Texts(NoteSource):
    """A source that holds texts by their names, which are also their stamps."""

    def content(self, file: File) -> bytes | None:
        return TEXTS[file.stamp]

    def _converted(self, data: bytes, origin: Origin) -> Note:
        return self.parse(data, origin)


class WholePlanner(Planner):
    """Considers every file."""

    def _considered(self, gone: object) -> set[str]:
        return set(self._files)


def scanned(before: Mapping[str, File], edits: Mapping[str, str]) -> dict[str, File]:
    files = dict(before)
    for path, text in edits.items():
        if text == "gone":
            files.pop(path, None)
        elif path not in files or files[path].stamp != text:
            relative = path.partition("/")[2] if path in TWO else path
            files[path] = File(path, relative, text, 50, AT)
    return files


def steps(plan: Plan) -> object:
    written = {
        path: put.document.model_dump(exclude={"synced_at"}) for path, put in plan.puts.items()
    }
    served = {
        path: record.model_dump(exclude={"entry": {"synced_at"}})
        for path, record in plan.files.items()
    }
    return written, served, plan.reindex, plan.removals, plan.raw_removals, plan.problems


@settings(max_examples=examples(200), deadline=None)
@given(history=st.lists(st.tuples(EDITS, DOUBTS, DOUBTS, st.booleans()), max_size=8))
def test_what_has_not_changed_need_not_be_considered(
    history: list[tuple[dict[str, str], set[str], set[str], bool]],
) -> None:
    source, freshness = Texts(SourceConfig(github="a/b"), {}, 10_000), Freshness()
    manifest, files = Manifest(), dict[str, File]()
    for number, (edits, pending, pending_raw, other_index) in enumerate(history):
        files = scanned(files, edits)
        doubted = {"pending": sorted(pending), "pending_raw": sorted(pending_raw)}
        manifest = manifest.model_copy(update=doubted)
        index = "other" if other_index else "same"
        scans = [(source, Scan(files, str(number)))]
        some = Planner(manifest, scans, "", index, freshness)
        every = WholePlanner(manifest, scans, "", index)
        assert some.needed() == every.needed()
        assert some.stale() == every.stale()
        plan = some.plan()
        assert steps(plan) == steps(every.plan())
        manifest = Manifest(commits={source.key: str(number)}, index=index, files=plan.files)


@settings(max_examples=examples(200), deadline=None)
@given(history=st.lists(OTHER_EDITS, max_size=8))
def test_what_is_called_alike_in_two_sources_is_planned_alike(
    history: list[dict[str, str]],
) -> None:
    sources = [
        Texts(SourceConfig(github="a/b", name=name, documents=True), {}, 10_000)
        for name in ("one", "two")
    ]
    manifest, files, freshness = Manifest(), dict[str, File](), Freshness()
    for number, edits in enumerate(history):
        files = scanned(files, edits)
        scans = [
            (source, Scan({p: f for p, f in files.items() if p.startswith(source.prefix)}, "1"))
            for source in sources
        ]
        some = Planner(manifest, scans, "", "", freshness)
        every = WholePlanner(manifest, scans, "", "")
        plan = some.plan()
        assert steps(plan) == steps(every.plan()), number
        manifest = Manifest(commits={one.key: "1" for one in sources}, files=plan.files)
        served = [entry.key for entry in manifest.entries().values()]
        assert len(served) == len(set(served))


def test_a_note_that_is_dated_anew_is_stale() -> None:
    source, freshness = Texts(SourceConfig(github="a/b"), {}, 10_000), Freshness()
    files = scanned({}, {"notes/a.md": "two"})
    first = Planner(Manifest(), [(source, Scan(files, "1"))], "", "", freshness).plan()
    manifest = Manifest(commits={source.key: "1"}, files=first.files)
    assert not freshness.stale(source, Scan(files, "2"), manifest)
    moved = {path: replace(file, modified=AT.replace(year=2025)) for path, file in files.items()}
    assert freshness.stale(source, Scan(moved, "2"), manifest) == {"notes/a.md"}


def test_files_are_read_in_the_order_of_their_paths() -> None:
    read: list[str] = []

    class Watched(Texts):
        def content(self, file: File) -> bytes | None:
            read.append(file.path)
            return super().content(file)

    source = Watched(SourceConfig(github="a/b"), {}, 10_000)
    files = scanned({}, dict.fromkeys(PATHS, "two"))
    Planner(Manifest(), [(source, Scan(files, "1"))], "", "").plan()
    assert read == sorted(PATHS)
