"""PDF, DOCX, HTML and EPUB become Markdown, and what was made to harm harms nobody."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from plugins.knowledge.config import KnowledgeConfig, SourceConfig
from plugins.knowledge.inspection import inspect
from plugins.knowledge.notes import conversion
from plugins.knowledge.notes.conversion import NotConverted, convert
from plugins.knowledge.notes.converter import program
from plugins.knowledge.notes.layouts import recognise
from tests.plugins.knowledge.notes.made_documents import docx, epub, page, pdf, zipped

HTML = b"""<html><head><title>Compost</title></head><body><p>Turn the heap <b>weekly</b>.</p>
<script>track()</script></body></html>"""
DRAWN = b"BT /F 12 Tf 50 700 Td (Water the beans) Tj ET"


@pytest.mark.parametrize(
    ("path", "data", "text"),
    [
        ("a.html", HTML, "# Compost\n\nTurn the heap **weekly**."),
        ("a/b.HTM", HTML, "# Compost\n\nTurn the heap **weekly**."),
        ("a.docx", docx(page("Mulching")), "# Mulching"),
        ("a.epub", epub("<html><body><h1>Worms</h1></body></html>"), "# Worms"),
        ("a.pdf", pdf(DRAWN), "Water the beans"),
    ],
)
def test_a_document_becomes_markdown(path: str, data: bytes, text: str) -> None:
    found = convert(data, path).decode()
    assert text in found
    assert "track" not in found


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.docx", b"", "is empty"),
        ("a.html", b"", "is empty"),
        ("a.pdf", docx(page("Mulching")), "is a Word file by its content: rename it to .docx"),
        ("a.docx", pdf(DRAWN), "is a PDF by its content: rename it to .pdf"),
        ("a.docx", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500), "is encrypted, or of an old"),
        ("a.pdf", pdf(DRAWN, encrypted=True), "is encrypted: save it without its password"),
        ("a.pdf", HTML, "is a web page by its content: rename it to .html"),
        ("a.docx", b"{\\rtf1 Mulch}", "is an RTF file by its content: export it as PDF"),
        ("a.docx", zipped({"xl/workbook.xml": ""}), "is an Excel file by its content"),
        ("a.html", pdf(DRAWN), "is a PDF by its content: rename it to .pdf"),
        ("a.html", docx(page("Mulching")), "is a Word file by its content: rename it to .docx"),
        ("a.html", zipped({"x": "y"}), "is an archive by its content: export it"),
        ("a.htm", b"\x89PNG\r\n\x1a\n" + bytes(99), "is a picture by its content: export it"),
        ("a.html", HTML.decode().encode("utf-16-le"), "is no text by its content: export it"),
        ("a.pdf", b"no PDF", r"cannot be converted \(No /Root object"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(path: str, data: bytes, reason: str) -> None:
    with pytest.raises(NotConverted, match=reason):
        convert(data, path)


@pytest.mark.parametrize(
    ("path", "data"),
    [("a.pdf", b"no PDF"), ("a.docx", b"PK\3\4broken"), ("a.epub", zipped({"x": "y"}))],
)
def test_what_is_broken_says_so(path: str, data: bytes) -> None:
    with pytest.raises(NotConverted, match="cannot be converted"):
        convert(data, path)


def test_a_page_in_utf_16_is_read_by_its_mark_and_windows_signs_are_what_they_look_like() -> None:
    assert "Turn the heap" in convert(HTML.decode().encode("utf-16"), "a.html").decode()
    told = b'<meta charset="iso-8859-1"><p>It\x92s 5 \x80\x00 now</p>'
    assert "It\u2019s 5 € now" in convert(told, "a.html").decode()


def test_a_document_without_text_is_served_by_its_name_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(pdf(b"50 50 100 100 re f"))
    (tmp_path / "untold.html").write_bytes(b"<head><title>Untold</title></head><body/>")
    (tmp_path / "drawn.pdf").write_bytes(pdf(DRAWN))
    source = SourceConfig(directory=tmp_path, publish="all", documents=True)
    found = inspect(tmp_path, KnowledgeConfig(sources=(source,)))
    assert (found.served.total(), found.errors) == (3, 0)
    assert [Path(one.path).name for one in found.problems] == ["scan.pdf", "untold.html"]
    assert {one.severity for one in found.problems} == {"warning"}
    assert "has no text" in found.problems[0].reason


BOMBS: dict[str, Callable[[], bytes]] = {
    "a.docx": lambda: docx(page("x" * 2**26)),
    "a.epub": lambda: epub(b"<p>" * 2_000_000),
    "a.html": lambda: b"<div>" * 100_000,
    "a.pdf": lambda: pdf(zlib.compress(zlib.compress(bytes(2**28))), how=TWICE),
}
TWICE = "/Filter[/FlateDecode/FlateDecode]"


@pytest.mark.heavy
@pytest.mark.parametrize("path", BOMBS)
def test_a_bomb_ends_its_own_process_and_nothing_else(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "CPU_S", 4)
    refused = pytest.raises(NotConverted, match=r"it is not read|cannot be converted|split it")
    # The others come to nothing, if they come to an end.
    with refused if path in {"a.docx", "a.epub"} else suppress(NotConverted):
        assert len(convert(BOMBS[path](), path)) <= conversion.MAX_TEXT_BYTES


def test_however_much_the_converter_says_the_portal_holds_little_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = tmp_path / "says.py"
    says.write_text("import sys\nsys.stderr.write('fault\\n' * 2**22 + 'the last')\nsys.exit(1)")
    monkeypatch.setattr(program, "__file__", str(says))
    tracemalloc.start()
    try:
        with pytest.raises(NotConverted, match=r"cannot be converted \(the last\)"):
            convert(HTML, "a.html")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_a_chapter_that_a_book_names_often_is_read_once() -> None:
    book = epub("<h1>Soil</h1><p>It is dark.</p>", spine='<itemref idref="a"/>' * 10_000)
    assert convert(book, "a.epub").count(b"It is dark.") == 1


def test_what_takes_too_long_or_gives_too_much_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversion, "MAX_TEXT_BYTES", 20)
    with pytest.raises(NotConverted, match="of text; split it"):
        convert(HTML, "a.html")
    monkeypatch.setattr(conversion, "TIMEOUT_S", 0.001)
    with pytest.raises(NotConverted, match="takes longer than"):
        convert(HTML, "a.html")


def test_without_the_converter_each_document_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversion, "is_available", lambda: False)
    with pytest.raises(NotConverted, match="make documents"):
        convert(HTML, "a.html")


def test_documents_are_served_where_the_source_says_so_and_by_what_it_publishes(
    tmp_path: Path,
) -> None:
    (tmp_path / "compost.html").write_bytes(HTML)
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    (tmp_path / "note.md").write_text("# A note")
    assert recognise(tmp_path).settings["documents"] == ["pdf"]

    def report(**settings: object) -> tuple[int, int, int]:
        source = SourceConfig.model_validate({"directory": tmp_path, **settings})
        found = inspect(tmp_path, KnowledgeConfig(sources=(source,)))
        return found.files, found.served.total(), found.errors

    assert report(publish="all") == (1, 1, 0)
    assert report(publish="all", documents=True) == (3, 2, 1)
    assert report(documents=True) == (3, 0, 0)
