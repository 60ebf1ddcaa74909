"""What notes say of being published, beside ``publish`` and ``draft``, in the words of other tools.

Jekyll, Hugo, Docusaurus and Obsidian each have their own, and notes move from one to another: so
each counts wherever it stands, in any case. What keeps a note back is no error. What cannot be
read keeps it back as well, and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from plugins.knowledge.notes.fields import parse_date
from plugins.knowledge.notes.frontmatter import Frontmatter

_BOOL = TypeAdapter(bool)
_DECIDING = frozenset({"publish", "draft", "tier"})
# Below _posts/, the day that Jekyll takes from the name of a file.
_POST = re.compile(r"(?:^|/)_posts/(?:[^/]+/)*([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})-[^/]+\Z")


def in_any_case(front: Frontmatter) -> Frontmatter:
    """The frontmatter with the keys that decide who may read the note in lower case.

    A key that is there twice, in two cases and with two values, gets both: nobody can read that,
    so it is read as what serves the fewest. A tier that is empty is there as None, as its author
    meant the note not to be as open as the others.
    """
    fields: dict[str, Any] = {}
    lines = {**front.lines}
    empty = {key: None for key in front.lines if _plain(key) == "tier"}
    for key, value in (empty | front.fields).items():
        name = _plain(key) if _plain(key) in _DECIDING else key
        differs = name in fields and fields[name] != value
        fields[name] = [fields[name], value] if differs else value
        lines[name] = front.lines[key]
    return replace(front, fields=fields, lines=lines)


def _plain(key: str) -> str:
    """A key without what its author does not see: its case, and spaces around it."""
    return key.strip().lower()


@dataclass(slots=True)
class Publication:
    """Whether a note is kept back by other words than ``publish`` and ``draft``.

    Attributes:
        kept_back: whether it is, now.
        turns: when that is the other way round, as far as it is known.
        unclear: the keys whose values cannot be read, and why.
    """

    kept_back: bool = False
    turns: datetime | None = None
    unclear: dict[str, str] = field(default_factory=dict)

    def begins(self, date: datetime, now: datetime) -> None:
        """Take in when the note is to be published."""
        self.kept_back |= date > now
        self._turns_at(date, now)

    def ends(self, date: datetime, now: datetime) -> None:
        """Take in when it is to be published no more."""
        self.kept_back |= date <= now
        self._turns_at(date, now)

    def _turns_at(self, date: datetime, now: datetime) -> None:
        if date > now:
            self.turns = min(date, self.turns or date)


def publication(front: Frontmatter, path: str, now: datetime) -> Publication:
    """Whether a note is kept back: unlisted, not yet published, or no more.

    Args:
        front: what it says.
        path: in its source.
        now: the time.
    """
    found = Publication()
    for key, value in front.fields.items():
        if (word := WORDS.get(_plain(key))) is None:
            continue
        try:
            word(found, value, now)
        except ValueError as error:
            found.kept_back = True
            found.unclear[key] = str(error)
    if "date" not in front.fields and (day := _day_of_post(path)) is not None:
        found.begins(day, now)
    return found


def _unlisted(found: Publication, value: Any, now: datetime) -> None:
    try:
        found.kept_back |= _BOOL.validate_python(value)
    except ValidationError:
        raise ValueError(f"{value!r} is neither true nor false") from None


def _published(found: Publication, value: Any, now: datetime) -> None:
    """Jekyll and Obsidian say here whether; Hugo says when, and many others when it was."""
    try:
        found.kept_back |= not _BOOL.validate_python(value)
    except ValidationError:
        _perhaps_begins(found, value, now)


def _perhaps_begins(found: Publication, value: Any, now: datetime) -> None:
    """Many write here what is no date for anybody but themselves."""
    try:
        found.begins(parse_date(value), now)
    except ValueError:
        return


def _begins(found: Publication, value: Any, now: datetime) -> None:
    found.begins(parse_date(value), now)


def _ends(found: Publication, value: Any, now: datetime) -> None:
    found.ends(parse_date(value), now)


def _built(found: Publication, value: Any, now: datetime) -> None:
    """Hugo says here that a page is not made, or that no list leads to it."""
    if isinstance(value, Mapping):
        said = {str(key).lower(): str(each).lower() for key, each in value.items()}
        found.kept_back |= said.get("render") in ("never", "false", "link")
        found.kept_back |= said.get("list") in ("never", "false")


WORDS: dict[str, Callable[[Publication, Any, datetime], None]] = {
    "unlisted": _unlisted,
    "published": _published,
    "pubdate": _perhaps_begins,
    "publishdate": _begins,
    "expirydate": _ends,
    "unpublishdate": _ends,
    "build": _built,
    "_build": _built,
}


def _day_of_post(path: str) -> datetime | None:
    if (found := _POST.search(path)) is None:
        return None
    try:
        return datetime.strptime(found[1], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def none_published(notes: int) -> str:
    """Why none of so many notes is served, and what to do about it; without a full stop."""
    return (
        f"0 of {notes} notes are published; write `publish: true` into a note, or "
        "set `publish: all` on the source in portal.yaml"
    )
