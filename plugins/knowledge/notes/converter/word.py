"""DOCX as Markdown."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from typing import BinaryIO

import mammoth
from bs4 import Tag
from defusedxml import ElementTree

from plugins.knowledge.notes.converter import web
from plugins.knowledge.notes.converter.properties import Properties

STYLES = "\n".join(
    [
        "p[style-name='Title'] => h1.title:fresh",
        "p[style-name='TOC Heading'] => !",
        *(f"p[style-name='toc {level}'] => !" for level in range(1, 10)),
    ]
)
"""What is made of styles that the library does not know; of a table of contents nothing."""
_TEXT, _CORE = "word/document.xml", "docProps/core.xml"
_EQUATION = b"<m:oMath"
_PARTS = re.compile(r"\.(?:xml|rels)$")
_TEXTS = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml")
_UNKNOWN = re.compile(rb"(</?w:)(fldSimple|dir|bdo|ruby|rubyBase|rt)(?=[\s/>])")
"""What the library passes over with all that it holds: fields, runs of a direction, readings."""
_NO_TEXT = b"rt"
_NOTE = re.compile("(?:foot|end)note-")
_NO_PICTURES = mammoth.images.img_element(lambda _: {})


def convert(data: bytes) -> str:
    """Make Markdown of a document; its core properties name what its text does not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        properties = _properties(archive)
        has_equations = _TEXT in archive.namelist() and _EQUATION in archive.read(_TEXT)
        file: BinaryIO = _with_known_names(archive)
    if has_equations:  # importing what reads them takes longer than everything else
        from markitdown.converter_utils.docx.pre_process import pre_process_docx

        file = pre_process_docx(file)
    made = mammoth.convert_to_html(file, style_map=STYLES, convert_image=_NO_PICTURES)
    root = web.parsed(made.value)
    if (title := root.find("h1", class_="title")) is not None:
        properties = replace(properties, title=title.get_text())
    _place_notes(root)
    return properties.with_text(web.markdown(root))


def _with_known_names(archive: zipfile.ZipFile) -> io.BytesIO:
    """The document with its text in elements that the library reads, or leaves out."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as copy:
        for name in filter(_PARTS.search, archive.namelist()):
            text = archive.read(name)
            copy.writestr(name, _UNKNOWN.sub(_known, text) if _TEXTS.fullmatch(name) else text)
    return made


def _place_notes(root: Tag) -> None:
    """Have footnotes and endnotes stand below what refers to them, so that they are found there."""
    for note in reversed(root("li", id=_NOTE)):
        mark = root.find("a", href=f"#{note['id']}")
        if mark is None or mark.find_parent("li", id=_NOTE):
            continue
        block = next(one for one in (mark, *mark.parents) if one.parent is root)
        if (text := note.find("p")) is not None:
            text.unwrap()
        note.name = "p"
        note.insert(0, f"[^{web.label_of(mark)}]: ")
        block.insert_after(note.extract())


def _known(found: re.Match[bytes]) -> bytes:
    return found[1] + (b"del" if found[2] == _NO_TEXT else b"smartTag")


def _properties(archive: zipfile.ZipFile) -> Properties:
    if _CORE not in archive.namelist():
        return Properties()
    core = ElementTree.fromstring(archive.read(_CORE))

    def said(*names: str) -> str:
        return next((text for one in names if (text := core.findtext(f"{{*}}{one}"))), "")

    authors = said("creator").split(";")
    return Properties(said("title"), said("modified", "created"), said("language"), authors)
