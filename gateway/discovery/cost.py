"""What a tool costs the model that is told of it, in tokens: an estimate.

A client gives its model the name, the description and the input schema of each tool. Tokenizers
differ, and none of them is here: names and schemas come out at about three and a half bytes a token
with those in use, a little less than prose. The sum of many tools is good enough to say whether a
list is long, which is all that is decided by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import to_json

from gateway.catalog.items import Item

BYTES_PER_TOKEN = 3.5
"""Bytes of JSON for which a model counts about one token."""
_SHOWN = ("name", "description", "inputSchema")


def tokens_of(entry: Mapping[str, Any]) -> int:
    """About how many tokens a tool costs.

    Args:
        entry: it in the list of tools.
    """
    shown = {key: entry[key] for key in _SHOWN if key in entry}
    return round(len(to_json(shown)) / BYTES_PER_TOKEN)


class Costs:
    """What items cost, each reckoned once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, int]] = {}

    def of(self, item: Item) -> int:
        """What one item costs, in tokens."""
        known = self._known.get(item.key)
        if known is None or known[0] is not item.entry:
            known = self._known[item.key] = item.entry, tokens_of(item.entry)
        return known[1]

    def total(self, items: Iterable[Item]) -> int:
        """What some items cost together, in tokens."""
        return sum(map(self.of, items))
