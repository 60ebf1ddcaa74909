"""Which documents lead to which: wiki links, links to files, and the fields that name documents."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from gateway.contract import Tier
from plugins.knowledge import addresses
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.retrieval.markup import CONTENTS, SCRIPTS, runs
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.store import Store

_WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,300})(?:#[^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]\n]|\n(?![ \t]*\n)"
    r"|\[[^\[\]\n]{0,200}+\](?:\([^()\n]{0,1000}+\))?+){0,500}+\]"
    r"\((?:<([^<>\n]{1,1000})>|([^()<>\s]{1,1000}))(?:\s[^()\n]{0,300})?\)"
)
"""A link's text may go on in the next line, and have a picture or other brackets in it. An address
within pointed brackets may have spaces, and round brackets."""
_DEFINED = re.compile(
    r"^ {0,3}\[(?!\^)[^\[\]\n]{1,200}\]:(?:[ \t]{1,9}|[ \t]{0,9}\n[ \t]{0,9})"
    r"(?:<([^<>\n]{1,1000})>|([^<>\s]{1,1000}))"
    r"(?:[ \t]{1,9}[\"'(][^\n]{0,300})?[ \t]{0,9}$",
    re.MULTILINE,
)
"""An address that links refer to by a label: ``[label]: guides/pages.md "Title"``."""
_HREF = re.compile(r"\bhref=[\"']([^\"'\s]{1,1000})[\"']")
_CODE = re.compile(r"`[^`\n]{1,500}`")
_TEMPLATED = re.compile(
    r"(?:(?<=\]\()|(?<=href=[\"']))\s{0,9}"
    r"\{(?:\{|%)[^{}\"'\n]{0,200}[\"']([^\"'\n]{1,1000})[\"'][^{}\n]{0,200}[}%]\}"
)
"""An address that a template makes: ``{{ "/guides/" | url }}``, ``{% page "/guides/" %}``."""
_ROOT = re.compile(r"\{\{\s{0,9}(?:site\.)?(?:baseurl|base_url|url|pathPrefix)\s{0,9}\}\}")
"""The site's own, which is written before a path."""
_TABLE = re.compile(r"^[ \t]*+\[\[[\w.-]{1,200}\]\][ \t]*+\n(?=[ \t]*+[\w.-]{1,200}[ \t]*+=)", re.M)
"""The head of a table of TOML, which sites show in no fence: ``[[menus.main]]``."""
_FIELDS = (
    "related",
    "related_terms",
    "related_patterns",
    "patterns",
    "has_part",
    "is_part_of",
)
_READ_AT_ONCE = 200
MAX_WRITTEN = 200
"""Links of a document that its answer says the ends of."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it is written.

    Attributes:
        targets: a name, or the stems of what the path may be from the root of the document's
            source, the likeliest first.
        is_path: which of the two.
        written: for a report.
        names_a_note: whether it can lead to nothing but a note; another may lead to a file that
            the base does not have.
    """

    targets: tuple[str, ...]
    is_path: bool
    written: str
    names_a_note: bool = True


