"""Whether documents hold: what holds goes first in answers, and the rest says why it does not.

Everything is seen with the caller's eyes: a document that they may not read ends nothing for them,
and is named nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from gateway.contract import Tier
from plugins.knowledge.links import Targets
from plugins.knowledge.notes.ages import Cause, Overdue, age_limits, last_look, overdue
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.fields import NO_BEGINNING, end_of
from plugins.knowledge.notes.statuses import has_ended
from plugins.knowledge.results import DocumentStanding
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.store import Store
from plugins.knowledge.supersession import Declarations, declarations, following, is_declaring

W_ENDED = 0.6
"""What is left of the score of what holds no more, as in memory."""
REVIEW_DAYS = 365
"""After how many days a document is marked that says when it was verified, and whose type has no
age of its own."""


class Standings:
    """Tells of documents whether they hold.

    Args:
        store: the catalogue.
        names: what documents are called.
        sources: the names of the sources, where there are several.
        days: after how many days without a look a document of a type is marked.
        clock: gives the time, with its zone; replaced in tests.
    """

    def __init__(
        self,
        store: Store,
        names: Names,
        sources: Collection[str] = (),
        days: Mapping[ContentType, int] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._names = names
        self._sources = frozenset(sources)
        self._days = days or {}
        self._limits = age_limits(self._days)
        self._clock = clock
        self._known: dict[Tier, tuple[Sequence[DocumentEntry], Declarations, Targets]] = {}
        self._version = -1
        self._declaring: dict[str, DocumentEntry] = {}

    def of(self, entry: DocumentEntry, up_to: Tier, prefix: str = "") -> DocumentStanding | None:
        """What to say of whether a document holds; None where there is nothing to say.

        Args:
            entry: the document.
            up_to: the tier of the caller.
            prefix: what the ids of others are told with.
        """
        now, known = self._clock(), self._declarations(up_to)
        by = self._successors(entry, known, now)
        ends, starts = _ends(entry, by, now), _starts(entry, now)
        contested = self._contested(entry, known, now)
        contested |= dict.fromkeys(known.circles.get(entry.key, ()))
        contested.pop(entry.key, None)
        lost, source = entry.key in known.lost, self._changed_source(entry, up_to)
        standing = DocumentStanding(
            holds=not (ends or starts or _is_over(entry, known)),
            text="",
            superseded_by=[prefix + one.key for one in by] or None,
            contested_with=[prefix + key for key in contested] or None,
            ended_at=told_end(ends, entry.starts),
            starts_at=starts,
            unverified_days=self._unverified_days(entry, now),
            source_changed=source and prefix + source,
        )
        text = _in_words(standing, is_lost=lost, status=entry.status)
        return standing.model_copy(update={"text": text}) if text else None

    def weight(self, entry: DocumentEntry, up_to: Tier) -> float:
        """What is left of a document's score: all of it where it holds."""
        now, known = self._clock(), self._declarations(up_to)
        ends = _ends(entry, self._successors(entry, known, now), now)
        return W_ENDED if ends or _is_over(entry, known) or _starts(entry, now) else 1.0

    def in_place_of(self, entry: DocumentEntry, up_to: Tier) -> list[DocumentEntry]:
        """What stands in a document's place in the end; nothing where it still stands itself."""
        return self._in_place(entry.key, self._declarations(up_to), self._clock())

    def succeeding(self, entry: DocumentEntry, up_to: Tier) -> list[DocumentEntry]:
        """What took a document's place, and what took the place of that, and so on to the end."""
        return self._after(entry.key, self._declarations(up_to), self._clock())

    def held_at(self, entry: DocumentEntry, moment: datetime, up_to: Tier) -> bool:
        """Whether a document held at a moment, as far as it and its successors say.

        What stands in the place of a document and is nowhere to be seen tells no day, and neither
        does a status; it holds no more from today on, and did before.

        Args:
            entry: the document.
            moment: when; a day without a time counts at its end.
            up_to: the tier of the caller.
        """
        moment, until = end_of(moment), entry.ends
        ended = until is not None and until < moment
        known, today = self._declarations(up_to), self._clock().astimezone(UTC).date()
        if _is_over(entry, known) and moment.astimezone(UTC).date() >= today:
            return False
        return entry.starts <= moment and not ended and not self._successors(entry, known, moment)

    def wanting_look(self, up_to: Tier) -> list[Overdue]:
        """The documents that ask their authors for a look, the oldest first.

        Those past their type's age, those that say to hold no more, those whose word on what
        supersedes what cannot be followed, and those whose source has changed since.
        """
        now, known, entries = self._clock(), self._declarations(up_to), self._store.entries(up_to)
        found = {one.entry.key: one for one in overdue(entries, self._days, now)}
        for entry in entries:
            contested = self._contested(entry, known, now)
            if asked := _at_odds(entry, known, contested) or self._source_asks(entry, up_to):
                cause, reason = asked
                found[entry.key] = Overdue(entry, now - last_look(entry), reason, cause)
        return sorted(found.values(), key=lambda one: (-one.age, one.entry.key))

    @staticmethod
    def _successors(
        entry: DocumentEntry, known: Declarations, moment: datetime
    ) -> list[DocumentEntry]:
        return _started(known, moment)(entry.key)

    def _after(self, key: str, known: Declarations, now: datetime) -> list[DocumentEntry]:
        started = _started(known, now)
        return list(following(key, started).values())

    def _in_place(self, key: str, known: Declarations, now: datetime) -> list[DocumentEntry]:
        started = _started(known, now)
        return [one for one in self._after(key, known, now) if not any(started(one.key))]

    def _contested(
        self, entry: DocumentEntry, known: Declarations, now: datetime
    ) -> dict[str, None]:
        """The keys of what is at odds with a document, as authors say or by what both supersede."""
        contested = dict.fromkeys(known.contested.get(entry.key, ()))
        for fork in known.forks.get(entry.key, ()):
            standing = [
                one.key for one in self._in_place(fork, known, now) if not _own_end(one, now)
            ]
            if entry.key in standing:
                contested |= dict.fromkeys(key for key in standing if key != entry.key)
        return contested

    def _unverified_days(self, entry: DocumentEntry, now: datetime) -> int | None:
        limit = self._limits.get(entry.content_type)
        if limit is None and entry.metadata.verified_at is not None:
            limit = REVIEW_DAYS
        age = now - last_look(entry)
        return age.days if limit is not None and age > timedelta(days=limit) else None

    def _changed_source(self, entry: DocumentEntry, up_to: Tier) -> str | None:
        """What a document was verified against, where that was written later."""
        looked, against = entry.metadata.verified_at, entry.metadata.verified_against
        if looked is None or against is None:
            return None
        source = self._targets(up_to).named(against, entry)
        return source.key if source is not None and source.rewritten > end_of(looked) else None

    def _source_asks(self, entry: DocumentEntry, up_to: Tier) -> tuple[Cause, str] | None:
        source = self._changed_source(entry, up_to)
        return None if source is None else ("source", _has_changed(source))

    def _declarations(self, up_to: Tier) -> Declarations:
        return self._followed(up_to)[1]

    def _targets(self, up_to: Tier) -> Targets:
        return self._followed(up_to)[2]

    def _followed(self, up_to: Tier) -> tuple[Sequence[DocumentEntry], Declarations, Targets]:
        """What documents say of each other, read again where the catalogue has changed."""
        entries, known = self._store.entries(up_to), self._known.get(up_to)
        if known is None or known[0] is not entries:
            targets = Targets(self._store, self._names, up_to)
            shown = (one for one in self._who_declares() if self._store.shows(one, up_to))
            known = entries, declarations(shown, targets, self._sources), targets
            self._known[up_to] = known
        return known

    def _who_declares(self) -> Sequence[DocumentEntry]:
        """The documents that say something of others, in the order of their keys."""
        changed = self._store.changed_since(self._version)
        if changed is None:
            self._declaring.clear()
            changed = [one.key for one in self._store.entries(Tier.MEMBERS)]
        self._version = self._store.version
        for key in changed:
            entry = self._store.entry(key, Tier.MEMBERS)
            if entry is not None and is_declaring(entry):
                self._declaring[key] = entry
            else:
                self._declaring.pop(key, None)
        return [self._declaring[key] for key in sorted(self._declaring)]


