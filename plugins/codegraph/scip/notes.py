"""What is told of the SCIP indexers: by commands and by tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def notes(record: Mapping[str, Any] | None, layer: int | None) -> list[str]:
    """Sentences on what the indexers did with the index that is served; none where none was asked.

    Args:
        record: as ``merge`` keeps it, or None.
        layer: the layer that is served.
    """
    if not record:
        return []
    if record["layer"] != layer:
        return ["The SCIP indexers have not run on this index yet."]
    return [_note(each) for each in record["indexers"]]


def _note(outcome: Mapping[str, Any]) -> str:
    if outcome["problem"]:
        return f"{outcome['problem']}."
    pairs = outcome["both"] + outcome["differ"]
    agreed = f"{outcome['both'] / pairs:.1%} of {pairs:,}" if pairs else "none of its"
    return (
        f"{outcome['indexer']} added {outcome['edges']:,} edges; it agrees on {agreed} calls that "
        "both resolve."
    )
