import time
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.notes.headings import MAX_SECTIONS
from plugins.knowledge.outline import outline
from plugins.knowledge.retrieval.excerpts import MAX_CHARACTERS as LONGEST_EXCERPT
from plugins.knowledge.retrieval.excerpts import excerpt
from plugins.knowledge.retrieval.markup import one_line, plain
from plugins.knowledge.retrieval.passages import MAX_CHARACTERS, MAX_FOLLOWING, cut, fingerprint

MARKDOWN = st.text(alphabet=st.sampled_from("ab .\n#*_`[](){}%<>!|-&'\"0\u00e9"), max_size=3000)


def test_a_long_section_is_cut_at_its_headings() -> None:
    prose = "A sentence that says something worth reading. " * 8
    passages = cut(f"# Trip\n\n{prose}\n\n## Hotel\n\n{prose}\n\n## Train\n\n{prose}")
    assert [passage.trail for passage in passages] == [
        ("Trip",),
        ("Trip", "Hotel"),
        ("Trip", "Train"),
    ]


def test_short_sections_share_a_passage_under_the_heading_they_have_in_common() -> None:
    (passage,) = cut("# Trip\n\n## Hotel\n\nBook it.\n\n## Train\n\nTake it.")
    assert passage.trail == ("Trip",)
    assert passage.text == "Book it.\nTake it."
    assert passage.under == ("Hotel", "Train")


def test_a_heading_with_nothing_under_it_belongs_to_the_passage_beside_it() -> None:
    (passage,) = cut("# Trip\n\n## Hotel\n\n## Train\n\n### Tickets\n\nTake it.\n\n## Boat")
    assert passage.trail == ("Trip", "Train", "Tickets")
    assert passage.under == ("Hotel", "Boat")
    assert cut("# Trip\n\n## Hotel") == []


@given(MARKDOWN)
def test_every_heading_belongs_to_a_passage(markdown: str) -> None:
    passages = cut(f"{markdown}\n\n# Zorblax\n\nx\n\n## Quokka\n\n## Wombat\n\ny\n")
    said = "\n".join("\n".join((*one.trail, *one.under, one.text)) for one in passages)
    assert all(word in said for word in ("Zorblax", "Quokka", "Wombat"))


def test_a_passage_knows_how_its_section_goes_on() -> None:
    said = [f"Sentence {number} says something worth reading." for number in range(60)]
    first, second, *_, last = passages = cut(f"# Trip\n\n{' '.join(said)}\n\n# Train\n\nx")
    assert second.text.startswith(first.following)
    assert first.following.endswith("reading.")
    assert all(350 < len(one.following) <= MAX_FOLLOWING for one in passages[:-3])
    assert (passages[-2].following, last.following) == ("", "")


def test_code_goes_on_with_whole_lines_and_one_endless_line_with_nothing() -> None:
    lines = [f"step({number})" for number in range(300)]
    code, *_ = cut("# Run\n\n```python\n" + "\n".join(lines) + "\n```\n")
    assert code.following
    assert set(code.following.split("\n")) <= set(lines)
    assert cut(f"# Key\n\n{'0' * 4000}")[0].following == ""


@given(MARKDOWN)
def test_what_follows_a_passage_begins_the_next_one(markdown: str) -> None:
    passages = cut(markdown)
    for one, following in zip_longest(passages, passages[1:]):
        rest = "" if following is None else f"{following.text}\n{following.following}"
        assert rest.startswith(one.following)
        assert len(one.following) <= MAX_FOLLOWING


def test_underlined_headings_cut_as_others_do_and_those_in_code_do_not() -> None:
    prose = "A sentence that says something worth reading. " * 8
    code = "```\nTrain\n-----\n```"
    passages = cut(f"Trip\n====\n\n{prose}\n\nHotel in *C#*\n---\n{prose}\n\n{code}\n\n---\n")
    assert [passage.trail for passage in passages] == [("Trip",), ("Trip", "Hotel in C#")]
    assert "Train\n-----" in passages[1].text


def test_a_paragraph_that_is_underlined_by_mistake_stays_text() -> None:
    (passage,) = cut("Several lines\nof a paragraph\n---\nMore.")
    assert passage.trail == ()
    assert passage.text.startswith("Several lines of a paragraph")


