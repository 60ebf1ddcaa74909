"""What links in documents may mean, as the generators of sites read them."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Tier
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Document
from tests.plugins.knowledge.retrieval.conftest import Base, WordEmbedder, document, opened

PATHS = {
    "start": "site/docs/index.mdx",
    "pages": "site/docs/guides/pages.mdx",
    "sidebar": "site/docs/guides/sidebar.mdx",
    "fr-pages": "site/docs/fr/guides/pages.md",
    "options": "site/docs/reference/options/README.markdown",
    "about": "about.md",
    "team-about": "team/about.md",
    "who": "team/who (we are).md",
    "only": "site/docs/en/guides/only.md",
    "list": "site/docs/lists/_index.md",
    "post": "site/news/2024-05-01-bread.md",
    "exercise": unicodedata.normalize("NFD", "\u00fcbungen/\u00fcbung.md"),
}


def page(id: str, content: str = "") -> Document:
    made = document(f"article/{id}", content, title=f"The title of {id}")
    return made.model_copy(update={"path": PATHS[id]})


def at(page: Document, **stated: Any) -> Document:
    """A page that states where its site serves it."""
    fields = page.metadata.model_dump(by_alias=True) | stated
    return page.model_copy(update={"metadata": type(page.metadata).model_validate(fields)})


async def leads(base: Base, id: str, link: str) -> tuple[list[str], list[str]]:
    """Where a document leads that holds a link, and its links that lead nowhere."""
    await base.put(page(id, f"See [this]({link})."))
    found = await base.knowledge.related(ContentType.ARTICLE, id, Tier.OPEN)
    return [one.id for one in found.links or ()], found.dangling or []


@pytest.fixture
async def base(tmp_path: Path):
    async with opened(tmp_path, WordEmbedder()) as base:
        await base.put(*(page(id) for id in PATHS))
        yield base


@pytest.mark.parametrize(
    ("origin", "link", "target"),
    [
        ("sidebar", "pages.mdx", "pages"),
        ("sidebar", "./pages.mdx#top", "pages"),
        ("sidebar", "../fr/guides/pages.md", "fr-pages"),
        ("sidebar", "/guides/pages/#top", "pages"),
        ("sidebar", "/docs/guides/pages", "pages"),
        ("sidebar", "/site/docs/guides/pages.mdx", "pages"),
        ("sidebar", "/fr/guides/pages/", "fr-pages"),
        ("sidebar", "/reference/options/", "options"),
        ("sidebar", "../../reference/options", "options"),
        ("sidebar", "../pages/", "pages"),
        ("sidebar", "/", "start"),
        ("pages", "/about", "about"),
        ("about", "/guides/pages/", "pages"),
        ("team-about", "/docs/guides/pages", "pages"),
        ("about", "/guides/only", "only"),
        ("about", "/2024/05/01/bread", "post"),
        ("sidebar", "/news/2024/05/01/bread#top", "post"),
        ("team-about", "/about", "about"),
        ("fr-pages", "/guides/only/", "only"),
        ("fr-pages", "/fr/guides/only/", "only"),
        ("fr-pages", "./only.md", "only"),
        ("only", "/guides/sidebar/", "sidebar"),
        ("sidebar", "/lists/#top", "list"),
        ("sidebar", "../lists", "list"),
        ("start", "guides/pages", "pages"),
        ("start", "./guides/pages/", "pages"),
        ("about", "team/about", "team-about"),
        ("about", "<team/who (we are).md>", "who"),
        ("about", '<team/who (we are).md#top> "Who"', "who"),
        ("about", "<team/about.md>", "team-about"),
    ],
)
async def test_a_link_leads_to_the_page(base: Base, origin: str, link: str, target: str) -> None:
    assert await leads(base, origin, link) == ([target], [])


@pytest.mark.parametrize(
    ("origin", "link"),
    [
        ("sidebar", "/guides/gone/"),
        ("sidebar", "/reference/pages/"),
        ("about", "guides/pages"),
        ("team-about", "/uides/pages"),
        ("sidebar", "../../../../../about"),
    ],
)
async def test_a_link_to_no_page_is_said_to_lead_nowhere(
    base: Base, origin: str, link: str
) -> None:
    assert await leads(base, origin, link) == ([], [link])


@pytest.mark.parametrize(
    "link",
    [
        "{{ '/guides/pages/#top' | url }}",
        '{{"../pages/" | url}}',
        '{% page "/guides/pages/" %}',
        "{{ site.baseurl }}/guides/pages/",
    ],
)
async def test_a_template_around_an_address_is_seen_through(base: Base, link: str) -> None:
    assert await leads(base, "sidebar", link) == (["pages"], [])


async def test_what_is_no_page_is_no_link(base: Base) -> None:
    for link in (
        "{{ page.next }}",
        "{{ gone",
        "/logo.svg",
        "https://example.org/guides/pages",
        "#here",
        "mailto:a@example.org",
        "http://[x",
    ):
        assert await leads(base, "sidebar", link) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "See [the page][1].\n\n[1]: pages.md",
        '[1]: <../guides/pages.md#top> "With a title"',
        '<a class="button" href="/guides/pages/">Pages</a>',
        '<LinkCard title="Pages" href="../pages/" />',
        "<a href='{{ \"/guides/pages/\" | url }}'>Pages</a>",
        "[made of it](pages.html#top)",
        "See [a text that\n  is wrapped](pages.md).",
        "[![Pages](/logo.svg)](pages.md)",
        "Read [the [old] page](pages.md).",
        "See [it][1].\n\n[1]:\n  <pages.md>",
    ],
)
async def test_a_link_of_another_form_leads_to_the_page(base: Base, text: str) -> None:
    await base.put(page("sidebar", text))
    found = await base.knowledge.related(ContentType.ARTICLE, "sidebar", Tier.OPEN)
    assert [one.id for one in found.links or ()] == ["pages"]


@pytest.mark.parametrize(
    "text",
    [
        "[^1]: pages",
        "[x]: not an address",
        "[a text\n\nand another](pages.md)",
        "# Pages\n\n[[toc]]",
        "[[_TOC_]]\n\n## Pages",
        "`[1]: pages.md`",
        "1. Write this:\n\n    ```md\n    [pages](pages.md)\n    ```\n",
        "> ````\n> ```\n> [pages](pages.md)\n> ````",
        "<script>const page = '[pages](pages.md)';</script>",
        "<!-- [pages](pages.md) -->",
    ],
)
async def test_what_only_looks_like_a_link_leads_nowhere(base: Base, text: str) -> None:
    await base.put(page("sidebar", text))
    found = await base.knowledge.related(ContentType.ARTICLE, "sidebar", Tier.OPEN)
    assert (found.links, found.dangling) == ([], None)


@pytest.mark.parametrize(
    ("stated", "link"),
    [
        ({"permalink": "/help/all-pages/"}, "/help/all-pages/"),
        ({"permalink": "/help/all-pages.html"}, "/help/all-pages.html#top"),
        ({"slug": "all-pages"}, "all-pages"),
        ({"slug": "all-pages"}, "/guides/all-pages/"),
        ({"id": "all-pages"}, "./all-pages"),
        ({"id": "all-pages"}, "/guides/all-pages"),
        ({"slug": "help/all-pages"}, "/help/all-pages/"),
        ({"slug": "/help/all-pages"}, "/docs/help/all-pages"),
        ({"redirect_from": ["/old/", "/older/"]}, "/older/"),
        ({"redirect_from": [f"/{number}/" for number in range(99)]}, "/19/"),
        ({"aliases": ["/old/", "Every page"]}, "/old/"),
    ],
)
async def test_a_page_is_found_at_the_address_that_it_states(
    base: Base, stated: dict[str, Any], link: str
) -> None:
    await base.put(at(page("pages"), **stated))
    assert await leads(base, "sidebar", link) == (["pages"], [])


async def test_a_link_may_count_from_the_address_that_its_page_states(base: Base) -> None:
    origin = page("options", "See [all](../guides/pages/) and [nothing](./pages/).")
    await base.put(at(origin, permalink="/help/"))
    found = await base.knowledge.related(ContentType.ARTICLE, "options", Tier.OPEN)
    assert [one.id for one in found.links or ()] == ["pages"]
    assert found.dangling == ["./pages/"]


@pytest.mark.parametrize(
    ("stated", "link"),
    [
        ({"slug": "all-pages"}, "/help/all-pages/"),
        ({"permalink": "https://example.org/all-pages/"}, "/all-pages/"),
        ({"aliases": ["all-pages"]}, "/all-pages/"),
        ({"slug": 7, "redirect_from": [None, "/"]}, "/7/"),
        ({"redirect_from": [f"/{number}/" for number in range(99)]}, "/20/"),
    ],
)
async def test_what_states_no_such_address_is_not_found_there(
    base: Base, stated: dict[str, Any], link: str
) -> None:
    await base.put(at(page("pages"), **stated))
    assert await leads(base, "sidebar", link) == ([], [link])


async def test_a_stated_address_leads_nobody_to_a_page_above_their_tier(base: Base) -> None:
    hidden = at(page("pages"), permalink="/hidden/").model_copy(update={"tier": Tier.MEMBERS})
    await base.put(hidden, page("sidebar", "See [this](/hidden/)."))
    for tier, links in ((Tier.OPEN, []), (Tier.MEMBERS, ["pages"]), (Tier.PUBLIC, [])):
        found = await base.knowledge.related(ContentType.ARTICLE, "sidebar", tier)
        assert [one.id for one in found.links or ()] == links


async def test_the_front_page_of_a_site_need_not_be_a_document(base: Base) -> None:
    await base.put(document("article/alone", "See [home](/) and [this](/gone).", path="x/alone.md"))
    found = await base.knowledge.related(ContentType.ARTICLE, "alone", Tier.OPEN)
    assert (found.links or [], found.dangling) == ([], ["/gone"])


async def test_a_link_to_a_file_that_the_base_lacks_is_not_called_dangling(base: Base) -> None:
    assert await leads(base, "sidebar", "../files/budget.pdf") == ([], [])


@pytest.mark.parametrize(
    ("text", "dangling"),
    [
        ("[[Books.base]], [[plan.pdf|the plan]], [[Books.base#Author]] and ![[clip.MP4]].", None),
        ("[[menus.main]]\nname = 'Products'\n\n  [[menus.main]]\n  name = 'More'", None),
        ("[[Gone]], [[gone.md]], [[Version 1.2]] and [[Mr. Gone]].",
         ["[[Gone]]", "[[gone.md]]", "[[Version 1.2]]", "[[Mr. Gone]]"]),
        ("[[menus.main]]\nand so on", None),
    ],
)  # fmt: skip
async def test_only_names_of_notes_are_said_to_lead_nowhere(
    base: Base, text: str, dangling: list[str] | None
) -> None:
    await base.put(page("sidebar", text))
    found = await base.knowledge.related(ContentType.ARTICLE, "sidebar", Tier.OPEN)
    assert found.dangling == dangling


@pytest.mark.parametrize(
    "link",
    ["<\u00fcbungen/\u00fcbung.md>", "%C3%BCbungen/%C3%BCbung.md", "<u\u0308bungen/u\u0308bung>"],
)
async def test_a_link_leads_to_a_file_whose_marks_stand_apart_from_their_letters(
    base: Base, link: str
) -> None:
    """As macOS names files."""
    assert await leads(base, "about", link) == (["exercise"], [])
