"""Every document has an address that an answer can cite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plugins.knowledge.config import SourceConfig
from plugins.knowledge.outline import Place
from plugins.knowledge.permalinks import Permalinks
from tests.plugins.knowledge.retrieval.conftest import document

GITHUB = SourceConfig.model_validate({"github": "owner/kb", "branch": "live", "name": "kb"})


def placed(path: str, commit: str = "", **fields: Any) -> Any:
    note = document("article/a", **fields)
    return note.model_copy(update={"path": path, "commit_sha": commit})


@pytest.mark.parametrize(
    ("note", "section", "address"),
    [
        (placed("x/a.md"), None, "mcp://us/documents/article/a"),
        (placed("kb/x/a b.md"), None, "https://github.com/owner/kb/blob/live/x/a%20b.md"),
        (
            placed("kb/a.md", "abc"),
            Place(("One", "Who pays?"), "fees", "who-pays-fees"),
            "https://github.com/owner/kb/blob/abc/a.md#who-pays-fees",
        ),
        (placed("kbx/a.md"), None, "mcp://us/documents/article/a"),
        (
            placed("a.md", permalink="https://us.org/a/"),
            Place(("B",), "b-1", "b-2"),
            "https://us.org/a/#b-1",
        ),
        (placed("a.md", permalink="/a/"), None, "mcp://us/documents/article/a"),
        (placed("a.md", permalink="http://[x"), None, "mcp://us/documents/article/a"),
        (placed("a.md", permalink="javascript:alert(1)"), None, "mcp://us/documents/article/a"),
    ],
)
def test_an_address_leads_to_the_document(note: Any, section: Place | None, address: str) -> None:
    directory = SourceConfig.model_validate({"directory": Path("/srv/x"), "name": "x"})
    assert Permalinks("us", (directory, GITHUB)).of(note, section) == address


@pytest.mark.parametrize(
    ("section", "fragment"), [(None, ""), (Place(("B",), "b-1", "b-2"), "#section-b-1")]
)
def test_what_no_website_has_stands_on_the_portals_page(
    section: Place | None, fragment: str
) -> None:
    directory = SourceConfig.model_validate({"directory": Path("/srv/x"), "name": "x"})
    permalinks = Permalinks("us", (directory, GITHUB), "https://us.org/porch")
    assert permalinks.of(placed("x/a.md"), section) == (
        f"https://us.org/porch/knowledge/document?contentType=article&id=a{fragment}"
    )
    assert permalinks.of(placed("kb/a.md"), section).startswith("https://github.com/owner/kb/")
