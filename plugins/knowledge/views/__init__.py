"""What people leaf through: a search, a document and what stands around it, and ways to browse."""

from __future__ import annotations

from gateway.contract import View
from plugins.knowledge.views.graph import neighbourhood, whole_base

NEWEST = {"order": "changed", "filters": {"limit": 4}}
"""What the start page shows: the documents that changed last."""


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(__file__, "search", "Knowledge", "search_knowledge", listed=True, asks="query"),
        View.beside(
            __file__, "documents", "Documents", "list_documents", listed=True, glance=NEWEST
        ),
        View.beside(__file__, "document", "Document", "get_document"),
        View.beside(__file__, "history", "A document's history", "get_document_history"),
        View.beside(
            __file__,
            "related",
            "What stands around a document",
            "related_documents",
            graph=neighbourhood,
        ),
        View.beside(
            __file__,
            "map",
            "How the documents hang together",
            "map_documents",
            graph=whole_base,
        ),
        View.beside(__file__, "lexicon", "Lexicon", "search_lexicon", listed=True),
        View.beside(__file__, "groups", "Groups and cells", "list_groups"),
        View.beside(__file__, "releases", "Creative releases", "list_releases"),
    ]
