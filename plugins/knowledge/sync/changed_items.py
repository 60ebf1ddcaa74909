"""What of a large mapping is not what it was.

Of 100,000 notes a push changes a few, and what it does not touch stays the same object. So two
states are compared by identity, which costs a hundredth of comparing what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def changed_items(
    before: Mapping[str, Value], after: Mapping[str, Value]
) -> tuple[dict[str, Value], list[str]]:
    """What leads from one mapping to another.

    Args:
        before: the one.
        after: the other.

    Returns:
        The items that are new or another object, and the keys that are gone.
    """
    if before is after:
        return {}, []
    changed = {key: value for key, value in after.items() if before.get(key) is not value}
    kept = len(after) - len(changed) + sum(key in before for key in changed)
    gone = [key for key in before if key not in after] if kept < len(before) else []
    return changed, gone