class Targets:
    """What links lead to, for callers of one tier.

    Args:
        store: the catalogue, which does not change meanwhile.
        names: what documents are called.
        up_to: the tier; what is above it is led to by nothing.
    """

    def __init__(self, store: Store, names: Names, up_to: Tier) -> None:
        self._store = store
        self._names = names
        self._up_to = up_to
        self._below: dict[str, DocumentEntry | None] = {}

    def of(self, link: Link) -> DocumentEntry | None:
        """The document that a link leads to, or None where it leads nowhere."""
        if link.is_path:
            by_path = next(filter(None, map(self._by_path.get, link.targets)), None)
            found = by_path or next(filter(None, map(self._by_address.get, link.targets)), None)
            is_rooted = found is None and link.written.startswith("/")
            return self._below_a_root(link.targets[0]) if is_rooted else found
        (name,) = link.targets
        if entry := self._at(name):
            return entry
        return next(iter(self._called(name)), None)

    def named(self, written: str, by: DocumentEntry) -> DocumentEntry | None:
        """The document that a field names; None where that is none or not clear."""
        found = self.meant(written, by)
        return found[0] if len(found) == 1 else None

    def meant(self, written: str, by: DocumentEntry) -> list[DocumentEntry]:
        """The documents that a field may mean: by ``contentType/id``, a path, a name or a number.

        Of several of one name those count that share most folders with the document.

        Args:
            written: the field's value.
            by: whose field it is; a successor may keep the title, and means the other one.
        """
        name = _unbracketed(written)
        if (one := self._store.entry(name, self._up_to) or self._at(name)) is not None:
            return [one]
        found = self._names.best(posixpath.basename(name), self._up_to)
        found = found or self._names.numbered(name, self._up_to)
        found = [each for each in found if each.key != by.key] or found
        shared = [_shared_folders(each.path, by.path) for each in found]
        return [each for each, count in zip(found, shared, strict=True) if count == max(shared)]

    def _called(self, name: str) -> Sequence[DocumentEntry]:
        return self._names.find(posixpath.basename(name), self._up_to)

    def _at(self, name: str) -> DocumentEntry | None:
        """The document at a path, or at the end of one; None where the name is none."""
        return self._ending_in(name) if "/" in name or addresses.is_file(name) else None

    @cached_property
    def _by_path(self) -> dict[str, DocumentEntry]:
        return {addresses.stem(entry.path): entry for entry in self._store.entries(self._up_to)}

    @cached_property
    def _by_address(self) -> dict[str, DocumentEntry]:
        entries = self._store.entries(self._up_to)
        return {one: entry for entry in entries for one in addresses.stated(entry)}

    @cached_property
    def _by_last_part(self) -> dict[str, list[str]]:
        return _by_last_part(self._by_path)

    @cached_property
    def _by_last_part_of_address(self) -> dict[str, list[str]]:
        return _by_last_part(self._by_address)

    def _ending_in(self, path: str) -> DocumentEntry | None:
        stem = addresses.stem(path)
        if known := self._by_path.get(stem):
            return known
        longer = next(_ending(stem, self._by_last_part), None)
        return None if longer is None else self._by_path[longer]

    def _below_a_root(self, stem: str) -> DocumentEntry | None:
        """The document that a site has at a path below its root, where its folder is called else.

        A site may serve ``docs/cli/add.md`` as ``/cli/add``. Of several the one that lies highest.
        """
        if stem not in self._below:
            path = min(_ending(stem, self._by_last_part), key=_height, default="")
            stated = min(_ending(stem, self._by_last_part_of_address), key=_height, default="")
            self._below[stem] = self._by_path.get(path) or self._by_address.get(stated)
        return self._below[stem]


