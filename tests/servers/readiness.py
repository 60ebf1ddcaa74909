"""Whether a portal in a process of its own can be asked, however slow the machine is."""

from __future__ import annotations

import httpx2


def is_ready(url: str) -> bool:
    """Whether all of a portal is open and answers.

    A portal that misses its database for a moment is ready for what it can do without it, and a
    busy machine may let it miss one while its plugins open still; or let a plugin open so late
    that nobody waits for it. The latter is told to those who may see the details, not of a portal
    with a public address.

    Args:
        url: where the portal listens.

    Raises:
        httpx2.TransportError: nobody answers there.
    """
    report = httpx2.get(f"{url}/readyz", timeout=60).json()
    states = [each["state"] for each in report.get("plugins", {}).values()]
    return report["status"] == "ok" and "failed" not in states
