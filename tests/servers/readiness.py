"""Whether a portal in a process of its own can be asked, however slow the machine is."""

from __future__ import annotations

import httpx2


def is_ready(url: str) -> bool:
    """Whether all of a portal is open and answers.

    A portal that misses its database for a moment is ready for what it can do without it, and a
    busy machine may let it miss one while its plugins open still.

    Args:
        url: where the portal listens.

    Raises:
        httpx2.TransportError: nobody answers there.
    """
    answer = httpx2.get(f"{url}/readyz", timeout=60)
    return bool(answer.json()["status"] == "ok")
