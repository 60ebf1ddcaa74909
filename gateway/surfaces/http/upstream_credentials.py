"""The caller's own credential for a plugin's upstream: where it comes in, and whose it is.

It travels with one request, to the calls of the plugin that asked for it and to no other's. It
says nothing about who is calling: whoever sends nothing else is anonymous.
"""

from __future__ import annotations

from collections.abc import Mapping

from auth import BadCredential
from auth.credentials import BEARER, presented
from gateway.config.addresses import plugin_of
from gateway.contract import Offer, UpstreamCredential
from gateway.observability.redaction import redactor
from gateway.pipeline.call_context import CallContext


class Upstreams:
    """What the open plugins say about their upstreams' credentials.

    Args:
        offers: what each open plugin offers, by its name; it may change.
    """

    def __init__(self, offers: Mapping[str, Offer]) -> None:
        self._offers = offers

    def takes(self, path: str, token: str) -> bool:
        """Whether a path's plugin takes a bearer token that is none of the portal's.

        Args:
            path: the path of the request.
            token: the token as it was presented.

        Raises:
            BadCredential: the plugin takes such tokens, and this one is not of its form.
        """
        plugin = plugin_of(path)
        return plugin is not None and self._from_bearer(plugin, token) is not None

    def brought(self, context: CallContext, plugin: str) -> str | None:
        """The credential that a request brings for a plugin's upstream."""
        offer = self._offers.get(plugin)
        if offer is None or offer.credential is None or context.only not in (None, plugin):
            return None
        return self._value(plugin, offer.credential, context) or None

    def lacks(self, context: CallContext) -> str | None:
        """The header that a request to a plugin's own endpoint lacks, where it must bring one."""
        offer = self._offers.get(context.only or "")
        declared = offer.credential if offer else None
        if declared is None or not declared.demanded or not context.caller.anonymous:
            return None
        sent = context.headers.get(BEARER.decode()) or context.headers.get(declared.header)
        return None if sent else declared.header

    def _value(self, plugin: str, declared: UpstreamCredential, context: CallContext) -> str | None:
        if context.only == plugin and context.caller.anonymous:
            # The HTTP guard lets an anonymous caller in with a bearer token only if it is for here.
            credential = presented(context.raw_headers)
            if credential and (value := self._from_bearer(plugin, credential[1])):
                return value
        return context.headers.get(declared.header)

    def _from_bearer(self, plugin: str, token: str) -> str | None:
        offer = self._offers.get(plugin)
        declared = offer.credential if offer else None
        if declared is None or declared.from_bearer is None:
            return None
        try:
            return declared.from_bearer(token)
        except ValueError as error:
            with redactor.hiding(token):
                raise BadCredential(redactor.text(str(error))) from None
