"""When a call above the caller's tier starts a sign-in, rather than telling how to get one."""

from __future__ import annotations

from auth import Caller, Tier
from gateway.catalog.refusals import NotAllowed
from gateway.config.access import Challenged
from gateway.surfaces.http.challenges import bearer_challenge
from gateway.surfaces.http.responses import Headers
from gateway.surfaces.mcp.envelope import WireError
from gateway.surfaces.mcp.request import Request

_STARTS = frozenset(
    {"tools/call", "prompts/get", "resources/read", "skills/get", "resources/directory/read"}
)
"""What somebody wants done. Completions, which clients ask for while people type, start nothing."""

_LOST_BY_401 = ("python-httpx/", "Go-http-client/")
"""Clients of the legacy era, by their ``User-Agent``, that a 401 costs their whole connection
where they are not set up for OAuth: the Python SDK before 2.0 raises it out of its task group
(1.30.0: ``StreamableHTTPTransport._handle_post_request``), and Go's fails its session
(``streamableClientConn.Write``). Others show the answer's body, with the sentence, and go on."""


class Challenge(WireError):
    """A refusal whose HTTP answer makes a client sign its person in (RFC 6750, section 3.1).

    It is the JSON-RPC error that it would be without, so that a client without OAuth shows its
    sentence.

    Args:
        code: the JSON-RPC error code.
        refusal: why, and which tier it takes.
        request: what is refused; 401 to a stranger, 403 to a token whose scope is too narrow.
        headers: what the answer says beside.
    """

    def __init__(
        self, code: int, refusal: NotAllowed, request: Request, headers: Headers = ()
    ) -> None:
        super().__init__(code, refusal.message, refusal.details)
        context = request.context
        anonymous = context.caller.anonymous
        error = None if anonymous else "insufficient_scope"
        self._status = 401 if anonymous else 403
        self.headers: Headers = (
            *headers,
            bearer_challenge(context.base, context.path, error=error, scope=refusal.required),
        )

    @property
    def status(self) -> int:
        """The HTTP status, in every era."""
        return self._status


class StepUp:
    """Says which refusals challenge the client.

    Args:
        challenged: who is challenged.
        can_sign_in: whether there is a way to sign in.
    """

    def __init__(self, challenged: Challenged, *, can_sign_in: bool) -> None:
        self._challenged = challenged
        self._can_sign_in = can_sign_in

    def applies(self, refusal: NotAllowed, request: Request) -> bool:
        """Whether a refusal is answered with a challenge."""
        if self._challenged == "sentence" or request.method not in _STARTS:
            return False
        if not _liftable(request.caller, refusal.required):
            return False
        return self._challenged == "http" or self._follows(request)

    def _follows(self, request: Request) -> bool:
        """Whether the client gets somewhere by a challenge, as far as can be told."""
        if not request.caller.anonymous:
            return request.caller.consented  # an API token's holder has no consent to widen
        agent = request.context.headers.get("user-agent", "")
        lost = not request.era.modern and agent.startswith(_LOST_BY_401)
        # A bearer token of a stranger is for a plugin's upstream, and stays there.
        brought = "authorization" in request.context.headers
        return self._can_sign_in and not lost and not brought


def _liftable(caller: Caller, required: Tier) -> bool:
    """Whether a better token would do: a stranger has none, and a narrow one holds back."""
    return caller.anonymous or (caller.signed_in and not caller.ceiling.allows(required))
