"""What is done to entries and said of them, and how that ends, in the words of the protocol."""

from __future__ import annotations

from typing import Literal

Change = Literal["created", "updated", "deleted"]
"""What happens to an entry."""
BatchOperation = Literal["create", "update", "delete", "upsert"]
"""What a batch does with each of its entries."""
BatchStatus = Literal["pending", "processing", "completed", "failed"]
"""How far a batch is; the last two are ends."""
Outcome = Literal["created", "updated", "deleted", "pending_approval", "failed"]
"""What became of an entry of a batch."""
Decision = Literal["supersedes", "corrects", "contests", "both_hold", "apart"]
"""How somebody says that an entry goes together with an earlier one."""
