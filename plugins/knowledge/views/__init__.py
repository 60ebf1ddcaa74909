"""What people leaf through: a search, a document, all documents, what stands around one."""

from __future__ import annotations

from pathlib import Path

from gateway.contract import View

_HERE = Path(__file__).parent


def views() -> list[View]:
    """The plugin's views."""
    return [
        _view("search", "Search the knowledge base", "search_knowledge", listed=True),
        _view("documents", "Documents", "list_documents", listed=True),
        _view("document", "Document", "get_document"),
        _view("related", "What stands around a document", "related_documents"),
    ]


def _view(name: str, title: str, tool: str, *, listed: bool = False) -> View:
    return View(name, title, tool, _HERE / f"{name}.html", listed=listed)
