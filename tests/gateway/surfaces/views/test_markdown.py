"""Markdown of others in a page of ours: read as text, and led nowhere it should not."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from gateway.surfaces.views.markdown import MAX_CHARACTERS, MAX_MARKS, markdown

EVIL = st.lists(
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[a](javascript:alert(1))",
            "[a](JaVaScRiPt:alert(1))",
            "[a](data:text/html;base64,PHN2Zz4=)",
            "![p](https://elsewhere.example/pixel.png)",
            '![p](x "onload=alert(1)")',
            "<https://a.example/?\"onmouseover='x'>",
            "`<b>`",
            "| a |\n|---|\n| <i> |",
            "\n",
            "\n\n",
            "# h\n",
            "\u202e",
            "&lt;script&gt;",
            '"',
            "'",
        ]
    ),
    max_size=8,
).map(" ".join)


@given(EVIL, st.booleans())
def test_nothing_of_it_runs_or_is_loaded(text: str, anchors: bool) -> None:
    drawn = str(markdown(text, anchors=anchors))
    tags = set(re.findall(r"<([a-z0-9]+)", drawn))
    assert not tags & {"script", "img", "iframe", "object", "style", "svg", "form", "input"}
    for attributes in re.findall(r"<[a-z0-9]+((?:\s[^<>]*)?)>", drawn):
        assert not re.search(r"\son\w+=", re.sub(r'"[^"]*"', '""', attributes))
    for address in re.findall(r'href="([^"]*)"', drawn):
        assert re.match(r"https?:|mailto:", address)


def test_of_a_very_long_text_the_beginning_is_shown() -> None:
    drawn = str(markdown("[a](https://a.example) " * 40_000))
    assert len(drawn) < 3 * MAX_CHARACTERS
    assert "the rest is not shown here" in drawn


@pytest.mark.parametrize(
    "part", ["![", "[", "a**b", "_a", "- a\n", "> a\n\n", "|-|\n", "1. a\n", "<http://a>", "a\n"]
)
def test_of_a_hostile_text_as_much_is_shown_as_takes_no_time(part: str) -> None:
    started = time.process_time()
    drawn = str(markdown(part * (400_000 // len(part)), anchors=True))
    assert "the rest is not shown here" in drawn
    assert time.process_time() - started < 4


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 2_000),
    st.integers(0, 20_000),
    st.sampled_from(["a", "|", "a|b", "-", ":-"]),
    st.sampled_from(["", "> ", "> > ", "   "]),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_tables_of_any_size_are_drawn_as_far_as_takes_no_time(
    columns: int, rows: int, row: str, before: str, end: str
) -> None:
    lines = ["|a" * columns, "|-" * columns, *[row] * rows]
    drawn = str(markdown("".join(f"{before}{line}{end}" for line in lines)))
    assert drawn.count("<") < 4 * MAX_MARKS + 100


def test_tables_of_ordinary_size_are_drawn_whole() -> None:
    table = "| day | who | what |\n|---|:-:|--:|\n" + "| Monday | Ana | waters |\n" * 1_000
    drawn = str(markdown(f"{table}\n- a list\n\n---\n\n" * 4))
    assert drawn.count("<tr>") == 4 * 1_001
    assert "the rest is not shown here" not in drawn


def test_of_a_text_of_many_pages_everything_is_shown() -> None:
    drawn = str(markdown("Ana lives in *Porto*, as [she](https://a.example) said. \n" * 4_000))
    assert drawn.count("Ana") == 4_000
    assert "the rest is not shown here" not in drawn


@pytest.mark.parametrize(
    "address", ["//evil.example/", "/signout", "signout", "javascript:x", "#a"]
)
def test_a_picture_leads_where_a_link_may_lead_and_nowhere_else(address: str) -> None:
    drawn = str(markdown(f"![A map]({address})"))
    assert "A map" in drawn
    assert "href" not in drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("# A\n\n## B", "<h2>A</h2>\n<h3>B</h3>\n"),
        ("see [it](other.md)", '<p>see <a rel="noreferrer">it</a></p>\n'),
        (
            "![A map](https://a.example/m.png)",
            '<p><a href="https://a.example/m.png" rel="noreferrer">A map</a></p>\n',
        ),
        ("~~old~~", "<p><s>old</s></p>\n"),
    ],
)
def test_it_stands_below_the_pages_own_heading(text: str, drawn: str) -> None:
    assert str(markdown(text)) == drawn


def test_addresses_lead_to_its_headings_where_a_page_asks_for_that() -> None:
    text = "# Who *pays*?\n\n## A `b`\n\n## A b\n\n[below](#a-b-1) [elsewhere](x.md#a-b)\n"
    drawn = str(markdown(text, anchors=True))
    assert re.findall(r'<h\d id="([^"]*)"', drawn) == [
        "section-who-pays",
        "section-a-b",
        "section-a-b-1",
    ]
    assert re.findall(r'href="([^"]*)"', drawn) == ["#section-a-b-1"]
    assert 'id="' not in str(markdown(text))


def test_a_heading_may_give_itself_an_id() -> None:
    text = "# Set up {#go .wide}\n\n## `x` { #x }\n\n## Go\n\n## {a: b}\n\n## <a href=x>It</a>"
    html = markdown(text, anchors=True)
    assert '<h2 id="section-go">Set up</h2>' in html
    assert '<h3 id="section-x"><code>x</code></h3>' in html
    assert '<h3 id="section-go-1">Go</h3>' in html
    assert "{a: b}</h3>" in html
    assert 'id="section-it"' in html


LEADS = {
    "[[Watering]]": Markup('href="/water"'),
    "[[Compost|the compost]]": Markup('href="/compost"'),
    "a%20b.md#x": Markup('href="/ab"'),
    "\u00fcber.md": Markup('href="/over"'),
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[Watering]]", '<a href="/water">Watering</a>'),
        ("![[Watering]]", '<a href="/water">Watering</a>'),
        ("*[[Compost|the compost]]*", '<em><a href="/compost">the compost</a></em>'),
        ("[a](a%20b.md#x)", '<a href="/ab">a</a>'),
        ("[a](<a b.md#x>)", '<a href="/ab">a</a>'),
        ("[a](%C3%BCber.md)", '<a href="/over">a</a>'),
        ("[[Ghost]] ! [", "[[Ghost]] ! ["),
        ("`[[Watering]]`", "<code>[[Watering]]</code>"),
        ("[a](b.md)", '<a rel="noreferrer">a</a>'),
    ],
)
def test_the_text_s_own_links_lead_where_the_page_says(text: str, shown: str) -> None:
    assert markdown(text, leads=LEADS).strip() == f"<p>{shown}</p>"


def test_a_heading_has_the_name_that_it_has_without_its_links() -> None:
    text = "# [[Compost|the compost]] today"
    (named,) = re.findall(r'id="[^"]+"', markdown(text, anchors=True))
    assert named in markdown(text, anchors=True, leads=LEADS)


@given(EVIL)
def test_what_leads_here_lets_nothing_else_through(text: str) -> None:
    evil = f"[[<img src=x onerror=alert(1)>]] {text} [[Watering]]"
    led = {"[[<img src=x onerror=alert(1)>]]": Markup('href="/x"')}
    assert "<img" not in markdown(evil, leads=led)
    assert "<script" not in markdown(evil, leads=led)
