"""Which documents stand in the place of which, as their authors say, and where that is a circle.

An author says of their own document that another one supersedes it (``supersededBy``, or a status
that begins with ``superseded by``), or of a new one what it supersedes (``supersedes``). The first
always counts. The second ends documents of the same source alone: those who write into another
source cannot end what stands here, only contest it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plugins.knowledge import addresses
from plugins.knowledge.links import Targets
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.statuses import successor

_BY, _STATUS = "supersededBy", "status"
_AGAINST = "verifiedAgainst"


@dataclass(frozen=True, slots=True)
class Declarations:
    """What documents say of each other; all by the key of the one it is said of.

    Attributes:
        successors: what stands in its place.
        forks: of which documents it is one of several successors, at once or in the end.
        circles: what it supersedes, and is superseded by; neither counts.
        contested: what is at odds with it.
        lost: what it says to be superseded by, and which is nowhere to be seen.
        missing: what else it says something of, and which is nowhere to be seen.
        unclear: a name by which it means another, and which several have; it counts for none.
    """

    successors: Mapping[str, Sequence[DocumentEntry]] = field(default_factory=dict)
    forks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    circles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)


def is_declaring(entry: DocumentEntry) -> bool:
    """Whether a document says something of others."""
    return next(_said(entry), None) is not None


def successor_named(entry: DocumentEntry) -> str | None:
    """What a document says to stand in its place; None where it names nothing."""
    return entry.metadata.superseded_by or successor(entry.status)


def unfollowed(entry: DocumentEntry, targets: Targets) -> Iterator[tuple[str, str, bool]]:
    """What a document says of others and nobody can follow.

    Args:
        entry: the document.
        targets: what it names.

    Yields:
        The field, the name that stands there, and whether several are called so, or none.
    """
    for said_in, name in _said(entry):
        meant = targets.meant(name, entry)
        if len(meant) > 1:
            yield said_in, name, True
        elif not meant and (said_in != _AGAINST or _is_a_note(name)):
            yield said_in, name, False


def declarations(
    entries: Iterable[DocumentEntry], targets: Targets, sources: Collection[str]
) -> Declarations:
    """What documents say of each other.

    Args:
        entries: the documents.
        targets: what they name.
        sources: the names of the sources, where there are several.
    """
    later: defaultdict[str, dict[str, DocumentEntry]] = defaultdict(dict)
    contested: defaultdict[str, dict[str, None]] = defaultdict(dict)
    lost: dict[str, str] = {}
    missing: dict[str, str] = {}
    unclear: dict[str, str] = {}
    for entry in entries:
        said = entry.metadata
        _note_unfollowed(entry, targets, missing, unclear)
        if (name := successor_named(entry)) is not None:
            if (by := targets.named(name, entry)) is None:
                lost[entry.key] = name
            else:
                later[entry.key][by.key] = by
        for other in _named(said.supersedes, entry, targets):
            if _source(entry, sources) == _source(other, sources):
                later[other.key][entry.key] = entry
            else:
                contested[other.key][entry.key] = None
        for other in _named(said.contests, entry, targets):
            contested[other.key][entry.key] = None
            contested[entry.key][other.key] = None
    circles = in_circles({key: set(some) for key, some in later.items()})
    successors = {
        key: [one for one in some.values() if one.key not in circles.get(key, ())]
        for key, some in later.items()
    }
    return Declarations(
        successors=successors,
        forks=_forks(successors),
        circles={key: sorted(some) for key, some in circles.items()},
        contested={key: list(some) for key, some in contested.items()},
        lost=lost,
        missing=missing,
        unclear=unclear,
    )


def _forks(successors: Mapping[str, Sequence[DocumentEntry]]) -> dict[str, list[str]]:
    """Of which documents with several successors each one is a successor, however far down."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for key, some in successors.items():
        if len(some) > 1:
            for each in following(key, lambda one: successors.get(one, ())):
                found[each].append(key)
    return dict(found)


def following(
    key: str, after: Callable[[str], Iterable[DocumentEntry]]
) -> dict[str, DocumentEntry]:
    """All that comes after a document, by their keys, the nearest first.

    Args:
        key: the document's.
        after: gives what comes right after one.
    """
    found: dict[str, DocumentEntry] = {}
    left = [key]
    for one in left:
        for other in after(one):
            if other.key != key and other.key not in found:
                found[other.key] = other
                left.append(other.key)
    return found


def _note_unfollowed(
    entry: DocumentEntry, targets: Targets, missing: dict[str, str], unclear: dict[str, str]
) -> None:
    """Note the first name of a document that leads to none, and the first that leads to several."""
    for said_in, name, several in unfollowed(entry, targets):
        if several:
            unclear.setdefault(entry.key, name)
        elif said_in not in (_BY, _STATUS):
            missing.setdefault(entry.key, name)


def in_circles(later: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """The part of a graph that leads back to itself, or from one such part to another.

    Args:
        later: what stands in the place of each.
    """
    left = _leading_to_circles(later)
    return _turned(_leading_to_circles(_turned(left)))


def _leading_to_circles(edges: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """The edges from which one never comes to an end."""
    left = {key: set(some) for key, some in edges.items()}
    before = _turned(left)
    ends = [key for key in before if not left.get(key)]
    while ends:
        end = ends.pop()
        for key in before.get(end, ()):
            left[key].discard(end)
            if not left[key]:
                ends.append(key)
    return {key: some for key, some in left.items() if some}


def _turned(edges: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    turned: defaultdict[str, set[str]] = defaultdict(set)
    for key, some in edges.items():
        for other in some:
            turned[other].add(key)
    return dict(turned)


def _said(entry: DocumentEntry) -> Iterator[tuple[str, str]]:
    """The names of all that a document says something of, each with its field."""
    said = entry.metadata
    if (name := successor_named(entry)) is not None:
        yield (_BY if said.superseded_by else _STATUS), name
    yield from (("supersedes", each) for each in said.supersedes or ())
    yield from (("contests", each) for each in said.contests or ())
    if said.verified_against is not None:
        yield _AGAINST, said.verified_against


def _is_a_note(name: str) -> bool:
    """Whether a name can be nothing but a document's: one verifies against other things too."""
    return "://" not in name and addresses.names_a_note(name)


def _named(
    names: Iterable[str] | None, by: DocumentEntry, targets: Targets
) -> Iterable[DocumentEntry]:
    return filter(None, (targets.named(each, by) for each in names or ()))


def _source(entry: DocumentEntry, sources: Collection[str]) -> str:
    """The name of a document's source; an empty text where there is one source alone."""
    name = entry.path.partition("/")[0]
    return name if name in sources else ""
