"""What commands and tools report about the SCIP indexers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def notes(record: Mapping[str, Any] | None, layer: int | None) -> list[str]:
    """What the indexers did with the served index, in sentences; empty if none was needed.

    Args:
        record: the repository's record (``scip/merge.py``), or None.
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
