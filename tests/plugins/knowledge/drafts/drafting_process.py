"""A process that proposes one draft to a GitHub, to be killed at any request of it.

As a program: the directory of the data, the address of GitHub, and the arguments as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from plugins.knowledge.drafts import store
from tests.plugins.knowledge.drafts.garden import ANA, HOOK, TOKEN, opened_portal


async def propose(data: Path, url: str, fields: Any) -> None:
    """Propose a draft as Ana, whom nobody asks."""
    async with opened_portal(url, data) as portal:
        await portal.sign_in("ana", ANA)
        await portal.call("create_draft", fields, tier="ana")


def main() -> None:
    """Do it."""
    store.LEASE = timedelta(seconds=-1)  # the next process need not wait for this one's
    os.environ |= {"DRAFTS_TOKEN": TOKEN, "DRAFTS_HOOK": HOOK}
    data, url, fields = sys.argv[1:]
    asyncio.run(propose(Path(data), url, json.loads(fields)))


if __name__ == "__main__":
    main()
