"""What an address in a document may mean, and which addresses a document has beside its file's.

A generator of sites serves a page at an address that follows from its file, unless the page states
another. Where the root of the site lies is not known here: it is some folder above the document.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from urllib.parse import unquote

from gateway.toolkit.web_addresses import address_parts
from plugins.knowledge.notes import conversion
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.paths import SUFFIXES

MAX_STATED = 20
"""Addresses of a document that count: none is found at every one."""
_FILE_ENDING = re.compile(r"(?<=\w)\.(?=[0-9]{0,3}[a-z])[a-z0-9]{1,10}$", re.IGNORECASE)
_PAGE_SUFFIXES = (".html", ".htm")
"""How a site may end the address of a page that it made from a note."""
_OF_FOLDERS = ("index", "readme", "_index", ".")
"""Names of files that stand for their folder; Hugo calls that of a list of pages ``_index.md``."""
_LANGUAGE = re.compile(r"[a-z]{2}(?:-[a-z]{2,4})?")
_STATED_IN = ("permalink", "slug", "id", "redirect_from", "aliases")
"""Fields that state addresses on the site: Jekyll's, Hugo's, Docusaurus's and Starlight's."""
_OF_A_NAME = ("slug", "id")
"""Those that state the last part of one."""
_POST = re.compile(r"(?P<folder>(?:[^/]+/)*?)(?:_posts/)?(?P<day>\d{4}-\d\d-\d\d)-(?P<name>[^/]+)")
"""A post of a blog, which Docusaurus and Jekyll serve below its day."""


def meant(address: str, base: DocumentEntry) -> tuple[str, ...]:
    """The stems of the paths that an address may mean, the likeliest first; none is no document's.

    One that begins with a slash counts from the root of the site. One without an ending may count
    from the page's address, as a browser reads it, and not from its file; and the page may state
    that address. Where a page is not translated, many sites lead to the English one, and many have
    English pages at their root that lie in a folder ``en``.

    Args:
        address: as it is written.
        base: the document that it is written in.
    """
    parts = address_parts(address)
    path = unquote(parts.path)
    made = "{" in address  # by a template, which alone knows what of
    if made or parts.scheme or parts.netloc or not path or not _may_be_a_document(path):
        return ()
    folder = posixpath.dirname(base.path)
    if path.startswith("/"):
        found = [stem(posixpath.join(root, path.strip("/"))) for root in _roots(folder)]
    else:
        folders = (folder,) if _ending(path) else (folder, stem(base.path), *stated(base))
        found = [stem(posixpath.normpath(posixpath.join(one, path))) for one in folders]
    return (*found, *_in_english(found, folder))


def names_a_note(address: str) -> bool:
    """Whether an address can be nothing but a note's; another may be that of any file.

    A site's own front page is often none.
    """
    path = address_parts(address).path
    return path.strip("/") != "" and _ending(path) in ("", *SUFFIXES)


def names_a_file(name: str) -> bool:
    """Whether a name is that of a file that is no note: ``plan.pdf``, and not ``Version 1.2``."""
    ending = _FILE_ENDING.search(name)
    return ending is not None and ending[0].lower() not in SUFFIXES


def is_file(name: str) -> bool:
    """Whether a name is that of a note's file, such as ``newer.md``."""
    return name.lower().endswith(SUFFIXES)


def stated(entry: DocumentEntry) -> Iterator[str]:
    """The stems of the paths at which a document says that its site serves it."""
    folder = posixpath.dirname(entry.path)
    for name, address in islice(_said(entry), MAX_STATED):
        path = address.strip("/")
        if path and (address.startswith("/") or (name == "slug" and "/" in path)):
            yield from (stem(posixpath.join(root, path)) for root in _roots(folder))
        elif path and name in _OF_A_NAME:
            yield stem(posixpath.join(folder, path))
    if post := _POST.fullmatch(stem(entry.path)):
        yield f"{post['folder']}{post['day'].replace('-', '/')}/{post['name']}"


def stem(path: str) -> str:
    """A path without what different writers leave out: the ending, and an ``index``.

    macOS gives file names with marks that stand apart from their letters; links seldom have these.
    """
    lower = _plain(path).rstrip("/")
    ending = next((one for one in (*SUFFIXES, *_PAGE_SUFFIXES) if lower.endswith(one)), "")
    folder, _, name = lower.removesuffix(ending).rpartition("/")
    return folder if name in _OF_FOLDERS else posixpath.join(folder, name)


def _said(entry: DocumentEntry) -> Iterator[tuple[str, str]]:
    """What the fields for addresses say, each with the field's name."""
    fields = entry.metadata
    known = {"permalink": fields.permalink, "aliases": fields.aliases} | (fields.model_extra or {})
    for name in _STATED_IN:
        said = known.get(name)
        for address in said if isinstance(said, list) else [said]:
            if isinstance(address, str):
                yield name, address


def _may_be_a_document(path: str) -> bool:
    return _ending(path) in ("", *SUFFIXES, *_PAGE_SUFFIXES, *conversion.SUFFIXES)


def _ending(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def _roots(folder: str) -> Iterator[str]:
    """The folders that may be the root of the site, from the source's own down to ``folder``."""
    return accumulate(folder.split("/") if folder else (), posixpath.join, initial="")


def _in_english(paths: Iterable[str], folder: str) -> Iterator[str]:
    """Paths below a folder that is called by a language, as they are below ``en`` beside it."""
    folders = _plain(folder).split("/")
    for depth, name in enumerate(folders):
        if _LANGUAGE.fullmatch(name):
            above = "/".join((*folders[:depth], ""))
            own = f"{above}{name}/"
            below = (one[len(own) :] for one in paths if f"{one}/".startswith(own))
            yield from (f"{above}en/{one}".rstrip("/") for one in below)


def _plain(path: str) -> str:
    return unicodedata.normalize("NFC", path).lower()
