"""What an OpenAPI document says of a route's answers: schemas, errors, headers, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.contract import Allowance, Api
from gateway.surfaces.rest.parameters import WITH_BODY

if TYPE_CHECKING:
    from gateway.surfaces.rest.openapi import Described

_REQUEST_ID, _CHALLENGE, _RETRY = "X-Request-Id", "WWW-Authenticate", "Retry-After"
_LIMITS = {
    "RateLimit": "What is left of the limit, r, and seconds until it is whole again, t.",
    "RateLimit-Policy": "The operation's limit: q times within w seconds.",
}
_OWN = {
    _REQUEST_ID: "The request's id; name it to the admin.",
    _CHALLENGE: "How to sign in (RFC 6750, RFC 9728).",
    _RETRY: "Seconds to wait.",
    **_LIMITS,
}


def header_parts(api: Api | None) -> dict[str, Any]:
    """The document's ``components.headers``: the portal's own, and those of an API."""
    texts = dict(_OWN)
    if api is not None:
        texts |= {name: api.header_texts.get(name, "") for name in api.headers(Allowance(1, 1, 1))}
    headers: dict[str, Any] = {
        name: {"description": text, "schema": {"type": "string"}} for name, text in texts.items()
    }
    headers[_REQUEST_ID]["required"] = True
    return headers


def answers(each: Described, result: Any, error: Any) -> dict[str, Any]:
    """A route's ``responses``.

    Args:
        each: the route.
        result: the schema of success.
        error: the schema of everything else.
    """
    good = str(each.route.status)
    content = {"schema": result}
    if each.api is not None and each.route.response in each.api.examples:
        content["example"] = each.api.examples[each.route.response]
    responses = {good: _answer(each, good, "The result.", content)}
    for status, text in _failures(each).items():
        responses[status] = _answer(each, status, text, {"schema": error})
    return responses


def _failures(each: Described) -> dict[str, str]:
    route = each.route
    failures = {
        "400": "A parameter is not good.",
        "401": "The route asks for a higher tier; sign in.",
        "403": "The route asks for a higher tier.",
        "404": "There is no such entry.",
    }
    if route.tool is not None and each.api is None:
        failures["403"] += " Or a person has refused the call: approval_refused."
        failures["409"] = (
            "The call waits for a person's yes: approval_needed. The details name the approval, "
            "who decides, until when, and the page; then call again with the very same arguments."
        )
    if route.admin:
        failures |= {"401": "Sign in.", "403": "The route is for the portal's admins."}
    if route.method in WITH_BODY:
        failures |= {"413": "The body is too large.", "415": "The body is no JSON."}
    if each.rate is not None:
        failures["429"] = "You have asked too often; Retry-After says how many seconds to wait."
    if each.api is not None:
        failures["default"] = "Anything else that stood in the way; the code says what."
    return failures


def _answer(each: Described, status: str, text: str, content: Any) -> dict[str, Any]:
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in _headers(each, status)}
    return {"description": text, "headers": headers, "content": {"application/json": content}}


def _headers(each: Described, status: str) -> list[str]:
    """The headers that an answer carries."""
    counted = each.rate is not None and status in {str(each.route.status), "429"}
    names = [_REQUEST_ID]
    names += [_CHALLENGE] if status == "401" else []
    names += [_RETRY] if status == "429" else []
    names += _LIMITS if counted else []
    if each.api is not None:
        names += each.api.headers(Allowance(1, 1, 1) if counted else None)
    return names
