"""Makes a page's file of its parts, and says what is wrong with it before anybody reviews it."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.contract import near
from plugins.knowledge.drafts.draft import DraftArgs
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.frontmatter import BrokenNote, Problem, read
from plugins.knowledge.notes.note import Origin
from plugins.knowledge.sync.sources import NoteSource

MAX_DIFF_CHARACTERS = 40_000
_KEY = re.compile(r"[\"']?([\w.-]+)[\"']?[ \t]*:")
_FENCE = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_CLOSES = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Composed:
    """A page's file.

    Attributes:
        text: the file.
        document: what it would be served as; None where it cannot be read.
        problems: what keeps it from being proposed, by its line in the file.
        notices: what is worth a look.
        frontmatter: the further fields, as they stand in it.
    """

    text: str
    document: Document | None
    problems: Sequence[Problem]
    notices: Sequence[str]
    frontmatter: str


def composed(
    asked: DraftArgs,
    source: NoteSource,
    path: str,
    now: datetime,
    existing: str | None,
    *,
    is_new: bool,
) -> Composed:
    """Make the file, and read it as the sync would.

    Args:
        asked: what it is to say.
        source: the source that it is for.
        path: its path there.
        now: the day that it says it is of, where it says none.
        existing: the file that it changes, or None.
        is_new: whether it is no page yet, so that it needs a date.
    """
    own = {name: _called(source, name) for name in ("title", "type")}
    given = asked.frontmatter
    if given is None:
        given = _front_of(existing) if existing is not None else ""
    given = _without(given.replace("\r\n", "\n"), set(own.values())).strip("\n")
    lines = [
        _line(own["title"], asked.title.strip()),
        _line(own["type"], str(asked.content_type)),
    ]
    named = _keys(given)
    if is_new and _called(source, "date") not in named:
        lines.append(_line(_called(source, "date"), f"{now:%Y-%m-%d}"))
    if "publish" not in named and not source.rules.publishes(path):
        lines.append("publish: true")
    front = "\n".join([*lines, *([given] if given else [])])
    text = f"---\n{front}\n---\n\n{asked.body.replace(chr(13) + chr(10), chr(10)).strip(chr(10))}\n"
    return _checked(text, given, asked, source, path, now)


def diff_of(before: str | None, after: str, path: str) -> str:
    """What changes between two states of a file, as a unified diff; cut where it is very long."""
    old = (before or "").splitlines()
    names = ("/dev/null" if before is None else f"a/{path}", f"b/{path}")
    told = "\n".join(difflib.unified_diff(old, after.splitlines(), *names, lineterm=""))
    if len(told) <= MAX_DIFF_CHARACTERS:
        return told
    return f"{told[:MAX_DIFF_CHARACTERS]}\n(The diff goes on.)"


def _checked(
    text: str, given: str, asked: DraftArgs, source: NoteSource, path: str, now: datetime
) -> Composed:
    note = source.parse(text.encode(), Origin(source.prefix + path, path, now.astimezone(UTC)))
    problems = [*_of_parts(text, given, asked, source, path)]
    problems += [Problem(path, each.line, each.reason, each.severity) for each in note.problems]
    document, notices = note.document, []
    if document is not None:
        problems += _of_document(document, asked, path)
        if not note.published:
            notices.append("Once it is merged it is not served: it says draft or publish: false.")
        notices += _unknown(document)
    return Composed(text, document, sorted(set(problems)), notices, given)


def _of_parts(
    text: str, given: str, asked: DraftArgs, source: NoteSource, path: str
) -> Iterator[Problem]:
    """What is wrong with the parts of a file, and with where it is to stand."""
    if _CLOSES.search(given):
        yield Problem(path, 2, "the frontmatter ends early: leave out --- and ...")
    if _FENCE.match(asked.body):
        line = text.count("\n", 0, len(text) - len(asked.body)) + 1
        yield Problem(path, line, "the body begins with frontmatter; give its fields as such")
    if len(text.encode()) > source.max_note:
        yield Problem(path, 1, f"the page has more than {source.max_note:,} bytes")
    if not source.is_note(path):
        yield Problem(path, 1, "the source leaves out files at this path (include, exclude)")


def _of_document(document: Document, asked: DraftArgs, path: str) -> Iterator[Problem]:
    """Where a page would be another one than was said."""
    if document.content_type is not asked.content_type:
        reason = f"it would be served as {document.content_type}, not {asked.content_type}"
        yield Problem(path, 3, reason)
    if document.title != asked.title.strip():
        yield Problem(path, 2, "the title is given twice; leave it to the argument")


def _unknown(document: Document) -> list[str]:
    """Fields that their type does not know and that look like one that it does."""
    model = type(document.metadata)
    known = {field.alias or name for name, field in model.model_fields.items()}
    extra = document.metadata.model_extra or {}
    meant = {name: near(name, known, 1) for name in extra}
    of = document.content_type
    return [
        f"{name}: {of} knows no such field; did you mean {each[0]}?"
        for name, each in meant.items()
        if each
    ]


def _called(source: NoteSource, field: str) -> str:
    """What notes of a source call a field, where that is one key."""
    name = source.rules.names.get(field, field)
    return field if "." in name else name


def _front_of(text: str) -> str:
    """The YAML of a file's frontmatter; an empty text where it has none."""
    found = _FENCE.match(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return found[1] if found else ""


def _keys(front: str) -> set[str]:
    try:
        return set(read(f"---\n{front}\n---\n".encode()).lines)
    except BrokenNote:
        return set()


def _without(front: str, names: set[str]) -> str:
    """Lines of YAML without some keys and what stands indented below them."""
    kept: list[str] = []
    dropping = False
    for line in front.split("\n"):
        if (key := _KEY.match(line)) is not None:
            dropping = key[1] in names
        elif line[:1] not in (" ", "\t", "-", ""):
            dropping = False
        if not dropping:
            kept.append(line)
    return "\n".join(kept)


def _line(key: str, value: str) -> str:
    """One key of YAML with a text; quoted where it would be read as something else."""
    import yaml

    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return f"{key}: {value}"
    return yaml.safe_dump({key: value}, allow_unicode=True, width=math.inf).strip("\n")
