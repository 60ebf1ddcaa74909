"""Documents are found by the ids that they had before their folders were renamed."""

from __future__ import annotations

import pytest

from gateway.contract import Tier, ToolFailed
from plugins.knowledge.notes.content_types import ContentType
from tests.plugins.knowledge.retrieval.conftest import Base, document


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("guides.blog.basic", "lessons.blog.basic"),
        ("basic-setup", "lessons.basic-setup"),
        ("guides.old.plain", "plain"),
        ("guides.social.index", "lessons.social.index"),
    ],
)
async def test_who_asks_for_a_document_of_a_folder_that_was_renamed_is_told_its_id(
    base: Base, former: str, now: str
) -> None:
    for id in ("blog.basic", "social.basic", "basic-setup", "blog.index", "social.index"):
        await base.put(document(f"article/lessons.{id}", "A lesson.", title=id))
    await base.put(document("article/plain", "A lesson.", title="A plain one"))
    with pytest.raises(ToolFailed, match=f'Did you mean contentType "article" with id "{now}"'):
        await base.knowledge.document(ContentType.ARTICLE, former, Tier.OPEN)


@pytest.mark.parametrize(
    "id", ["guides.index", "guides.basic", "guides.gone", "notes.1", "a.secret"]
)
async def test_where_several_end_alike_or_none_does_nothing_is_suggested(
    base: Base, id: str
) -> None:
    for there in ("blog.basic", "social.basic", "blog.index", "social.index", "minutes.1"):
        await base.put(document(f"article/{there}", "A lesson.", title=there))
    with pytest.raises(ToolFailed, match=r"^Document not found\.$"):
        await base.knowledge.document(ContentType.ARTICLE, id, Tier.OPEN)