def test_a_passage_is_embedded_below_its_title_and_trail() -> None:
    (passage,) = cut("## Hotel\n\nBook it.")
    assert passage.headed("Travel") == "Travel > Hotel\nBook it."


def test_lines_that_only_wrap_are_one_block() -> None:
    (passage,) = cut("Write to the\nteam first.\n\n- one\n- two")
    assert passage.text == "Write to the team first.\none\ntwo"


def test_marks_of_templates_html_and_markdown_are_no_prose() -> None:
    text = (
        "<!-- secret -->{% comment %}old{% endcomment %}See [the *guide*]({% page '/x' %}) and "
        "![a map](map.png) of <b>Berlin</b>{#anchor}, `code` &amp; {{ page.x }}[[daos|DAOs]][^1]."
    )
    shown = " ".join(plain(text).split())
    assert shown == "See the guide and a map of Berlin, code & DAOs."


def test_fenced_code_is_shown_line_by_line_and_to_the_letter() -> None:
    text = "Run\n\n```sh title=x\n# install <all>\npip install *x*\n    --user\n```\n\nDone."
    (passage,) = cut(f"## Set up\n\n{text}")
    assert passage.trail == ("Set up",)
    assert passage.text == "Run\n# install <all>\npip install *x*\n    --user\nDone."


def test_code_in_a_list_loses_what_all_its_lines_are_indented_by() -> None:
    (passage,) = cut("1. Write\n\n   ~~~py\n   if a_b:\n       run()\n   ~~~\n\n2. Read")
    assert passage.text == "Write\nif a_b:\n    run()\nRead"


def test_code_in_a_quotation_loses_the_signs_of_the_quotation() -> None:
    (passage,) = cut("> Run\n>\n> ```sh\n> cat a > b\n>   > c\n>\n> ```\n> Done.")
    assert passage.text == "Run\ncat a > b\n  > c\nDone."


def test_code_of_quotations_keeps_them() -> None:
    (passage,) = cut("Answer\n\n```\n> a\n> b\n```")
    assert passage.text == "Answer\n> a\n> b"


def test_code_without_an_end_is_code_to_the_end() -> None:
    (passage,) = cut("Run\n\n```\n# one\n``` not an end\n# two")
    assert (passage.trail, passage.text) == ((), "Run\n# one\n``` not an end\n# two")


def test_code_in_a_comment_is_not_shown() -> None:
    (passage,) = cut("Seen.\n\n<!-- not\n```\nsecret\n```\n-->\nSeen too.")
    assert passage.text == "Seen.\nSeen too."


def test_of_blocks_of_mkdocs_what_they_say_is_text() -> None:
    text = (
        "/// tip | Mind it\n\nSee `a///b`.\n\n///\n\n//// tab | Python 3.7+\n\n```python\n"
        '{!> ../docs_src/a-b.py!}\n```\n\n////\n\n/// note\nDone.\n///\n\n--8<-- "x"\n/// is a sign'
    )
    (passage,) = cut(text)
    assert passage.text == "Mind it\nSee a///b.\nPython 3.7+\nDone.\n/// is a sign"


def test_comments_that_code_shows_are_shown() -> None:
    (passage,) = cut("Write `<!-- more -->`.\n\n```html\n<!-- fold -->\n```\n\n<!-- a\n\n# b -->")
    assert passage.text == "Write <!-- more -->.\n<!-- fold -->"


def test_code_in_a_line_is_no_markup() -> None:
    assert plain("Use `<Steps>`, `a | b`, ``c`d`` and [`{{ x }}`](/x).") == (
        "Use <Steps>, a | b, c`d and {{ x }}."
    )


@given(st.lists(st.text(st.sampled_from("ab #\t<"), max_size=1200), max_size=6))
def test_no_sign_of_code_is_lost(lines: list[str]) -> None:
    shown = "\n".join(passage.text for passage in cut("\n".join(["~~~", *lines, "~~~"])))
    assert "".join(shown.split()) == "".join("".join(lines).split())


def test_of_admonitions_and_tabs_the_titles_and_what_stands_in_them_are_text() -> None:
    text = """
:::note
Save first.
:::

:::tip[A hint]{icon=x}
Wait.
:::

:::danger Mind the gap
Jump.
:::

!!! warning "Take care"
    It is hot.

??? note
    It folds.

=== "Linux"

    Run it.
"""
    assert cut(text)[0].text.split("\n") == [
        *("Save first.", "A hint", "Wait.", "Mind the gap", "Jump."),
        *("Take care", "It is hot.", "It folds.", "Linux", "Run it."),
    ]


