"""A call that needs a connection asks its person to open a link, where the client can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_types import URL_ELICITATION_REQUIRED

from gateway.contract import ConnectionNeeded
from gateway.surfaces.mcp.elicitations import Elicitations
from gateway.surfaces.mcp.envelope import WireError
from gateway.surfaces.mcp.request import Request

_KEY = "porch/connect"
"""The name of the gateway's own question among those of a 2026-07-28 answer."""
_ASKABLE = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Methods whose results may ask for input first (SEP-2322)."""


def asked_to_connect(
    failed: ConnectionNeeded, request: Request, elicitations: Elicitations
) -> bytes | None:
    """The answer that has the client open the link; None where it cannot.

    Args:
        failed: why the call needs it.
        request: the call.
        elicitations: hears when it is done, and tells the client.

    Raises:
        WireError: the answer of the era that has an error for it (MCP 2025-11-25, "URL Mode
            Elicitation").
    """
    if not failed.url or not _opens_links(request.channel.capabilities):
        return None
    question: dict[str, Any] = {"mode": "url", "message": failed.message, "url": failed.url}
    if (session := request.channel.session) is not None:
        asked = {**question, "elicitationId": elicitations.ask(session, failed.purpose)}
        raise WireError(URL_ELICITATION_REQUIRED, failed.message, {"elicitations": [asked]})
    if request.method not in _ASKABLE or _declined(request):
        return None
    asks = {"method": "elicitation/create", "params": question}
    result: dict[str, Any] = {"resultType": "input_required", "inputRequests": {_KEY: asks}}
    if (state := request.params.get("requestState")) is not None:
        result["requestState"] = state  # of the round that this one comes in between, signed as is
    return request.era.result(request.method, result)


def others(responses: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A client's answers without that to the gateway's own question, which is no plugin's."""
    if not responses or _KEY not in responses:
        return responses
    return {name: each for name, each in responses.items() if name != _KEY} or None


def _opens_links(capabilities: Mapping[str, Any]) -> bool:
    elicitation = capabilities.get("elicitation")
    return isinstance(elicitation, Mapping) and isinstance(elicitation.get("url"), Mapping)


def _declined(request: Request) -> bool:
    """Whether the person was asked already, and would not: asking again would have no end."""
    answer = (request.params.get("inputResponses") or {}).get(_KEY)
    return isinstance(answer, Mapping) and answer.get("action") != "accept"
