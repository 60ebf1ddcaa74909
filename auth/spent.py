"""What may be used once, wherever it is shown again."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class SpentStore(Protocol):
    """What may be used once, such as a nonce."""

    async def spend(self, key: str, until: datetime) -> bool:
        """Note a use; True for the first one, on any replica, until the time given."""
        ...
