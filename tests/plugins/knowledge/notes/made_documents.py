"""Small documents of other forms than Markdown, made from what they hold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zipped(files: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def docx(body: str | bytes, more: Mapping[str, str] | None = None) -> bytes:
    """A Word document; ``more``: further parts, by their names."""
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
            **(more or {}),
        }
    )


def page(text: str, style: str = "Heading1") -> str:
    return (
        f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
    )


def epub(
    chapter: str | bytes,
    more: str = "",
    spine: str = '<itemref idref="a"/>',
    *,
    items: str = "",
    files: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A book of one chapter.

    Args:
        chapter: the page ``a.xhtml``, whose item is ``a``.
        more: what else it says of itself.
        spine: its order.
        items: other items that it lists.
        files: other files in it.
    """
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book.opf"/></rootfiles></container>'
    )
    book = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Soil</dc:title>'
        f'{more}</metadata><manifest><item id="a" href="a.xhtml"/>{items}</manifest>'
        f"<spine>{spine}</spine></package>"
    )
    own = {"META-INF/container.xml": container, "book.opf": book, "a.xhtml": chapter}
    return zipped({**own, **(files or {})})


def pdf(
    *streams: bytes,
    how: str = "",
    info: str = "",
    encrypted: bool = False,
    letters: Mapping[str, str] | None = None,
) -> bytes:
    """Pages that are drawn by streams.

    Args:
        streams: one for each page.
        how: how they are packed.
        info: what the document says about itself.
        encrypted: whether it asks for a password, which there is none for.
        letters: what signs that are drawn stand for, where that is something else.
    """
    kids = " ".join(f"{5 + 2 * at} 0 R" for at in range(len(streams)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(streams)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/%s>>"
        % (_TOLD % (b"500 " * 256, 5 + 2 * len(streams)) if letters else b"Helvetica"),
        f"<<{info}>>".encode(),
    ]
    for at, stream in enumerate(streams):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>>>>>" % (6 + 2 * at)
        )
        head = f"<<{how}/Length {len(stream)}>>stream\n".encode()
        objects.append(head + stream + b"\nendstream")
    if letters:
        objects.append(_character_map(letters))
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + each + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    key = f"<{'00' * 32}>"
    asks = f"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O{key}/U{key}>>/ID[{key}{key}]"
    told = f"<</Size {len(objects) + 1}/Root 1 0 R/Info 4 0 R{asks if encrypted else ''}>>"
    end = f"trailer{told}\nstartxref\n{len(data)}\n%%EOF".encode()
    return data + head + table + end


_TOLD = b"Told/FirstChar 0/LastChar 255/Widths[%s]/ToUnicode %d 0 R"


def _character_map(letters: Mapping[str, str]) -> bytes:
    lines = [
        f"<{ord(each):02x}> <{said.encode('utf-16-be').hex()}>" for each, said in letters.items()
    ]
    text = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n1 begincodespacerange "
        f"<00> <ff> endcodespacerange\n{len(lines)} beginbfchar\n{chr(10).join(lines)}\n"
        "endbfchar\nendcmap end end"
    )
    return f"<</Length {len(text)}>>stream\n{text}\nendstream".encode()


def drawn(*lines: tuple[int, int, int, str]) -> bytes:
    """What draws lines of text: where each begins, the size of its letters, and what it says."""
    shown = (f"BT /F {size} Tf {x} {y} Td ({text}) Tj ET" for x, y, size, text in lines)
    return "\n".join(shown).encode("latin-1")


def grid(left: int, top: int, columns: int, rows: int, width: int = 100, height: int = 20) -> bytes:
    """What draws the lines of a table."""
    right, bottom = left + columns * width, top - rows * height
    across = [(left, right, y, y) for y in range(bottom, top + 1, height)]
    down = [(x, x, bottom, top) for x in range(left, right + 1, width)]
    strokes = (f"{x0} {y0} m {x1} {y1} l S" for x0, x1, y0, y1 in (*across, *down))
    return "\n".join(strokes).encode()
