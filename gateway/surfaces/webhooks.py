"""Webhooks: other systems' signed deliveries, under ``/hooks/<plugin>/<name>``."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_core import to_json
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.contract import Offer, ToolFailed, Webhook
from gateway.observability.logs import get_logger
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.errors import send_error
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.http.responses import send_json

log = get_logger(__name__)


def webhook_routes(offers: Mapping[str, Offer], limit: int) -> list[Route]:
    """One POST route for each webhook.

    Args:
        offers: the open plugins' offers, by name.
        limit: bytes that a delivery may have.
    """
    return [
        Route(
            f"/hooks/{plugin}/{webhook.name}",
            endpoint=_Endpoint(plugin, webhook, limit),
            methods=["POST"],
        )
        for plugin, offer in offers.items()
        for webhook in offer.webhooks
    ]


class _Endpoint:
    def __init__(self, plugin: str, webhook: Webhook, limit: int) -> None:
        self._plugin = plugin
        self._webhook = webhook
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context = context_of(scope)
        try:
            body = await read_body(receive, context.headers, self._limit)
            if not self._webhook.verify(body, context.headers):
                message = "The signature does not fit the body. Check the shared secret."
                await send_error(send, 403, "bad_signature", message, context.request_id)
                return
            answer = await self._webhook.run(body, context.headers)
        except ClientLeft:
            return
        except BodyRefused as error:
            await send_error(
                send,
                error.status,
                error.code,
                str(error),
                context.request_id,
                headers=error.headers,
            )
        except ToolFailed as failed:
            await send_error(send, 400, failed.code, failed.message, context.request_id)
        except Exception:
            log.exception("webhook_failed", plugin=self._plugin, webhook=self._webhook.name)
            message = "Something went wrong here. The sender may try again."
            await send_error(send, 500, "internal_error", message, context.request_id)
        else:
            await send_json(send, to_json(dict(answer)))
