"""Whether a portal is reached at the address that members paste: its proxy or balancer, and TLS."""

from __future__ import annotations

from gateway.observability.diagnosis import Finding, Weight

ANSWER_SECONDS = 5.0
"""Seconds that the address has for an answer."""


async def of_address(url: str) -> list[Finding]:
    """What is wrong on the way from this machine to a running portal's public address.

    Args:
        url: the address, without a slash at its end.
    """
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=ANSWER_SECONDS) as http:
            answer = await http.get(f"{url}/healthz")
    except httpx2.HTTPError as error:
        return [_unreached(url, str(error) or f"no answer within {ANSWER_SECONDS:g} s")]
    if answer.status_code != 200 or b'"status"' not in answer.content:
        return [_unreached(url, f"{answer.status_code} for /healthz, not from a portal")]
    return []


def _unreached(url: str, why: str) -> Finding:
    todo = (
        "The portal itself runs: see that its name leads to the proxy or balancer, that this is "
        "up and has a good certificate, and that it hands on to the portal. Where only this "
        "machine cannot reach that address, nothing has to be done."
    )
    return Finding(Weight.RISK, f"{url} does not lead to the portal from here: {why}", todo)
