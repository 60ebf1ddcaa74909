"""How long a contract wallet's proof counts: its owners change, and nobody is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from auth.callers import Account
from auth.stores import utc_now

LASTS = timedelta(days=30)
"""How long a contract wallet's proof counts where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Says of accounts whether they have lapsed.

    A key's never does: whoever has it has the address on every chain, and for good.

    Attributes:
        lasts: how long a contract wallet's proof counts.
        clock: the time, in UTC; replaced in tests.
    """

    lasts: timedelta = LASTS
    clock: Callable[[], datetime] = utc_now

    def of(self, accounts: Sequence[Account]) -> tuple[Account, ...]:
        """The accounts, those that have lapsed marked."""
        return tuple(
            replace(each, lapsed=True) if self._has_lapsed(each) else each for each in accounts
        )

    def _has_lapsed(self, account: Account) -> bool:
        if account.signer != "contract":
            return False
        return account.proved is None or self.clock() - account.proved >= self.lasts
