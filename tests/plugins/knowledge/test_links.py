"""What links in documents may mean, as the generators of sites read them."""

from __future__ import annotations

from pathlib import Path

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
}


def page(id: str, content: str = "") -> Document:
    made = document(f"article/{id}", content, title=f"The title of {id}")
    return made.model_copy(update={"path": PATHS[id]})


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
        ("team-about", "/about", "about"),
        ("start", "guides/pages", "pages"),
        ("start", "./guides/pages/", "pages"),
        ("about", "team/about", "team-about"),
    ],
)
async def test_a_link_leads_to_the_page(base: Base, origin: str, link: str, target: str) -> None:
    assert await leads(base, origin, link) == ([target], [])


@pytest.mark.parametrize(
    ("origin", "link"),
    [
        ("sidebar", "/guides/gone/"),
        ("sidebar", "/reference/pages/"),
        ("about", "/guides/pages"),
        ("team-about", "/docs/guides/pages"),
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
    ):
        assert await leads(base, "sidebar", link) == ([], [])
