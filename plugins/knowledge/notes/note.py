"""One note: from a file's bytes to a document and the problems a member should mend.

Tolerant by rule (specification, sections 3.5 to 3.7, as the real knowledge base needs it): a
value that does not fit is dropped and reported, and the note is served without it. Only what
decides who may read a note fails closed: a ``tier`` that does not exist means members, a
``draft`` that cannot be read means yes, a ``publish`` that cannot be read means no. So do the words
of other tools (``publishing.py``).
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel, to_snake

from gateway.contract import Tier
from plugins.knowledge.notes import home, mdx, myst
from plugins.knowledge.notes.authors import with_authors
from plugins.knowledge.notes.comments import blanked, without_comments
from plugins.knowledge.notes.content import CONTENT, Link
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.fields import parse_date, parse_text
from plugins.knowledge.notes.frontmatter import BrokenNote, Frontmatter, Problem, Severity, read
from plugins.knowledge.notes.headings import MAX_SECTIONS, headings
from plugins.knowledge.notes.ids import InvalidId, generate_id, path_id, raw_key
from plugins.knowledge.notes.paths import infer_type, matches
from plugins.knowledge.notes.publishing import in_any_case, publication
from plugins.knowledge.notes.stated import with_stated
from plugins.knowledge.notes.tags import with_tags

_TYPES = frozenset(ContentType)
_BOOL = TypeAdapter(bool)
CREATED = ("created", "created_at", "createdAt")
_PUBLISH = re.compile(rb"^[ \t]{0,20}[\"']?publish\b", re.MULTILINE | re.IGNORECASE)
# These patterns never look far ahead, so that a hostile line costs time by its length alone.
_DAY_FIRST = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_QUOTE = re.compile(r"^>[ \t]?(.*)$")
_TAG = re.compile(r"<[^<>]{1,500}>")
_MARKS = re.compile(
    r"\\([!-/:-@\[-`{-~])|[*_`]|!?\[([^\[\]]{0,500})\]\([^()]{0,999}(?:\([^()]{0,99}\)[^()]{0,99})?\)"
)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a source's notes are read.

    Attributes:
        folders: folders or patterns, and the types of the notes in them.
        words: types that other people's notes name, and the type each stands for.
        tier: the tier of a note that names none.
        publish: whether a note that does not say so is published, or the patterns of those.
        names: our names of fields, and theirs; a dot leads into a mapping.
        ids_by_path: whether the whole path makes the id, and not the file's name alone.
        inline_tags: whether ``#tag`` in a note's text is a tag of it.
    """

    folders: Mapping[str, ContentType]
    words: Mapping[str, ContentType]
    tier: Tier = Tier.OPEN
    publish: bool | Sequence[str] = False
    names: Mapping[str, str] = field(default_factory=dict)
    ids_by_path: bool = False
    inline_tags: bool = False

    def publishes(self, path: str) -> bool:
        """Whether the note at a path is published where it does not say so itself."""
        if isinstance(self.publish, bool):
            return self.publish
        return matches(self.publish, path)

    def id(self, path: str) -> str:
        """The id of the note at a path; raises ``InvalidId``."""
        return path_id(path) if self.ids_by_path else generate_id(path)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a note's bytes come from.

    Attributes:
        path: the document's path; it begins with the source's name, if that has one.
        relative: the path in the source, which decides the type.
        date: the date of a note that names none, in its text or its file's name.
        commit: the commit of the checkout, or an empty text.
    """

    path: str
    relative: str
    date: datetime
    commit: str = ""


@dataclass(slots=True)
class Note:
    """What was read.

    Attributes:
        origin: the file that it was read from.
        raw: the file's bytes.
        document: the document, or None where the note cannot be one.
        problems: what a member should mend, in the order of the lines.
        turns: when it is published, or is so no more, or is read again; None where that stays.
    """

    origin: Origin
    raw: bytes = b""
    document: Document | None = None
    problems: list[Problem] = field(default_factory=list)
    turns: datetime | None = None

    @property
    def published(self) -> bool:
        """Whether the note asks to be served: ``publish`` and not ``draft``."""
        if self.document is None:
            return False
        return self.document.metadata.publish and not self.document.metadata.draft

    def keep_date(self, date: datetime) -> None:
        """Give it the date that it had, where it names none.

        Args:
            date: that of its file, when its text was last another one.
        """
        before, self.origin = self.origin.date, replace(self.origin, date=date)
        if self.document is not None and self.document.metadata.date == before:
            metadata = self.document.metadata.model_copy(update={"date": date})
            self.document = self.document.model_copy(update={"metadata": metadata})

    def report(self, line: int, reason: str, *, error: bool = False, once: bool = False) -> None:
        """Add a problem.

        Args:
            line: where, from 1.
            reason: what is wrong and what to do.
            error: whether the note cannot be served for it.
            once: whether it is told once for all the notes that have it.
        """
        severity: Severity = "error" if error else "warning"
        self.problems.append(Problem(self.origin.path, line, reason, severity, once))


def parse(data: bytes, origin: Origin, rules: Rules) -> Note:
    """Read a note.

    Args:
        data: the file's bytes.
        origin: where they come from.
        rules: how the source's notes are read.

    Returns:
        The note; its document has the current time in ``syncedAt``.
    """
    note = Note(origin, data)
    publish = rules.publishes(origin.relative)
    try:
        front = _read(data, origin, rules)
    except BrokenNote as error:
        asks = publish or _PUBLISH.search(data) is not None
        note.report(error.line, error.reason, error=asks)
        return note
    try:
        id = rules.id(origin.relative)
        raw_key(origin.path)
    except InvalidId as error:
        asks = _flag(note, front, "publish", publish, unreadable=False)
        draft = _flag(note, front, "draft", False, unreadable=True)
        held = draft or publication(front, origin.relative, datetime.now(UTC)).kept_back
        note.report(1, f"{error}; rename the file", error=asks and not held)
        return note
    tier = _tier(note, front, rules)
    fields = _complete(note, front, rules)
    metadata = _validate(note, front, fields)
    _count_sections(note, front.body)
    note.problems.sort(key=lambda problem: problem.line)
    note.document = Document(
        id=id,
        content_type=metadata.type,
        path=origin.path,
        metadata=metadata,
        content=front.body,
        synced_at=datetime.now(UTC),
        commit_sha=origin.commit,
        tier=tier,
    )
    return note


def _read(data: bytes, origin: Origin, rules: Rules) -> Frontmatter:
    """The frontmatter by our names, and the text that is meant for readers."""
    front = with_authors(in_any_case(_named(read(data), rules)))
    body = front.body
    if mdx.is_mdx(origin.relative, body):
        body = mdx.plain(body)
    elif myst.is_myst(body):
        body = myst.plain(body)
    body = home.text(front.fields, without_comments(body))
    fields = with_tags(front.fields, body, origin.relative, inline=rules.inline_tags)
    return replace(front, body=body, fields={**with_stated(fields, body)})


def _named(front: Frontmatter, rules: Rules) -> Frontmatter:
    """The frontmatter with our names for its fields; what has our name already stays.

    A name that leads into a mapping replaces the mapping that stands under our own name.
    """
    fields, lines = {**front.fields}, {**front.lines}
    for ours, theirs in rules.names.items():
        top, *rest = theirs.split(".")
        found: Any = front.fields.get(top)
        for part in rest:
            found = found.get(part) if isinstance(found, dict) else None
        if found not in (None, "") and (ours not in fields or ours == top):
            fields[ours], lines[ours] = found, front.lines[top]
        elif top in lines and not rest:
            lines.setdefault(ours, lines[top])
    return replace(front, fields=fields, lines=lines)


def _count_sections(note: Note, body: str) -> None:
    """Report a note with more headings than begin a section; few have so many lines at all."""
    lines = body.split("\n")
    if len(lines) <= MAX_SECTIONS:
        return
    if any(islice(headings(lines, html=True), MAX_SECTIONS, None)):
        reason = (
            f"has more than {MAX_SECTIONS:,} headings; what stands below the others is found, and "
            "is cited as part of the last section: make several notes of it"
        )
        note.report(1, reason)


def _tier(note: Note, front: Frontmatter, rules: Rules) -> Tier:
    if "tier" not in front.fields:
        return rules.tier
    value = front.fields.pop("tier")
    try:
        return Tier(parse_text(value).lower())
    except ValueError:
        said = "is empty, and" if value is None else repr(value)
        known = ", ".join(Tier)
        reason = f"tier {said} is none of {known}; the note is for members until it is mended"
        note.report(front.lines["tier"], reason)
        return Tier.MEMBERS


def _complete(note: Note, front: Frontmatter, rules: Rules) -> dict[str, Any]:
    """The frontmatter with all that every document has: type, title, date and the two flags."""
    fields = {**front.fields}
    for name in ("originalType", "original_type"):
        fields.pop(name, None)
    type, word = _type(note, front, rules)
    fields["type"] = type
    if word is not None:
        fields["originalType"] = word
    publish = rules.publishes(note.origin.relative)
    kept_back = _is_kept_back(note, front)
    asks = _flag(note, front, "publish", publish, unreadable=False)
    fields["publish"] = asks and not kept_back
    fields["draft"] = _flag(note, front, "draft", False, unreadable=True)
    return _defaults(note, front) | _created(note, front) | fields


def _is_kept_back(note: Note, front: Frontmatter) -> bool:
    """Whether a note is not to be served now, in the words of the tool it is written for."""
    found = publication(front, note.origin.relative, datetime.now(UTC))
    note.turns = found.turns
    for key, reason in found.unclear.items():
        note.report(front.lines[key], f"{key}: {reason}; the note is not served until it is mended")
    return found.kept_back


def _created(note: Note, front: Frontmatter) -> dict[str, Any]:
    """The date of a note that says only when it was created."""
    name = next((one for one in CREATED if one in front.fields), None)
    if name is None or "date" in front.fields:
        return {}
    try:
        date = parse_date(front.fields[name])
    except ValueError:
        return {}
    note.report(front.lines[name], f"{name}: read as the date; write date:", once=True)
    return {"date": date}


def _defaults(note: Note, front: Frontmatter) -> dict[str, Any]:
    date = _day_of_name(note.origin.relative) or note.origin.date
    defaults: dict[str, Any] = {"title": _title(front, note.origin), "date": date}
    if not front.present and (lead := _lead(front.body)):
        defaults["description"] = lead
    return defaults


def _day_of_name(path: str) -> datetime | None:
    """The day that the name of a file begins with, as a journal's or a post's does.

    Of an ``index.md`` that of its folder. What is yet to come is the day of something else, such as
    of what a page announces.
    """
    file = PurePosixPath(path)
    if (found := _DAY_FIRST.match(file.parent.name if file.stem == "index" else file.stem)) is None:
        return None
    try:
        day = parse_date(found[0])
    except ValueError:
        return None
    return day if day <= datetime.now(UTC) + timedelta(days=1) else None


def _type(note: Note, front: Frontmatter, rules: Rules) -> tuple[ContentType, str | None]:
    """The type, and the word that was written for it where that is not its name."""
    folder = infer_type(note.origin.relative, rules.folders)
    if "type" not in front.fields:
        return folder, None
    try:
        written = parse_text(front.fields["type"])
    except ValueError as error:
        note.report(front.lines["type"], f"type: {error}; served as {folder}")
        return folder, None
    word = written.lower()
    if word in rules.words:
        return rules.words[word], None if rules.words[word] == word else written
    if word in _TYPES:
        return ContentType(word), None
    note.report(front.lines["type"], f"unknown type {written!r}; served as file", once=True)
    return ContentType.FILE, written


def _flag(note: Note, front: Frontmatter, name: str, missing: bool, *, unreadable: bool) -> bool:
    value = front.fields.get(name, missing)
    try:
        return _BOOL.validate_python(value)
    except ValidationError:
        reason = f"{name}: {value!r} is neither true nor false; read as {str(unreadable).lower()}"
        note.report(front.lines[name], reason)
        return unreadable


def _title(front: Frontmatter, origin: Origin) -> str:
    """The first heading of level 1, as those below name parts; or the stem of the file's name."""
    lines = blanked(front.body).split("\n")
    for top in (each for each in headings(lines, html=True) if each.level == 1):
        said = html.unescape(_TAG.sub("", top.text)) if top.in_html else top.text
        if title := " ".join(_MARKS.sub(r"\1\2", said).split()):
            return title
    return generate_id(origin.relative)


