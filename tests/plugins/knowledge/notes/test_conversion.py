"""PDF, DOCX, HTML and EPUB become Markdown, and what was made to harm harms nobody."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from plugins.knowledge.config import KnowledgeConfig, SourceConfig
from plugins.knowledge.inspection import inspect
from plugins.knowledge.notes import conversion
from plugins.knowledge.notes.conversion import NotConverted, convert
from plugins.knowledge.notes.layouts import recognise

HTML = b"""<html><head><title>Compost</title></head><body><p>Turn the heap <b>weekly</b>.</p>
<script>track()</script></body></html>"""
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zipped(files: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def docx(body: str | bytes) -> bytes:
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            'relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
            f'<Relationship Id="r" Type="{kind}" Target="word/document.xml"/></Relationships>',
            "word/document.xml": body,
        }
    )


def page(text: str) -> str:
    return (
        f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
    )


def epub(chapter: str | bytes) -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf"/></rootfiles></container>'
    )
    book = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Soil</dc:title>'
        '</metadata><manifest><item id="a" href="a.xhtml"/></manifest><spine>'
        '<itemref idref="a"/></spine></package>'
    )
    return zipped({"META-INF/container.xml": container, "book.opf": book, "a.xhtml": chapter})


def pdf(stream: bytes, how: str = "") -> bytes:
    """One page that is drawn by a stream."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>>>>>",
        f"<<{how}/Length {len(stream)}>>stream\n".encode() + stream + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + each + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n"
    end = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(data)
    return data + head + table + end


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
    ("path", "data"),
    [("a.pdf", b"no PDF"), ("a.docx", b"PK\3\4broken"), ("a.epub", zipped({"x": "y"}))],
)
def test_what_is_broken_says_so(path: str, data: bytes) -> None:
    with pytest.raises(NotConverted, match="cannot be converted"):
        convert(data, path)


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
    "a.pdf": lambda: pdf(zlib.compress(zlib.compress(bytes(2**28))), TWICE),
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