def _ends(
    entry: DocumentEntry, successors: Sequence[DocumentEntry], now: datetime
) -> list[datetime]:
    """When a document ceased to hold, by what took its place and by its own word."""
    return [*(one.starts for one in successors), *_own_end(entry, now)]


def _own_end(entry: DocumentEntry, now: datetime) -> list[datetime]:
    """When a document ceased to hold by its own word; nothing where it did not."""
    until = entry.ends
    return [until] if until is not None and until < now else []


def _is_over(entry: DocumentEntry, known: Declarations) -> bool:
    """Whether a document holds no more by its own word, which tells no day."""
    return entry.key in known.lost or has_ended(entry.status)


def _started(known: Declarations, moment: datetime) -> Callable[[str], list[DocumentEntry]]:
    """Gives what stands in a document's place at a moment, by the document's key."""
    return lambda key: [one for one in known.successors.get(key, ()) if one.starts <= moment]


def _starts(entry: DocumentEntry, now: datetime) -> datetime | None:
    """When a document begins to hold, where that is yet to come."""
    start = entry.metadata.valid_from
    return start if start is not None and start > now else None


def _at_odds(
    entry: DocumentEntry, known: Declarations, contested: Collection[str]
) -> tuple[Cause, str] | None:
    """Why a document's author should look at what it says of others, or others of it."""
    if others := known.circles.get(entry.key):
        said = f"it is superseded by {', '.join(others)}, in a circle; nothing of that counts"
        return "circle", said
    if name := known.unclear.get(entry.key):
        said = f"several are called {name!r}, of which it says something: name the one by its path"
        return "unclear", said
    if name := known.lost.get(entry.key):
        return "lost", f"it says to be superseded by {name!r}, which is not here"
    if name := known.missing.get(entry.key):
        return "lost", f"it says something of {name!r}, which is not here"
    if contested:
        return "contested", f"it is contested with {', '.join(contested)}"
    return None


