"""Every document has an address that an answer can cite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plugins.knowledge.config import SourceConfig
from plugins.knowledge.permalinks import Permalinks
from tests.plugins.knowledge.retrieval.conftest import document

GITHUB = SourceConfig.model_validate({"github": "owner/kb", "branch": "live", "name": "kb"})


def placed(path: str, commit: str = "", **fields: Any) -> Any:
    note = document("article/a", **fields)
    return note.model_copy(update={"path": path, "commit_sha": commit})


@pytest.mark.parametrize(
    ("note", "section", "address"),
    [
        (placed("x/a.md"), (), "mcp://us/documents/article/a"),
        (placed("kb/x/a b.md"), (), "https://github.com/owner/kb/blob/live/x/a%20b.md"),
        (
            placed("kb/a.md", "abc"),
            ("One", "Who pays?"),
            "https://github.com/owner/kb/blob/abc/a.md#who-pays",
        ),
        (placed("kbx/a.md"), (), "mcp://us/documents/article/a"),
        (placed("a.md", permalink="https://us.org/a/"), ("B",), "https://us.org/a/#b"),
        (placed("a.md", permalink="/a/"), (), "mcp://us/documents/article/a"),
        (placed("a.md", permalink="javascript:alert(1)"), (), "mcp://us/documents/article/a"),
    ],
)
def test_an_address_leads_to_the_document(
    note: Any, section: tuple[str, ...], address: str
) -> None:
    directory = SourceConfig.model_validate({"directory": Path("/srv/x"), "name": "x"})
    assert Permalinks("us", (directory, GITHUB)).of(note, section) == address


@pytest.mark.parametrize(
    ("section", "fragment"), [((), ""), (("One", "Who pays?"), "#section-who-pays")]
)
def test_what_no_website_has_stands_on_the_portals_page(
    section: tuple[str, ...], fragment: str
) -> None:
    directory = SourceConfig.model_validate({"directory": Path("/srv/x"), "name": "x"})
    permalinks = Permalinks("us", (directory, GITHUB), "https://us.org/porch")
    assert permalinks.of(placed("x/a.md"), section) == (
        f"https://us.org/porch/knowledge/document?contentType=article&id=a{fragment}"
    )
    assert permalinks.of(placed("kb/a.md"), section).startswith("https://github.com/owner/kb/")
