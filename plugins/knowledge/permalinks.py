"""Where a document stands, so that an answer can cite it: an address, and the section in it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from gateway.toolkit.anchors import SECTION
from gateway.toolkit.web_addresses import address_parts
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.outline import Place

_PAGE = "/knowledge/document"
"""The view of ``get_document``."""


class Permalinks:
    """Gives documents their addresses.

    The author's own (``permalink``, where it is a web address) comes first, then the file at its
    commit on GitHub, then the document's page on this portal, or its resource where the portal has
    no address.

    Args:
        namespace: the community's part of the resource URIs.
        sources: where the notes come from.
        url: the portal's address, without a slash at the end, or "".
    """

    def __init__(self, namespace: str, sources: Sequence[SourceConfig] = (), url: str = "") -> None:
        self._namespace = namespace
        self._sources = sources
        self._url = url

    def of(self, entry: DocumentEntry, section: Place | None = None) -> str:
        """The address of a document, or of a section in it.

        Args:
            entry: the document.
            section: where the section stands.
        """
        stated = entry.metadata.permalink or ""
        if address_parts(stated).scheme in ("http", "https"):
            return stated + (_fragment(section.anchor) if section else "")
        for source in self._sources:
            if source.github and (path := _within(entry.path, source.name)):
                version = entry.commit_sha or source.branch or "main"
                place = f"{source.github}/blob/{quote(version)}/{quote(path)}"
                leads = _fragment(section.on_github) if section else ""
                return f"https://github.com/{place}{leads}"
        if not self._url:
            return f"mcp://{self._namespace}/documents/{entry.content_type}/{quote(entry.id)}"
        which = urlencode({"contentType": entry.content_type, "id": entry.id})
        leads = _fragment(SECTION + section.anchor) if section else ""
        return f"{self._url}{_PAGE}?{which}{leads}"


def _fragment(anchor: str) -> str:
    return f"#{quote(anchor)}"


def _within(path: str, name: str | None) -> str:
    """A document's path in its source; empty where it is another source's."""
    if name is None:
        return path
    return path.removeprefix(f"{name}/") if path.startswith(f"{name}/") else ""
