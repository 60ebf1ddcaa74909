"""DOCX as Markdown."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import BinaryIO

import mammoth
from defusedxml import ElementTree

from plugins.knowledge.notes.converter import web
from plugins.knowledge.notes.converter.properties import Properties

STYLES = "p[style-name='Title'] => h1.title:fresh"
"""What is made of a style that the library does not know."""
_TEXT, _CORE = "word/document.xml", "docProps/core.xml"
_EQUATION = b"<m:oMath"


def convert(data: bytes) -> str:
    """Make Markdown of a document; its core properties name what its text does not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        properties = _properties(archive)
        has_equations = _TEXT in archive.namelist() and _EQUATION in archive.read(_TEXT)
    file: BinaryIO = io.BytesIO(data)
    if has_equations:  # importing what reads them takes longer than everything else
        from markitdown.converter_utils.docx.pre_process import pre_process_docx

        file = pre_process_docx(file)
    root = web.parsed(mammoth.convert_to_html(file, style_map=STYLES).value)
    if (title := root.find("h1", class_="title")) is not None:
        properties = replace(properties, title=title.get_text())
    return properties.with_text(web.markdown(root))


def _properties(archive: zipfile.ZipFile) -> Properties:
    if _CORE not in archive.namelist():
        return Properties()
    core = ElementTree.fromstring(archive.read(_CORE))

    def said(*names: str) -> str:
        return next((text for one in names if (text := core.findtext(f"{{*}}{one}"))), "")

    authors = said("creator").split(";")
    return Properties(said("title"), said("modified", "created"), said("language"), authors)
