"""What the knowledge base holds, counted: groups and releases, as a caller's tier sees them."""

from __future__ import annotations

from collections import Counter, defaultdict

from gateway.contract import Tier
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.results import GroupInfo, Groups, ReleaseInfo, Releases
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.names import names, normal_form
from plugins.knowledge.store import Store


def groups(store: Store, up_to: Tier, note: str) -> Groups:
    """Every group that has a document of its own, or that documents say they belong to.

    Args:
        store: the catalogue.
        up_to: the tier of the caller.
        note: what to know about the base now, or an empty text.
    """
    entries = store.entries(up_to)
    carried = Counter(entry.group for entry in entries if entry.group)
    own = {entry.id: entry for entry in entries if entry.content_type == ContentType.GROUP}
    called = {normal_form(name): entry for entry in own.values() for name in names(entry)}
    about = {group: called.get(normal_form(group)) for group in carried}
    described = {entry.id for entry in about.values() if entry is not None}
    found = [_group(group, count, about[group]) for group, count in carried.items()]
    found += [_group(id, 0, entry) for id, entry in own.items() if id not in described]
    found.sort(key=lambda one: (-one.documents, one.title.lower()))
    return Groups(groups=found, note=note or None)


def releases(store: Store, up_to: Tier, note: str) -> Releases:
    """Every release that documents belong to; the arguments are those of :func:`groups`."""
    members: dict[str, list[DocumentEntry]] = defaultdict(list)
    for entry in store.entries(up_to):
        if entry.release:
            members[entry.release].append(entry)
    found = [
        ReleaseInfo(
            release=release,
            documents=len(entries),
            content_types=dict(Counter(str(entry.content_type) for entry in entries)),
            newest=max(entry.written for entry in entries),
        )
        for release, entries in members.items()
    ]
    found.sort(key=lambda one: one.release.lower())
    found.sort(key=lambda one: one.newest, reverse=True)
    return Releases(releases=found, note=note or None)


def _group(group: str, documents: int, about: DocumentEntry | None) -> GroupInfo:
    return GroupInfo(
        group=group,
        title=one_line(about.title) if about else group,
        description=(about.description or None) if about else None,
        documents=documents,
        id=about.id if about else None,
    )