class Links:
    """The links of all documents; a document is read again where it has changed.

    Args:
        store: the catalogue and the documents.
        names: what documents are called.
    """

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names
        self._known: dict[str, tuple[DocumentEntry, tuple[Link, ...]]] = {}
        self._targets: dict[Tier, tuple[Sequence[DocumentEntry], Targets]] = {}

    async def follow(self) -> None:
        """Take in what has changed in the catalogue."""
        entries = {entry.key: entry for entry in self._store.entries(Tier.MEMBERS)}
        self._known = {key: one for key, one in self._known.items() if key in entries}
        stale = [key for key, one in entries.items() if self._known.get(key, (None,))[0] is not one]
        for start in range(0, len(stale), _READ_AT_ONCE):
            keys = stale[start : start + _READ_AT_ONCE]
            for document in await self._store.documents(keys, Tier.MEMBERS):
                if document is not None:
                    key = document.key
                    self._known[key] = entries[key], tuple(dict.fromkeys(links_of(document)))

    def written(self, document: Document, up_to: Tier) -> dict[str, DocumentEntry]:
        """Where the links in a document's text lead, each as it is written: the first of many."""
        entry, known = self._known.get(document.key, (None, ()))
        if entry is None or entry is not self._store.entry(document.key, Tier.MEMBERS):
            known = tuple(links_of(document))
        targets = self.targets(up_to)
        found = {link.written: to for link in known if (to := targets.of(link))}
        there = (each for each in found if each in document.content)
        return {each: found[each] for each in islice(there, MAX_WRITTEN)}

    def out(self, entry: DocumentEntry, up_to: Tier) -> tuple[list[DocumentEntry], list[str]]:
        """Where a document leads, and its links that lead nowhere a caller of this tier may go."""
        found: dict[str, DocumentEntry] = {}
        dangling: dict[str, None] = {}
        targets = self.targets(up_to)
        for link in self._known.get(entry.key, (entry, ()))[1]:
            if leads_to := targets.of(link):
                found[leads_to.key] = leads_to
            elif link.names_a_note:
                dangling[link.written] = None
        found.pop(entry.key, None)
        return list(found.values()), list(dangling)

    def targets(self, up_to: Tier) -> Targets:
        """What links lead to for a tier; made anew where what it may see has changed."""
        entries, kept = self._store.entries(up_to), self._targets.get(up_to)
        if kept is None or kept[0] is not entries:
            kept = self._targets[up_to] = entries, Targets(self._store, self._names, up_to)
        return kept[1]

    def leading(self, entry: DocumentEntry, targets: Targets) -> list[DocumentEntry]:
        """Where a document leads, each once and without itself."""
        links = self._known.get(entry.key, (entry, ()))[1]
        found = {one.key: one for link in links if (one := targets.of(link))}
        found.pop(entry.key, None)
        return list(found.values())

    def back(self, entry: DocumentEntry, up_to: Tier) -> list[DocumentEntry]:
        """The documents that lead to one, in the order of their keys."""
        targets = self.targets(up_to)
        found = []
        for other in self._store.entries(up_to):
            links = self._known.get(other.key, (other, ()))[1]
            if other.key != entry.key and any(
                (to := targets.of(link)) and to.key == entry.key for link in links
            ):
                found.append(other)
        return found


def links_of(document: Document) -> Iterator[Link]:
    """The links of a document, in its text and then in its fields."""
    told = "\n".join(text for text, is_code in runs(document.content) if not is_code)
    told = _CODE.sub(" ", told)
    for scripts in SCRIPTS:
        told = scripts.sub(" ", told)
    body = _ROOT.sub("", _TEMPLATED.sub(r"\1", told))
    for match in _WIKI.finditer(CONTENTS.sub("", _TABLE.sub("", body))):
        name = match[1].strip()
        yield Link((name,), False, match[0], not addresses.names_a_file(name))
    for pattern in (_LINK, _DEFINED, _HREF):
        for match in pattern.finditer(body):
            written = next(filter(None, match.groups()))
            if paths := addresses.meant(written, document):
                yield Link(paths, True, written, addresses.names_a_note(written))
    for name in _FIELDS:
        for said in getattr(document.metadata, name, None) or ():
            yield Link((_unbracketed(said),), False, said)


def _by_last_part(paths: Iterable[str]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[posixpath.basename(path)].append(path)
    return found


def _ending(stem: str, by_last_part: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The paths that end in another one; none does in an empty one."""
    some = by_last_part.get(posixpath.basename(stem), ()) if stem else ()
    return (one for one in some if f"/{one}".endswith(f"/{stem}"))


def _height(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _shared_folders(path: str, other: str) -> int:
    """How many folders two paths have in common, from the root on."""
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _unbracketed(name: str) -> str:
    inner = name.strip().removeprefix("[[").removesuffix("]]")
    return inner.partition("|")[0].strip()
