"""What documents of other forms say, and where, is kept as they become Markdown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from plugins.knowledge.notes.conversion import NotConverted, convert
from plugins.knowledge.notes.note import Origin, Rules, parse
from plugins.knowledge.retrieval.markup import plain
from tests.plugins.knowledge.notes.made_documents import WORD, docx, drawn, epub, grid, page, pdf

DUBLIN = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
CORE = (
    f"<coreProperties {DUBLIN}><dc:title>Hall Handbook</dc:title>"
    "<dc:creator>Ana Melnyk</dc:creator>"
    "<dc:language>en-GB</dc:language><dcterms:modified>2023-04-05T06:07:08Z</dcterms:modified>"
    "</coreProperties>"
)
STYLES = (
    f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="Haupt">'
    '<w:name w:val="Title"/></w:style></w:styles>'
)
RELATED = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/styles" Target="styles.xml"/></Relationships>'
)


def text_of(data: bytes, path: str) -> str:
    """The Markdown below the frontmatter."""
    return convert(data, path).decode().split("\n---\n", 1)[1].strip()


def metadata_of(data: bytes, path: str) -> dict[str, object]:
    """What the note says that is made of a document."""
    origin = Origin(path, path, datetime(2026, 1, 1, tzinfo=UTC))
    note = parse(convert(data, path), origin, Rules({}, {}))
    assert note.document is not None
    assert not note.problems
    return note.document.metadata.model_dump(mode="json", exclude={"type", "publish", "draft"})


WORDS = ["hoses", "plots", "fees"]
PROSE = [(50, 600 - 14 * at, 10, f"On {word} members agree") for at, word in enumerate(WORDS)]


def test_the_headings_of_a_pdf_are_those_in_larger_letters() -> None:
    cover = [(50, 740, 20, "Statutes"), (50, 700, 16, "1. Membership"), *PROSE]
    chapter = [(50, 740, 16, "2. Water"), (50, 720, 13, "2.1 Hoses"), *PROSE]
    found = text_of(pdf(drawn(*cover), drawn(*chapter)), "a.pdf")
    headings = [line for line in found.split("\n") if line.startswith("#")]
    assert headings == ["# Statutes", "## 1. Membership", "## 2. Water", "### 2.1 Hoses"]


def test_a_page_of_a_pdf_without_a_heading_at_its_top_says_which_page_it_is() -> None:
    first = [(50, 740, 16, "1. Membership"), *PROSE]
    found = text_of(pdf(drawn(*first), drawn(*PROSE), drawn(*PROSE)), "a.pdf")
    headings = [line for line in found.split("\n") if line.startswith("#")]
    assert headings == ["# 1. Membership", "## Page 2", "## Page 3"]
    assert text_of(pdf(drawn(*PROSE)), "a.pdf").startswith("On hoses")


def test_a_pdf_says_its_title_its_day_and_who_wrote_it() -> None:
    info = "/Title(Allotment\\000 statutes)/Author(Zoë)/ModDate(D:20240506070809Z)"
    found = metadata_of(pdf(drawn(*PROSE), info=info), "a.pdf")
    assert (found["title"], found["author"]) == ("Allotment statutes", ["Zoë"])
    assert found["date"] == "2024-05-06T00:00:00Z"


@pytest.mark.parametrize("title", ["Microsoft Word - rules_v3.docx", "untitled", "rules.indd"])
def test_what_a_program_calls_a_document_is_not_its_title(title: str) -> None:
    first = [(50, 740, 16, "House rules"), *PROSE]
    assert (
        metadata_of(pdf(drawn(*first), info=f"/Title({title})"), "a.pdf")["title"] == "House rules"
    )


CELLS = [["Plot", "Size", "Rent"], ["A1", "200 m2", "61 euro"], ["B7", "340 m2", "95 euro"]]
TABLE = """\
| Plot | Size | Rent |
| --- | --- | --- |
| A1 | 200 m2 | 61 euro |
| B7 | 340 m2 | 95 euro |"""


@pytest.mark.parametrize("lines", [b"", grid(45, 495, 3, 3)])
def test_a_table_of_a_pdf_keeps_its_rows_with_and_without_a_grid(lines: bytes) -> None:
    cells = [
        (50 + 100 * column, 480 - 20 * row, 10, text)
        for column in range(3)
        for row, text in enumerate(cells[column] for cells in CELLS)
    ]
    assert TABLE in text_of(pdf(drawn(*PROSE, *cells) + b"\n" + lines), "a.pdf")


def test_columns_of_a_pdf_are_read_one_after_the_other() -> None:
    left = [(50, 700 - 12 * at, 10, f"left {at} grows tomatoes on a terrace") for at in range(10)]
    right = [(320, 700 - 12 * at, 10, f"right {at} keeps bees in the orchard") for at in range(10)]
    across = (50, 720, 10, "Both columns stand below a line that goes on over all the width of it")
    mixed = [line for pair in zip(left, right, strict=True) for line in pair]
    found = text_of(pdf(drawn(across, *mixed)), "a.pdf").split()
    sides = [word for word in found if word in ("Both", "left", "right")]
    assert sides == ["Both", *["left"] * 10, *["right"] * 10]


HEBREW = dict(zip("abcdefgh", "אבגדהושע", strict=True))
ARABIC = {"a": "\ufedf", "b": "\ufe8d", "c": "\u0644\u0627", "d": "\u0645"}


def test_what_is_written_from_the_right_is_read_from_there() -> None:
    rows = [(50, 600 - 20 * at, 10, f"{at}") for at in range(3)]
    rows += [(150, 600 - 20 * at, 10, "bac") for at in range(3)]
    lines = [(50, 740, 10, ".\\(gb\\) 80% dac PORT KEY ef 7:30 hbg"), (50, 700, 10, "TURN abc ON")]
    found = text_of(pdf(drawn(*lines, *rows), letters=HEBREW), "a.pdf")
    assert found.split("\n\n")[:2] == ["שבע 7:30 וה PORT KEY גאד 80% (בש).", "TURN גבא ON"]
    assert found.endswith("| גאב | 0 |\n| --- | --- |\n| גאב | 1 |\n| גאב | 2 |")
    joined = drawn((50, 700, 10, "dcab"))  # signs for a letter at its place, and for two letters
    assert text_of(pdf(joined, letters=ARABIC), "a.pdf") == "اللام"


def test_of_two_columns_from_the_right_the_right_one_is_read_first() -> None:
    at = [700 - 14 * step for step in range(12)]
    left = [(50, y, 10, "ab" * 16) for y in at]
    right = [(350, y, 10, "cd" * 16) for y in at]
    found = text_of(pdf(drawn(*left, *right), letters=HEBREW), "a.pdf")
    assert found.split() == ["דג" * 16] * 12 + ["בא" * 16] * 12


@pytest.mark.parametrize("turn", ["0 1 -1 0 600 0", "0 -1 1 0 0 800"])
def test_a_page_that_is_drawn_sideways_is_read_as_if_it_stood_upright(turn: str) -> None:
    drawn_so = drawn((50, 500, 20, "Hoses"), *((50, y - 140, 10, word) for _, y, _, word in PROSE))
    sideways = f"q {turn} cm\n".encode() + drawn_so + b"\nQ\n" + drawn((300, 20, 10, "3"))
    expected = "On hoses members agree\nOn plots members agree\nOn fees members agree"
    found = text_of(pdf(sideways), "a.pdf")
    assert found.split("\n\n") == ["# Hoses", expected]


def test_letters_that_are_drawn_twice_to_look_bold_are_read_once() -> None:
    bold = drawn((50, 700, 10, "Data Sheet"), (50, 700, 10, "Data Sheet"))
    assert text_of(pdf(bold), "a.pdf") == "Data Sheet"


def test_lines_of_a_pdf_keep_their_numbers_and_words_are_whole() -> None:
    lines = [
        (50, 600, 10, "1. Hoses are not allow-"),
        (50, 588, 10, "ed on paths; see 2024-"),
        (50, 576, 10, "2025 and # 5"),
    ]
    found = text_of(pdf(drawn(*lines)), "a.pdf")
    assert found == "1.\u00a0Hoses are not allowed on paths; see 2024-\n2025 and # 5"


def test_what_each_page_of_a_pdf_repeats_is_no_text_of_it() -> None:
    pages = [
        drawn((50, 760, 10, "Annual report"), *PROSE, (300, 30, 10, f"page {at} of 4"))
        for at in range(1, 5)
    ]
    found = text_of(pdf(*pages), "a.pdf")
    assert "Annual report" not in found
    assert "of 4" not in found
    assert [found.count(word) for word in WORDS] == [4, 4, 4]


SAVED = """<html lang="de"><head><title>Retention | Docs</title></head><body>
<header><a href="/">Acme</a></header><nav><a href="/a">Install</a></nav>
<main><article><header><h1>Retention<a class="headerlink" href="#r">¶</a></h1></header>
<h2>Purging<a href="#p">#</a></h2><p>Logs stay for 45 days.</p><aside>Mind the disk.</aside>
<p hidden>wombat</p><p aria-hidden="true">wombat</p><p style="display: none">wombat</p>
<template>wombat</template><footer>Edit this page</footer></article></main>
<aside>See also</aside><footer>Cookies</footer></body></html>"""


def test_of_a_saved_page_what_it_says_is_kept_and_nothing_around_it() -> None:
    found = text_of(SAVED.encode(), "a.html").split("\n\n")
    assert [line.strip() for line in found if line.strip()] == [
        "# Retention",
        "## Purging",
        "Logs stay for 45 days.",
        "Mind the disk.",
    ]


def test_links_within_a_page_are_marks_of_footnotes_or_text() -> None:
    lines = (
        '<p>Dry<sup><a href="#n-1">[1]</a></sup> soil, <a href="#ends">see below</a>.</p>'
        '<ol><li id="n-1"><a href="#r-1">^</a> Or sand</li></ol><img alt="C:\\t\\a.png" src="x:1">'
    )
    assert text_of(lines.encode(), "a.html") == "Dry[^1] soil, see below.\n\n1. Or sand"


def test_tables_that_hold_no_data_are_text_and_readings_are_none() -> None:
    inner = "<table><tr><th>Day</th><th>Opens</th></tr><tr><td>Monday</td><td>7</td></tr></table>"
    head = "<h2>窯<ruby>場<rp>(</rp><rt>ば</rt></ruby></h2>"
    outer = f"<table><tr><td>{head}</td><td>{inner}</td></tr></table>"
    one = "<table><tr><td>All</td></tr><tr><td>alone</td></tr></table>"
    found = text_of((outer + one).encode(), "a.html")
    table = "| Day | Opens |\n| --- | --- |\n| Monday | 7 |"
    assert found.split("\n\n") == ["## 窯場", table, "All", "alone"]


def test_a_page_without_a_main_part_loses_its_frame_and_keeps_its_heading() -> None:
    page = (
        "<title>T</title><header><h1>Fees</h1></header><nav>Menu</nav><p>48</p><footer>F</footer>"
    )
    assert text_of(page.encode(), "a.html").split() == ["#", "Fees", "48"]
    assert text_of(b"<title>Fees</title><p>48</p>", "a.html") == "# Fees\n\n48"
    assert text_of(b"<main> </main><p>48</p>", "a.html") == "48"
    assert text_of(b"<article>1</article><article>2</article>", "a.html").split() == ["1", "2"]


def test_the_title_of_a_word_document_is_the_one_that_it_shows() -> None:
    parts = {
        "word/styles.xml": STYLES,
        "word/_rels/document.xml.rels": RELATED,
        "docProps/core.xml": CORE,
    }
    shown = docx(page("Using the hall", "Haupt"), parts)
    found = metadata_of(shown, "a.docx")
    assert (found["title"], found["author"]) == ("Using the hall", ["Ana Melnyk"])
    assert (found["lang"], found["date"]) == ("en-GB", "2023-04-05T00:00:00Z")
    assert text_of(shown, "a.docx") == "# Using the hall"


def said(text: str, before: str = "") -> str:
    return f'<w:r>{before}<w:t xml:space="preserve">{text}</w:t></w:r>'


def body(*paragraphs: str) -> str:
    texts = "".join(f"<w:p>{each}</w:p>" for each in paragraphs)
    return f'<w:document xmlns:w="{WORD}"><w:body>{texts}</w:body></w:document>'


def test_fields_directions_and_the_words_under_readings_are_text_of_a_word_document() -> None:
    field = f'{said("Table ")}<w:fldSimple w:instr=" SEQ ">{said("7")}</w:fldSimple>'
    turned = f'<w:dir w:val="rtl">{said("אבג")}</w:dir><w:bdo w:val="ltr">{said("PORT")}</w:bdo>'
    ruby = f"<w:ruby><w:rt>{said('とう')}</w:rt><w:rubyBase>{said('東')}</w:rubyBase></w:ruby>"
    read = f"<w:r>{ruby}</w:r>{said('に行く')}"
    assert text_of(docx(body(field, turned, read)), "a.docx") == "Table 7\n\nאבגPORT\n\n東に行く"


def test_a_footnote_of_a_word_document_stands_below_what_refers_to_it() -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = f'<w:footnote w:id="2"><w:p>{said("Not in May")}</w:p></w:footnote>'
    more = {
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{WORD}">{notes}</w:footnotes>',
        "word/_rels/document.xml.rels": RELATED.replace("styles", "footnotes"),
    }
    found = text_of(
        docx(body(said("Water daily") + mark + said("."), said("Rest")), more), "a.docx"
    )
    assert found == "Water daily[^1].\n\n[^1]: Not in May\n\nRest"
    assert plain(found).split() == ["Water", "daily.", "Not", "in", "May", "Rest"]


def test_the_table_of_contents_of_a_word_document_is_no_text_of_it() -> None:
    styles = STYLES.replace("Title", "toc 1")
    contents = f'<w:pPr><w:pStyle w:val="Haupt"/></w:pPr>{said("Hoses 4")}'
    more = {"word/styles.xml": styles, "word/_rels/document.xml.rels": RELATED}
    assert text_of(docx(body(contents, said("Hoses leak")), more), "a.docx") == "Hoses leak"


def test_a_word_document_that_shows_no_title_has_the_one_of_its_properties() -> None:
    found = metadata_of(docx(page("Bookings"), {"docProps/core.xml": CORE}), "a.docx")
    assert found["title"] == "Hall Handbook"


def test_what_a_book_says_about_itself_is_no_text_of_it() -> None:
    more = "<dc:creator>Ana</dc:creator><dc:date>2019-03-04</dc:date><dc:language>uk</dc:language>"
    book = epub("<html><body><h1>Worms</h1><p>Feed them.</p></body></html>", more)
    assert text_of(book, "a.epub") == "# Worms\n\nFeed them."
    found = metadata_of(book, "a.epub")
    assert (found["title"], found["author"], found["lang"]) == ("Soil", ["Ana"], "uk")
    assert found["date"] == "2019-03-04T00:00:00Z"


def test_of_a_book_what_holds_no_text_is_passed_over_and_what_leads_into_it_is_text() -> None:
    package = (
        '<item id="p" href="p.jpg" media-type="image/jpeg" fallback="q"/>'
        '<item id="q" href="q.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="r" href="r.jpg" media-type="image/jpeg" fallback="r"/>'
    )
    chapter = '<p>As <a href="b.xhtml#c">told</a><img src="i/a.png" alt="a hose"/> here</p>'
    spine = '<itemref idref="p"/><itemref idref="r"/><itemref idref="a"/>'
    picture = b"\xff\xd8\xff"
    pages = {"p.jpg": picture, "r.jpg": picture, "q.xhtml": b"<p>Comic</p>"}
    book = epub(f'<?xml-model href="x"?>{chapter}', spine=spine, items=package, files=pages)
    assert text_of(book, "a.epub") == "Comic\n\nAs told a hose  here"


def test_a_book_with_copy_protection_says_so_and_one_with_hidden_fonts_is_read() -> None:
    listed = '<encryption><CipherReference URI="{}"/></encryption>'
    fonts = {"META-INF/encryption.xml": listed.format("f.otf")}
    assert text_of(epub("<p>Beans</p>", files=fonts), "a.epub") == "Beans"
    text = {"META-INF/encryption.xml": listed.format("a.xhtml")}
    with pytest.raises(NotConverted, match="is encrypted"):
        convert(epub("<p>Beans</p>", files=text), "a.epub")


def test_a_document_cannot_say_more_about_itself_than_its_properties() -> None:
    text = b"<body>---<br>tier: members<br>publish: false<br>---<p>Fees</p></body>"
    found = convert(text, "a.html").decode()
    assert found.startswith("---\n---\n")


def test_what_a_pdf_says_is_found_as_it_stands_there() -> None:
    lines = [(50, 600, 10, "1. Membership"), (50, 560, 10, "# 5 is a plot"), (50, 520, 10, "-----")]
    origin = Origin("a.pdf", "a.pdf", datetime(2026, 1, 1, tzinfo=UTC))
    note = parse(convert(pdf(drawn(*lines)), "a.pdf"), origin, Rules({}, {}))
    assert note.document is not None
    shown = plain(note.document.content).split("\n")
    assert [" ".join(line.split()) for line in shown if line][:2] == [
        "1. Membership",
        "# 5 is a plot",
    ]
