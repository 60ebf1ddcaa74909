"""EPUB as Markdown: its chapters in their order, without its table of contents."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from defusedxml import ElementTree

from plugins.knowledge.notes.converter import web
from plugins.knowledge.notes.converter.properties import Properties

_CONTAINER = "META-INF/container.xml"


def convert(data: bytes) -> str:
    """Make Markdown of a book; its package document names title, date, language and authors."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        container = ElementTree.fromstring(archive.read(_CONTAINER))
        path = container.find(".//{*}rootfile").get("full-path")
        package = ElementTree.fromstring(archive.read(path))
        chapters = [_chapter(archive.read(one)) for one in _spine(archive, package, path)]

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
        item = listed.get(reference.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split():
            continue
        href = item.get("href") or ""
        for written in (unquote(href), href):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
            if name in names:
                names.remove(name)
                yield name
                break


def _chapter(data: bytes) -> str:
    soup = web.parsed(data)
    root = soup.body or soup
    web.clean(root)
    return web.markdown(root)
