"""Calls a tool that waits, again and again, until it is killed.

``python -m … DIRECTORY COUNT DATABASE``: the database is ``sqlite`` or a URL. Each payment is a
line of ``DIRECTORY/paid``, written at once.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from auth.callers import Account
from gateway.testing import open_test_portal
from tests.gateway.approvals.portal import TIERS
from tests.gateway.approvals.vault import Paid, Payment, Vault

ANN = Account.of_key("0x00000000000000000000000000000000000A11cE", "ann")


class Ledger(Vault):
    """A vault that writes down what it pays, in the moment in which it pays."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    async def pay(self, args: Payment, caller: object) -> Paid:
        os.write(self._file, f"{args.amount}\n".encode())
        return Paid(to=args.to, amount=args.amount)


async def main(directory: Path, count: int, database: str) -> None:
    ledger = Ledger(directory / "paid")
    tiers = TIERS.replace("QUORUM", "1")
    config = {"services": {"database": database}}
    async with open_test_portal(
        ledger.module(), config=config, tiers=tiers, data_dir=directory
    ) as portal:
        await portal.sign_in("ann", ANN)
        while True:
            for amount in range(count):
                await portal.call("pay", {"to": "somebody", "amount": amount}, tier="ann")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
