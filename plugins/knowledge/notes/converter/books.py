"""EPUB as Markdown: its chapters in their order, without its table of contents."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from defusedxml import ElementTree

from plugins.knowledge.notes.converter import web
from plugins.knowledge.notes.converter.properties import Properties

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_NO_TEXT = re.compile(
    r"(?:image/(?!svg)|audio/|video/|font/|text/css|application/(?!x?html|xml|x-d))"
)
"""Kinds of files that hold no text, as the package names them."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class Encrypted(ValueError):
    """A book whose text cannot be read without a key."""


def convert(data: bytes) -> str:
    """Make Markdown of a book; its package document names title, date, language and authors."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        container = ElementTree.fromstring(archive.read(_CONTAINER))
        path = container.find(".//{*}rootfile").get("full-path")
        package = ElementTree.fromstring(archive.read(path))
        names = [*_spine(archive, package, path)]
        if not _encrypted(archive).isdisjoint(names):
            raise Encrypted
        chapters = [_chapter(archive.read(name)) for name in names]

    def said(name: str) -> list[str]:
        return [one.text for one in package.findall(f".//{{*}}metadata/{{*}}{name}") if one.text]

    title, date, language = (next(iter(said(name)), "") for name in ("title", "date", "language"))
    properties = Properties(title, date, language, said("creator"))
    return properties.with_text("\n\n".join(filter(None, chapters)))


def _spine(archive: zipfile.ZipFile, package: Any, path: str) -> Iterator[str]:
    """The chapters' names in the archive, in reading order, each once."""
    listed = {one.get("id"): one for one in package.findall(".//{*}item")}
    names = set(archive.namelist())
    for reference in package.findall(".//{*}itemref"):
        item = _readable(listed, reference.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split():
            continue
        href = item.get("href") or ""
        for written in (unquote(href), href):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
            if name in names:
                names.remove(name)
                yield name
                break


def _readable(listed: Mapping[str | None, Any], name: str | None) -> Any:
    """An item with text: the one of a name, or what stands in for it; None where none has any."""
    passed = set[str | None]()
    while (item := listed.get(name)) is not None and name not in passed:
        if not _NO_TEXT.match(item.get("media-type") or ""):
            return item
        passed.add(name)
        name = item.get("fallback")
    return None


def _encrypted(archive: zipfile.ZipFile) -> set[str]:
    """The names of what no reader can open without a key, as the archive lists them."""
    if _ENCRYPTION not in archive.namelist():
        return set()
    found = ElementTree.fromstring(archive.read(_ENCRYPTION)).iter()
    return {unquote(one.get("URI") or "") for one in found if one.tag.endswith("CipherReference")}


def _chapter(data: bytes) -> str:
    soup = web.parsed(data)
    root = soup.body or soup
    web.clean(root)
    for link in root("a", href=_is_within):
        if not str(link["href"]).startswith("#"):
            link.unwrap()
    for picture in root("img", src=_is_within):
        del picture["src"]
    return web.markdown(root)


def _is_within(address: str | None) -> bool:
    """Whether an address leads into the book, which nobody can open from its text."""
    return address is not None and _SCHEME.match(address) is None