def test_what_stands_between_signs_that_are_no_tag_is_text() -> None:
    text = (
        "When load <limit, it idles.\n\nThe valve opens at seven bar.\n\nWhen load >limit, it runs."
    )
    (passage,) = cut(text)
    assert passage.text == text.replace("\n\n", "\n")
    for said in ("a <b\n\nand c> d", "List<String, Int>", "if a <= b and c >= d", "x < y > z"):
        assert plain(said) == " ".join(said.split(" "))


def test_every_tag_goes_whatever_its_attributes_are() -> None:
    for tag in (
        "<a href=\"/x\" title='a > b' hidden data-x=1>",
        "<Tabs\n  items={['a', 'b']}\n  {...props}\n/>",
        "<Card.Title onClick={() => go({a: 1})} :x.y=2 @click=go>",
        "</my-element >",
    ):
        assert plain(f"One {tag}two") == "One two"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Fee 300.[^1]\n[^1]: Scholars pay nothing.\n[^b]: Nor do you.",
         "Fee 300.\nScholars pay nothing.\nNor do you."),
        ("[Important]: refunds are possible.", "[Important]: refunds are possible."),
        ("See [it][Guide  a] and [Guide A][].\n\n[guide a]: /x 'The guide'", "See it and Guide A."),
        ("See ![a map][m].\n\n```\ncode\n```\n\n[m]: <a b.png>", "See a map.\ncode"),
        ("Set A[i][j] to zero; see table [3][4].", "Set A[i][j] to zero; see table [3][4]."),
    ],
)  # fmt: skip
def test_only_addresses_that_links_refer_to_are_left_out(written: str, shown: str) -> None:
    assert "\n".join(passage.text for passage in cut(written)) == shown


def test_an_address_in_pointed_brackets_is_shown() -> None:
    text = (
        "Write to <duty_@acme-corp.test>, see <https://status.acme.test/_a_b?c=[d]> or [x](<y z>)."
    )
    assert plain(text) == (
        "Write to duty_@acme-corp.test, see https://status.acme.test/_a_b?c=[d] or x."
    )


def test_a_title_alone_may_refer_to_any_address() -> None:
    assert one_line("Release [1.2][latest]") == "Release 1.2"


def test_a_heading_in_html_counts_as_one() -> None:
    assert cut('<h2 class="x">Fees</h2>\n<p>None.</p>')[0].trail == ("Fees",)


def test_a_title_loses_its_markup() -> None:
    assert (
        one_line("Get ready <em>before</em> IG** or **OIG &amp; co")
        == "Get ready before IG or OIG & co"
    )


@given(MARKDOWN)
def test_no_passage_is_empty_or_longer_than_the_model_reads(markdown: str) -> None:
    for passage in cut(markdown):
        assert 0 < len(passage.text) <= MAX_CHARACTERS


@given(MARKDOWN)
def test_equal_texts_have_equal_fingerprints(markdown: str) -> None:
    assert [fingerprint(p.text) for p in cut(markdown)] == [
        fingerprint(p.text) for p in cut(markdown)
    ]


@given(st.text(max_size=MAX_CHARACTERS), st.text(max_size=50))
def test_an_excerpt_is_short_and_stands_in_the_passage(text: str, question: str) -> None:
    shown = excerpt(text, question)
    assert len(shown) <= LONGEST_EXCERPT
    assert shown.removesuffix("...") in text


def test_an_excerpt_shows_the_sentences_that_the_question_is_about() -> None:
    filler = "Nothing of interest stands here at all. " * 15
    assert "hotel bill" in excerpt(f"{filler}Send the hotel bill by mail. {filler}", "hotel bill")


def test_of_a_document_of_short_sentences_the_beginning_is_the_excerpt() -> None:
    started = time.process_time()
    assert excerpt("a." * 500_000, "").startswith("a.a.")
    assert time.process_time() - started < 4


def test_a_page_of_nothing_but_marks_is_cut_in_time() -> None:
    assert isinstance(cut("{%" * 50_000 + "<" * 50_000 + "[" * 50_000 + "*" * 50_000), list)