def _lead(body: str) -> str:
    """The quoted lines right below the first heading, or at the top."""
    lines = body.split("\n")
    first = next(headings(lines), None)
    if first is not None and not any(line.strip() for line in lines[: first.line]):
        del lines[: first.end]
    quoted: list[str] = []
    for line in filter(str.strip, lines):
        if (match := _QUOTE.match(line)) is None:
            break
        quoted.append(match[1].strip())
    return " ".join(filter(None, quoted))


def _validate(note: Note, front: Frontmatter, fields: dict[str, Any]) -> Any:
    """The metadata; a value that does not fit is reported, and dropped or replaced."""
    try:
        metadata = CONTENT.validate_python(fields)
    except ValidationError as error:
        for name, reason in _reasons(error).items():
            key = name if name in front.lines else to_camel(name)
            note.report(front.lines.get(key, 1), f"{key}: {reason}; left out")
            for each in (name, to_snake(name), to_camel(to_snake(name))):
                fields.pop(each, None)
        metadata = CONTENT.validate_python(_defaults(note, front) | fields)
    if isinstance(metadata, Link) and "url" not in front.fields:
        note.report(front.lines.get("url", 1), "a link needs its url")
    return metadata


def _reasons(error: ValidationError) -> dict[str, str]:
    """What is wrong with each key; the first element of a location is the union's member."""
    reasons: dict[str, str] = {}
    for problem in error.errors():
        reason = problem["msg"].removeprefix("Value error, ")
        reasons.setdefault(str(problem["loc"][1]), reason[:1].lower() + reason[1:])
    return reasons
