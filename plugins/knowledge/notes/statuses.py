"""What a status says of whether a document holds, as proposals and decisions have one.

``Withdrawn``, ``deprecated since May``, and ``superseded by [ADR-0005](0005-new.md)``, as MADR
(https://adr.github.io/madr/) writes it.
"""

from __future__ import annotations

import re

_ENDED = """
    superseded superceded replaced deprecated obsolete obsoleted outdated withdrawn rejected retired
    abandoned discontinued
    ersetzt veraltet zurückgezogen abgelehnt verworfen
    reemplazado reemplazada obsoleto obsoleta retirado retirada rechazado rechazada
    remplacé remplacée obsolète retiré retirée rejeté rejetée
    заменено устарело отозвано отклонено 廃止 却下 撤回 已废弃 已撤回 已取代
"""
ENDED = frozenset(_ENDED.split())
"""The words with which a status begins that ends a document."""
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_SUCCESSOR = re.compile(
    r"\W*(?:superseded|superceded|replaced|obsoleted)\s+by\b[\s:]*(?P<name>\S.*)", re.IGNORECASE
)
_LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)")


def has_ended(status: str) -> bool:
    """Whether a document of this status holds no more, or never did."""
    found = _FIRST_WORD.search(status)
    return found is not None and found[0].casefold() in ENDED


def successor(status: str) -> str | None:
    """What a status says to stand in the document's place: a name, a path or a number."""
    found = _SUCCESSOR.match(status.strip())
    if found is None:
        return None
    link = _LINK.match(found["name"])
    return link["to"] if link else found["name"]