@pytest.mark.parametrize(
    "part",
    [
        "<a b",
        "<a ",
        "<a b='",
        '<a b="x" c=\'',
        "<a b={",
        " a=",
        "<a\n",
        "</",
        "<h1 x={{",
        "<ab:",
        "<ab",
        "<a@",
    ],
)
def test_what_only_begins_a_tag_is_read_in_time(part: str) -> None:
    started = time.process_time()
    plain(part * (300_000 // len(part)))
    assert time.process_time() - started < 20


def test_a_hostile_heading_is_cut_in_time() -> None:
    (passage,) = cut("# a" + "\u2003" * 10**6 + "b ##\n\nText.")
    assert passage.trail[0].startswith("a")


def test_of_very_many_headings_the_first_begin_sections_and_all_are_found() -> None:
    above, sections = outline(
        "# a\n" * (MAX_SECTIONS - 1) + "# Last\n" + "## More\n\nIt is red.\n" * 9
    )
    assert (above, len(sections), sections[-1].title) == ("", MAX_SECTIONS, "Last")
    passages = cut("# Pump\n\nIt is blue.\n\n" * MAX_SECTIONS + "# Well\n\nIt is deep.\n")
    assert (
        len({place for one in passages for place in (one.place, *one.places)}) <= MAX_SECTIONS + 1
    )
    assert "Well" in passages[-1].text
    assert "It is deep." in passages[-1].text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Our [Code of Conduct] counts.\n\n[code of conduct]: a.md", "Our Code of Conduct counts."),
        ("See [1] and `[x]`.\n\n[x]: a.md", "See [1] and [x]."),
        ("- :octicons-light-bulb-16:{ .lg .middle } __Tip__ at 10:30-11:00", "Tip at 10:30-11:00"),
    ],
)
def test_links_by_a_label_alone_and_icons_are_no_text(text: str, said: str) -> None:
    (passage,) = cut(text)
    assert passage.text == said


def test_an_icon_in_a_heading_is_no_part_of_it() -> None:
    (passage,) = cut("## :material-clock: Times\n\nAt noon.")
    assert passage.trail == ("Times",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Set snake\\_case, not \\*.", "Set snake_case, not *."),
        ("It is 5.\\\nIt is due.\\\n", "It is 5. It is due."),
        ("A Map\\<string\\> or a \\[list\\].", "A Map<string> or a [list]."),
        ("1\\. is no list; `a\\_b` is code.", "1. is no list; a\\_b is code."),
        ("{{% alert title=\"x\" %}}\nMind it.\n{{% /alert %}}", "Mind it."),
        ("{% include a.html at={{ site.x }} %}Here.", "Here."),
        ("Seen.\n\n{* ../src/a.py hl[1:3] *}\n\n{! a.md !}", "Seen."),
        ("Seen.\n\n<<< @/snippets/a.ts{2 ts:line-numbers}\n\nBut <<< is a sign.",
         "Seen.\nBut <<< is a sign."),
        ("By [@bot[bot]](https://b.test), [[RFC] it](x), ![](<a (1).svg>)and [](./b.md).",
         "By @bot[bot], [RFC] it, and ."),
        (f"[![Badge](b.svg)](c.md) and [play](https://p.test/#{'e' * 3000}).", "Badge and play."),
        ("See [it].\n\n[it]:\n  <https://long.test/>", "See it."),
        (":::{note .dropdown} More\nText.\n:::", "More\nText."),
        ("Said{/* not said */}.", "Said."),
        ("[[toc]]\n\nSaid of [[TOC]].\n\n[TOC]", "Said of TOC."),
    ],
)  # fmt: skip
def test_of_marks_and_escapes_the_text_is_shown(text: str, said: str) -> None:
    (passage,) = cut(text)
    assert passage.text == said


@pytest.mark.parametrize("part", ["[a](", "[[", "[x[a]", "![a](<", "[a]((", "\\[", "{/*", "[a]:\n"])
def test_what_only_begins_a_link_is_read_in_time(part: str) -> None:
    started = time.process_time()
    plain(part * (300_000 // len(part)))
    assert time.process_time() - started < 20


def test_a_sign_that_a_backslash_makes_text_is_one_in_headings_and_titles() -> None:
    (passage,) = cut("## Use max\\_pages\n\nNow.")
    assert passage.trail == ("Use max_pages",)
    assert one_line("Use max\\_pages \\[new\\]") == "Use max_pages [new]"
