"""Values that may be used once, on all replicas together."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class SingleUseStore(Protocol):
    """Records values that may be used once, such as nonces."""

    async def spend(self, key: str, until: datetime) -> bool:
        """Record a use until a time; True for the first one only, on whichever replica it comes."""
        ...
