"""What people leaf through: a search, a document, all documents, what stands around one."""

from __future__ import annotations

from gateway.contract import View


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(__file__, "search", "Search the pages", "search_knowledge", listed=True),
        View.beside(__file__, "documents", "Documents", "list_documents", listed=True),
        View.beside(__file__, "document", "Document", "get_document"),
        View.beside(__file__, "related", "What stands around a document", "related_documents"),
    ]
