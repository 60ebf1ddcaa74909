"""Stripe's API, through its own library: what the portal asks of it, as JSON values.

The library is imported when the first of it is needed. A failure is told by Stripe's code and the
parameter alone: its own texts may repeat what was sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from gateway.contract import ToolFailed

if TYPE_CHECKING:
    from stripe import HTTPXClient, StripeClient

REQUEST_SECONDS = 20.0
"""Seconds that one answer may take."""
RETRIES = 2
"""How often a request is tried again that failed on the way; each has a key of idempotency."""
TOLERANCE_SECONDS = 300
"""How far the time of a signature may be from now, as Stripe has it."""
PAGE = 100
"""Objects that one page of a list has."""

Object = Mapping[str, Any]
"""An object of Stripe's as JSON values."""


class StripeFailed(ToolFailed):
    """Stripe did not do what it was asked."""

    @property
    def is_missing(self) -> bool:
        """Whether there is no such object, or no longer."""
        return self.details.get("reason") == "resource_missing"


class StripeApi:
    """Asks Stripe.

    Args:
        key: the secret key.
        url: the API's address.
    """

    def __init__(self, key: str, url: str) -> None:
        self._key, self._url = key, url
        self._client: StripeClient | None = None
        self._http: HTTPXClient | None = None

    async def begin(self) -> None:
        """Import the library, beside the event loop: it takes a second."""
        await asyncio.to_thread(self._opened)

    async def close(self) -> None:
        """Let go of the connections."""
        http, self._http, self._client = self._http, None, None
        if http is not None:
            closing: Any = http.close_async  # untyped in the library
            await closing()

    async def customer(self, person: str, metadata: Mapping[str, str]) -> Object:
        """The customer that a person is; made once, however often it is asked for in a day."""
        key = f"porch-customer-{metadata['porch']}-{person}"
        return await self._asked(
            self._v1.customers.create_async(
                {"metadata": dict(metadata)}, {"idempotency_key": key[:255]}
            )
        )

    async def forget_customer(self, customer: str) -> None:
        """Delete a customer, which ends their subscriptions; one that is gone is no error."""
        try:
            await self._asked(self._v1.customers.delete_async(customer))
        except StripeFailed as failed:
            if not failed.is_missing:
                raise

    async def checkout(self, params: Mapping[str, Any]) -> Object:
        """Open a page of Stripe's on which somebody pays."""
        made: Any = dict(params)
        return await self._asked(self._v1.checkout.sessions.create_async(made))

    async def portal(self, params: Mapping[str, Any]) -> Object:
        """Open the page of Stripe's on which a customer manages what they pay."""
        made: Any = dict(params)
        return await self._asked(self._v1.billing_portal.sessions.create_async(made))

    async def payment(self, id: str) -> Object:
        """A PaymentIntent with its charge."""
        return await self._asked(
            self._v1.payment_intents.retrieve_async(id, {"expand": ["latest_charge"]})
        )

    async def subscription(self, id: str) -> Object:
        """A subscription with its items."""
        return await self._asked(self._v1.subscriptions.retrieve_async(id))

    async def event(self, id: str) -> Object | None:
        """An event; None for one that Stripe has no more, after a month."""
        try:
            return await self._asked(self._v1.events.retrieve_async(id))
        except StripeFailed as failed:
            if not failed.is_missing:
                raise
            return None

    async def count_overage(self, meter: str, customer: str, cents: int, identifier: str) -> None:
        """Tell a meter of an overage; the same identifier counts once within a day."""
        payload = {"stripe_customer_id": customer, "value": str(cents)}
        await self._asked(
            self._v1.billing.meter_events.create_async(
                {"event_name": meter, "identifier": identifier, "payload": payload},
                {"idempotency_key": f"porch-{identifier}"[:255]},
            )
        )

    async def payments_since(self, since: int) -> AsyncIterator[Object]:
        """Every PaymentIntent that was made since a time (seconds since 1970)."""
        made = self._v1.payment_intents.list_async({"created": {"gte": since}, "limit": PAGE})
        async for each in self._all(made):
            yield each

    async def all_subscriptions(self, since: int) -> AsyncIterator[Object]:
        """Every subscription that was made since a time (seconds since 1970), also ended ones."""
        made = self._v1.subscriptions.list_async(
            {"created": {"gte": since}, "limit": PAGE, "status": "all"}
        )
        async for each in self._all(made):
            yield each

    async def _all(self, asked: Awaitable[Any]) -> AsyncIterator[Object]:
        import stripe

        try:
            page = await asked
            async for each in page.auto_paging_iter():
                yield each.to_dict(for_json=True)
        except stripe.StripeError as error:
            raise _told(error) from None

    @property
    def _v1(self) -> Any:
        """Its services; untyped, as the library types parameters by dictionaries of its own."""
        return self._opened().v1

    def _opened(self) -> StripeClient:
        if self._client is None:
            import stripe

            stripe.enable_telemetry = False
            self._http = stripe.HTTPXClient(timeout=REQUEST_SECONDS)
            self._client = stripe.StripeClient(
                self._key,
                base_addresses={"api": self._url},
                max_network_retries=RETRIES,
                http_client=self._http,
            )
        return self._client

    async def _asked(self, asked: Awaitable[Any]) -> Object:
        import stripe

        try:
            answer = await asked
        except stripe.StripeError as error:
            raise _told(error) from None
        found: Object = answer.to_dict(for_json=True)
        return found


def is_signed(body: bytes, header: str, secrets: tuple[str, ...]) -> bool:
    """Whether one of the secrets has signed a body, within five minutes of now.

    Args:
        body: as it came.
        header: ``Stripe-Signature``: a time, and a signature by each secret that counts.
        secrets: the endpoint's, the old one among them while it is replaced.
    """
    import stripe

    for secret in secrets:
        try:
            stripe.WebhookSignature.verify_header(body, header, secret, TOLERANCE_SECONDS)
        except (stripe.SignatureVerificationError, ValueError):
            continue
        # The library refuses what is too old, and not what is dated ahead.
        times = [part.partition("=")[2] for part in header.split(",") if part.startswith("t=")]
        return int(times[0]) <= time.time() + TOLERANCE_SECONDS
    return False


def _told(error: Any) -> StripeFailed:
    import stripe

    code = str(error.code or type(error).__name__)
    if isinstance(error, stripe.AuthenticationError | stripe.PermissionError):
        text = (
            "Stripe refuses the portal's key. An admin must set payments.stripe.secret_key in "
            "portal.yaml to a key that may do this."
        )
        failed = StripeFailed("payment_refused", text)
    elif isinstance(error, stripe.InvalidRequestError | stripe.CardError):
        field = f" at {error.param}" if getattr(error, "param", None) else ""
        text = (
            f"Stripe does not accept what the portal asks ({code}{field}). An admin must hold "
            "payments.stripe of portal.yaml against Stripe's dashboard."
        )
        failed = StripeFailed("payment_refused", text)
    else:
        failed = StripeFailed(
            "payment_away", f"Stripe does not answer now ({code}). Nothing was charged; try again."
        )
    failed.details["reason"] = code
    return failed
