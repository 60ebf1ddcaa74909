"""The parameters of an OAuth request, read with the care that RFC 6749 asks for."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import parse_qsl, unquote_plus

MAX_CHARACTERS = 4096
"""Characters of one value; a client id can hold a registration, and a state what a client likes."""
MAX_PARAMETERS = 40
"""Parameters of one request."""


class BadParameters(Exception):
    """The parameters cannot be read as one request; the text says why."""


def read_parameters(encoded: bytes) -> dict[str, str]:
    """Read ``application/x-www-form-urlencoded`` parameters.

    A parameter without a value counts as left out (RFC 6749, section 3.1).

    Raises:
        BadParameters: one is given twice (ibid.), is very long, or there are very many.
    """
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"),
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError:
        raise BadParameters(
            f"Send at most {MAX_PARAMETERS} parameters, form-encoded as UTF-8."
        ) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise BadParameters(f"The parameter {name[:40]} is there twice.")
        if len(value) > MAX_CHARACTERS or len(name) > MAX_CHARACTERS:
            raise BadParameters(
                f"The parameter {name[:40]} is longer than {MAX_CHARACTERS} characters."
            )
        found[name] = value
    return found


def with_client(parameters: dict[str, str], authorization: str | None) -> dict[str, str]:
    """Add the client id of a Basic header, which RFC 6749 (2.3.1) has instead of a parameter.

    The SDK checks the header's secret, but looks for the client id among the parameters.

    Raises:
        BadParameters: the header is not readable, names another client than the parameter does,
            or there is a second way of authentication beside it (RFC 6749, section 2.3).
    """
    if authorization is None:
        return parameters
    scheme, _, encoded = authorization.partition(" ")
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode("ascii")
        client_id = unquote_plus(decoded.partition(":")[0], errors="strict")
    except (binascii.Error, ValueError):
        client_id = ""
    if scheme.lower() != "basic" or not client_id:
        raise BadParameters("The Authorization header is no readable Basic header.")
    if parameters.get("client_id", client_id) != client_id:
        raise BadParameters("The Authorization header and client_id name different clients.")
    if "client_secret" in parameters:
        raise BadParameters("Send the client secret once: as a header or as a parameter.")
    return {**parameters, "client_id": client_id}
