"""How long a contract wallet's proof counts: its owners may change without notice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from auth.callers import Account
from auth.stores import utc_now

CONTRACT_PROOF_LIFETIME = timedelta(days=30)
"""How long a contract wallet's proof counts by default."""


@dataclass(frozen=True, slots=True)
class ProofExpiry:
    """Marks contract wallets whose proof is too old.

    A key's proof never expires: whoever has the key has the address, on every chain and for good.

    Attributes:
        lasts: how long a contract wallet's proof counts.
        clock: the time, in UTC; replaced in tests.
    """

    lasts: timedelta = CONTRACT_PROOF_LIFETIME
    clock: Callable[[], datetime] = utc_now

    def of(self, accounts: Sequence[Account]) -> tuple[Account, ...]:
        """The accounts; those whose proof has expired are marked as ``lapsed``."""
        return tuple(
            replace(each, lapsed=True) if self._has_lapsed(each) else each for each in accounts
        )

    def _has_lapsed(self, account: Account) -> bool:
        if account.signer != "contract":
            return False
        return account.proved is None or self.clock() - account.proved >= self.lasts
