"""The call that is running, as plugins see it. They reach it through :mod:`gateway.contract`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from auth import Caller
from auth.tokens.assertions import Assertion
from gateway.contract.missing_items import Absent


class Exchange(Protocol):
    """The call that is running now, as a tool sees it: its client, and what its caller may do.

    A client that did not ask for progress or logs is not sent any. Over REST and ``porch
    call`` there is no one to ask: ``can_ask`` is false.
    """

    @property
    def request_id(self) -> str:
        """The id that logs, the audit record and errors carry."""
        ...

    @property
    def client(self) -> str:
        """What stands for the client in all of its calls, and for no other: no credential.

        It is its session (2025-11-25 and older), or else the person who calls; empty where nothing
        tells clients apart.
        """
        ...

    @property
    def client_name(self) -> str:
        """What the client calls itself, cut to 40 characters: a claim, and empty where it is none.

        For what is kept of who did something; nothing is decided by it.
        """
        ...

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """What the client declared, as it stands on the wire."""
        ...

    @property
    def can_ask(self) -> bool:
        """Whether :meth:`ask` works: a legacy session with a stream open to its client."""
        ...

    @property
    def log_level(self) -> str | None:
        """The least severe level of log messages that the client wants; None for no messages."""
        ...

    @property
    def input_responses(self) -> Mapping[str, Any] | None:
        """The client's answers to an earlier ``InputRequiredResult`` (2026-07-28, SEP-2322)."""
        ...

    @property
    def request_state(self) -> str | None:
        """The state that the earlier result carried; the gateway has checked its signature."""
        ...

    @property
    def credential(self) -> str | None:
        """The caller's own credential for the plugin's upstream (``Offer.credential``).

        It lives for this one request: never log it, store it, or use it as a key.
        """
        ...

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the client says beside its request (``_meta``), for whoever answers it in the end.

        What belongs to one hop, to MCP itself or to the portal is left out, and so is what is
        called like a credential; secrets in the rest are taken out.
        """
        ...

    @property
    def base(self) -> str:
        """The portal's address as the caller sees it, without a slash at its end; "" outside of
        any call. For links to the portal's pages in what is told to people."""
        ...

    def allows(self, tool: str, caller: Caller | None = None) -> bool:
        """Whether the caller of this call may use another tool of the same plugin.

        It is what ``tiers.yaml`` and the credential's limits say. False for a tool that the
        plugin does not offer, and outside of any call.

        Args:
            tool: the tool's name as the plugin declares it, whatever the portal calls it.
            caller: somebody else whom it is asked about (``People.caller``); False for a plugin
                in a process of its own, which is told of this call's caller alone.
        """
        ...

    async def missing(self, name: str | None = None) -> Sequence[Absent]:
        """What the caller of this call does not see of the whole portal, and why.

        What is hidden from them is left out, as if there were no such thing; outside of any call
        that is everything.

        Args:
            name: only what has this name or key; where nothing has, the sources that do not answer
                or are not open, of which it may be. Something that the caller may use is told
                with ``why`` ``there``.
        """
        ...

    async def call(self, key: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call another tool of the portal for the caller of this call.

        It passes everything that it would if the caller's client had called it: tiers and the
        credential's limits, rates, bulkheads, its deadline, scrubbing, the audit record. It has
        nobody to tell of progress or to ask. Cancelling what awaits it ends it.

        Args:
            key: what ``tiers.yaml`` calls the tool, such as ``knowledge/search_knowledge``.
            arguments: its arguments, as JSON values.

        Returns:
            The result of ``tools/call`` as MCP has it: ``content``, ``structuredContent`` and
            ``isError`` where there are any.

        Raises:
            ToolFailed: there is no such tool for this caller (``not_found``, also where it is
                hidden from them), their tier is too low (``not_allowed``), they call too often
                (``rate_limited``), it has failed, or no call runs.
        """
        ...

    async def assertion(self, audience: str) -> Assertion:
        """The portal's signed word about who calls, for an authorization server of others.

        It is good for a minute, and at the portal for nothing. Send it to that server alone, such
        as for an exchange of tokens (RFC 8693); never log or store it.

        Args:
            audience: the authorization server's issuer, as it calls itself.

        Raises:
            ToolFailed: nobody calls (``no_call``), or nobody who has signed in
                (``sign_in_needed``), or the audience is the portal itself (``bad_audience``).
        """
        ...

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress, if the client asked for it and ``done`` has grown."""
        ...

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message to the client, if its log level lets it through."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request to the client (elicitation, sampling) and await its answer.

        Raises:
            ToolFailed: there is no one to ask, or the client refused.
        """
        ...

    def link_asked(self, elicitation: str) -> Callable[[], None]:
        """Note that the client is asked to open a link (MCP 2025-11-25, "URL Mode Elicitation").

        Args:
            elicitation: the ``elicitationId`` of the question, or of the error, that asks it.

        Returns:
            What to call once that is done, during the call or later: the client is told so
            (``notifications/elicitation/complete``), at whichever replica its stream is.
        """
        ...