def told_end(ends: Iterable[datetime], starts: datetime) -> datetime | None:
    """The first end that is told: none before the beginning, and none that nobody knows.

    Args:
        ends: when something ceased to hold, as it and its successors say.
        starts: from when on it held.
    """
    return min((each for each in ends if each >= starts and each != NO_BEGINNING), default=None)


def times_in_words(
    ended: datetime | None, starts: datetime | None, unverified_days: int | None
) -> list[str]:
    """When something held or will, and for how many days nobody looked, as far as there is any."""
    said = []
    if ended is not None:
        said.append(f"held until {ended:%Y-%m-%d}")
    if starts is not None:
        said.append(f"holds from {starts:%Y-%m-%d}")
    if unverified_days is not None:
        said.append(f"not verified for {unverified_days} days")
    return said


def _in_words(standing: DocumentStanding, *, is_lost: bool, status: str) -> str:
    """What an answer says of a document's standing, in a line."""
    said = []
    if standing.superseded_by:
        said.append(f"superseded by {', '.join(standing.superseded_by)}")
    elif is_lost:
        said.append("superseded")
    elif has_ended(status):
        said.append(f"its status is {one_line(status)!r}")
    if standing.contested_with:
        said.append(f"contested with {', '.join(standing.contested_with)}")
    said += times_in_words(standing.ended_at, standing.starts_at, standing.unverified_days)
    if standing.source_changed is not None:
        said.append(_has_changed(standing.source_changed))
    return "; ".join(said)


def _has_changed(source: str) -> str:
    return f"{source} has changed since it was verified against it"
