"""A call that needs a link to be opened first asks its person to, where the client can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import URL_ELICITATION_REQUIRED

from gateway.contract import ConnectionNeeded, RelayedError
from gateway.surfaces.mcp.elicitations import Elicitations
from gateway.surfaces.mcp.envelope import MISSING_CAPABILITY, WireError
from gateway.surfaces.mcp.request import Request
from gateway.toolkit.client_capabilities import ELICITATION, lacking, missing_capability

_OWN = "porch/"
"""How the names of the gateway's own questions begin, among those of a 2026-07-28 answer."""
_KEY = f"{_OWN}connect"
_LINK = f"{_OWN}link/"
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
    question: dict[str, Any] = {"mode": "url", "message": failed.message, "url": failed.url}
    if not failed.url or lacking(ELICITATION, question, request.channel.capabilities):
        return None
    if (session := request.channel.session) is not None:
        asked = {**question, "elicitationId": elicitations.ask(session, failed.purpose)}
        raise WireError(URL_ELICITATION_REQUIRED, failed.message, {"elicitations": [asked]})
    if request.method not in _ASKABLE or _declined(request):
        return None
    result = _asking({_KEY: question})
    if (state := request.params.get("requestState")) is not None:
        result["requestState"] = state  # of the round that this one comes in between, signed as is
    return request.era.result(request.method, result)


def asked_to_open(failed: RelayedError, request: Request) -> bytes | None:
    """The answer that has a client of 2026-07-28 open what a server of the older era names.

    Args:
        failed: the server's error.
        request: the call, which is made anew when the client comes back.

    Returns:
        None where the error says no such thing, or is the client's own way to be asked.

    Raises:
        WireError: the client did not declare that it opens links.
    """
    links = _links(failed) if request.era.modern and request.method in _ASKABLE else ()
    if not links or _declined(request):
        return None
    if lacks := lacking(ELICITATION, links[0], request.channel.capabilities):
        needed = missing_capability([lacks])
        raise WireError(MISSING_CAPABILITY, needed.message, needed.details)
    questions = {f"{_LINK}{number}": each for number, each in enumerate(links)}
    return request.era.result(request.method, _asking(questions))


def _links(failed: RelayedError) -> Sequence[dict[str, Any]]:
    """The links that an error asks to be opened (MCP 2025-11-25, "URL Mode Elicitation")."""
    asked = failed.details.get("elicitations")
    if failed.number != URL_ELICITATION_REQUIRED or not isinstance(asked, list):
        return ()
    found = [
        {name: each.get(name) for name in ("message", "url")}
        for each in asked
        if isinstance(each, Mapping) and each.get("mode") == "url"
    ]
    return [{"mode": "url", **each} for each in found if _all_texts(each)]


def _all_texts(link: Mapping[str, Any]) -> bool:
    return all(isinstance(each, str) for each in link.values())


def _asking(questions: Mapping[str, Any]) -> dict[str, Any]:
    asks = {key: {"method": ELICITATION, "params": each} for key, each in questions.items()}
    return {"resultType": "input_required", "inputRequests": asks}


def others(responses: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A client's answers without those to the gateway's own questions, which are no plugin's."""
    if not responses or not any(name.startswith(_OWN) for name in responses):
        return responses
    return {name: each for name, each in responses.items() if not name.startswith(_OWN)} or None


def own(responses: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """A client's answers to the gateway's own questions."""
    return {name: each for name, each in (responses or {}).items() if name.startswith(_OWN)}


def _declined(request: Request) -> bool:
    """Whether the person was asked already, and would not: asking again would have no end."""
    answers = request.params.get("inputResponses") or {}
    own = [answers[name] for name in answers if name.startswith(_OWN)]
    return any(isinstance(each, Mapping) and each.get("action") != "accept" for each in own)
