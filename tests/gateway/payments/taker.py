"""Takes deliveries of Stripe's until it is killed: ``python -m … DIRECTORY DATABASE STRIPE``.

It prints the address of its webhook's port. Deliveries pass the portal's own door, over HTTP.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from gateway.testing import open_test_portal
from tests.gateway.payments.conftest import PLANS, PRICES
from tests.journeys import garden
from tests.servers.serving import bound


async def main(directory: Path, database: str, stripe: str) -> None:
    settings = {
        "url": stripe,
        "secret_key": "env:GARDEN_STRIPE_KEY",
        "webhook_secret": "env:GARDEN_STRIPE_HOOK",
        "prices": PRICES,
        "top_up": [5],
    }
    listener = bound()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = {
        "services": {"database": database},
        "payments": {"stripe": settings},
        "public_url": "http://127.0.0.1:8321",
        "allowed_hosts": [address.removeprefix("http://")],
    }
    async with open_test_portal(garden, config=config, plans=PLANS, data_dir=directory) as portal:
        print(address, flush=True)  # noqa: T201
        await _serve(portal.app, listener)


async def _serve(app: object, listener: object) -> None:
    import uvicorn

    config = uvicorn.Config(app, lifespan="off", log_config=None, ws="none")  # type: ignore[arg-type]
    await uvicorn.Server(config).serve([listener])  # type: ignore[list-item]


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
