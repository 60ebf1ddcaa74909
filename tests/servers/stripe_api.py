"""A small Stripe on loopback: the part of its API that Porch asks, and its webhooks.

::

    with StripeServer() as stripe:
        stripe.pay("cs_1")                     # the person pays on the page of a checkout
        stripe.refund("pi_1", 200)             # cents
        stripe.fails = [500, 429]              # the next answers
        for event in stripe.sent: ...          # what it has to tell, in order
        body, headers = stripe.signed(event)   # as it is delivered

Requests are form-encoded and answers are those of version 2026-10-28, as far as the portal reads
them. A POST with an ``Idempotency-Key`` that came before is answered as it was then.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers.serving import bound, serving

KEY = "sk_test_garden"
SECRET = "whsec_garden"
Values = dict[str, Any]
_MONTH_SECONDS = 30 * 86_400
_ID = re.compile(r"[a-z]+_[0-9]{6}")


class StripeServer:
    """Stripe; a context manager.

    Attributes:
        url: its address.
        objects: everything that was made, by id.
        asked: every request, as its method and path, with what it carried.
        sent: the events that it has told of, the oldest first.
        fails: the status of the next answers, in place of the answer; 0 answers.
        keeps: whether a request that fails with 500 is done all the same.
        meter_events: what meters were told, by identifier.
        secrets: what it signs with.
        seen: told each request before it is answered; a test stops the world there.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Values] = {}
        self.asked: list[tuple[str, Values]] = []
        self.sent: list[Values] = []
        self.fails: list[int] = []
        self.keeps = False
        self.meter_events: dict[str, Values] = {}
        self.secrets = [SECRET]
        self.seen: Callable[[str], None] = lambda asked: None
        self._ids = itertools.count(1)
        self._answers: dict[str, tuple[int, Values]] = {}
        self._lock = threading.RLock()
        self._stack = ExitStack()

    def __enter__(self) -> StripeServer:
        app = Starlette(routes=[Route("/v1/{path:path}", self._answer, methods=_METHODS)])
        self.url = self._stack.enter_context(serving(app, bound()))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # What happens at Stripe, beside its API.

    def pay(self, session: str) -> Values:
        """Have the person of a checkout pay; the checkout."""
        with self._lock:
            found = self.objects[session]
            found |= {"status": "complete", "payment_status": "paid"}
            if found["mode"] == "payment":
                self._charged(found)
            else:
                self._subscribed(found)
            self.tell("checkout.session.completed", found)
            return found

    def refund(self, payment: str, cents: int) -> None:
        """Refund a part of a payment."""
        with self._lock:
            charge = self.objects[self.objects[payment]["latest_charge"]]
            charge["amount_refunded"] += cents
            charge["refunded"] = charge["amount_refunded"] == charge["amount"]
            self.tell("charge.refunded", charge)

    def change(self, subscription: str, *, price: str = "", seats: int = 0, **others: Any) -> None:
        """Change a subscription, as its customer, its card or an admin does."""
        with self._lock:
            found = self.objects[subscription]
            item = found["items"]["data"][0]
            item["price"] = {"id": price} if price else item["price"]
            item["quantity"] = seats or item["quantity"]
            found |= others
            ended = found["status"] == "canceled"
            kind = "customer.subscription." + ("deleted" if ended else "updated")
            self.tell(kind, found)

    def invoiced(self, subscription: str, *, paid: bool) -> None:
        """Tell of an invoice of a subscription."""
        details = {"subscription": subscription}
        parent = {"type": "subscription_details", "subscription_details": details}
        invoice = {"id": self.id("in"), "object": "invoice", "parent": parent}
        self.tell("invoice.paid" if paid else "invoice.payment_failed", invoice)

    def tell(self, kind: str, about: Mapping[str, Any]) -> Values:
        """Make an event about an object as it is now."""
        event: Values = {
            "id": self.id("evt"),
            "object": "event",
            "api_version": "2026-10-28.endive",
            "created": int(time.time()),
            "type": kind,
            "livemode": False,
            "data": {"object": json.loads(json.dumps(about))},
        }
        self.objects[event["id"]] = event
        self.sent.append(event)
        return event

    def signed(
        self, event: Mapping[str, Any], *, at: float | None = None
    ) -> tuple[bytes, dict[str, str]]:
        """An event as it is delivered: its body, and a signature by each secret."""
        body = json.dumps(event, indent=2).encode()
        moment = int(time.time() if at is None else at)
        marks = [f"v1={signature_of(secret, moment, body)}" for secret in self.secrets]
        header = ",".join([f"t={moment}", *marks, "v0=ffff"])
        return body, {"stripe-signature": header, "content-type": "application/json"}

    def id(self, kind: str) -> str:
        """A new id."""
        return f"{kind}_{next(self._ids):06d}"

    def _charged(self, session: Values) -> None:
        amount = session["amount_total"]
        charge = {
            "id": self.id("ch"),
            "object": "charge",
            "amount": amount,
            "amount_refunded": 0,
            "refunded": False,
            "metadata": session["metadata"],
        }
        payment = {
            "id": self.id("pi"),
            "object": "payment_intent",
            "status": "succeeded",
            "amount": amount,
            "amount_received": amount,
            "currency": "usd",
            "created": int(time.time()),
            "customer": session["customer"],
            "latest_charge": charge["id"],
            "metadata": session.pop("_payment", {}).get("metadata", {}),
        }
        charge["payment_intent"] = session["payment_intent"] = payment["id"]
        self.objects |= {charge["id"]: charge, payment["id"]: payment}
        self.tell("payment_intent.succeeded", payment)

    def _subscribed(self, session: Values) -> None:
        now = int(time.time())
        items = [
            {
                "id": self.id("si"),
                "object": "subscription_item",
                "price": {"id": line["price"], "object": "price"},
                "quantity": int(line.get("quantity", 0)) or None,
                "current_period_end": now + _MONTH_SECONDS,
            }
            for line in session["_lines"]
        ]
        found = {
            "id": self.id("sub"),
            "object": "subscription",
            "status": "active",
            "customer": session["customer"],
            "created": now,
            "cancel_at": None,
            "ended_at": None,
            "items": {"object": "list", "data": items, "has_more": False},
            "metadata": session.pop("_subscription", {}).get("metadata", {}),
        }
        session["subscription"] = found["id"]
        self.objects[found["id"]] = found
        self.tell("customer.subscription.created", found)

    # Its API.

    async def _answer(self, request: Request) -> Response:
        raw = await request.body()
        given = nested(parse_qsl(raw.decode() or request.url.query, keep_blank_values=True))
        path = request.path_params["path"]
        self.seen(f"{request.method} {path}")
        with self._lock:
            self.asked.append((f"{request.method} {path}", given))
            failing = self.fails.pop(0) if self.fails else 0
            if failing and not self.keeps:
                return _failure(failing)
            status, answer = self._known(request, path, given)
        return _failure(failing) if failing else JSONResponse(answer, status)

    def _known(self, request: Request, path: str, given: Values) -> tuple[int, Values]:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            error = {"type": "invalid_request_error", "message": "Invalid API Key: sk_test_****"}
            return 401, {"error": error}
        key = request.headers.get("idempotency-key", "") if request.method == "POST" else ""
        if key in self._answers:
            return self._answers[key]
        answer = self._do(request.method, path, given)
        if key:
            self._answers[key] = answer
        return answer

    def _do(self, method: str, path: str, given: Values) -> tuple[int, Values]:
        what, _, id = path.rpartition("/")
        if not _ID.fullmatch(id):
            what, id = path, ""
        match method, what:
            case "POST", "customers":
                return 200, self._made("cus", "customer", given)
            case "POST", "checkout/sessions":
                return 200, self._checkout(given)
            case "POST", "billing_portal/sessions":
                made = self._made("bps", "billing_portal.session", given)
                made["url"] = f"{self.url}/p/{made['id']}"
                return 200, made
            case "POST", "billing/meter_events":
                return self._metered(given)
            case "GET", "payment_intents" | "subscriptions" if not id:
                return 200, self._listed(path, given)
            case "DELETE", "customers":
                return self._deleted(id)
            case "GET", _ if id in self.objects:
                return 200, self._shown(id, given)
        return _missing(id or path)

    def _made(self, kind: str, name: str, given: Values) -> Values:
        made = {"id": self.id(kind), "object": name, "created": int(time.time()), **given}
        self.objects[made["id"]] = made
        return made

    def _checkout(self, given: Values) -> Values:
        given = dict(given)
        lines = given.pop("line_items")
        kept = {"_lines": lines, "_payment": given.pop("payment_intent_data", {})}
        kept["_subscription"] = given.pop("subscription_data", {})
        made = self._made("cs", "checkout.session", dict(given))
        made |= kept | {"status": "open", "payment_status": "unpaid", "payment_intent": None}
        made |= {"subscription": None, "url": f"{self.url}/c/{made['id']}"}
        made["expires_at"] = int(given["expires_at"])
        if given["mode"] == "payment":
            prices = [(line["price_data"]["unit_amount"], line["quantity"]) for line in lines]
            made["amount_total"] = sum(int(price) * int(count) for price, count in prices)
        return made

    def _metered(self, given: Values) -> tuple[int, Values]:
        identifier = given["identifier"]
        if identifier in self.meter_events:
            error = {"type": "invalid_request_error", "code": "duplicate_meter_event"}
            return 400, {"error": error}
        self.meter_events[identifier] = given
        return 200, {"object": "billing.meter_event", **given}

    def _listed(self, path: str, given: Values) -> Values:
        kind = path.removesuffix("s")
        found = [each for each in self.objects.values() if each["object"] == kind]
        found = [each for each in found if each["created"] >= int(given["created"]["gte"])]
        newest = sorted(found, key=lambda each: str(each["id"]), reverse=True)
        ids = [each["id"] for each in newest]
        start = ids.index(given["starting_after"]) + 1 if "starting_after" in given else 0
        end = start + int(given["limit"])
        page = [_public(each) for each in newest[start:end]]
        more = end < len(newest)
        return {"object": "list", "url": f"/v1/{path}", "data": page, "has_more": more}

    def _deleted(self, id: str) -> tuple[int, Values]:
        if self.objects.pop(id, None) is None:
            return _missing(id)
        for each in list(self.objects.values()):
            if each["object"] == "subscription" and each["customer"] == id:
                self.change(each["id"], status="canceled", ended_at=int(time.time()))
        return 200, {"id": id, "object": "customer", "deleted": True}

    def _shown(self, id: str, given: Values) -> Values:
        found = _public(self.objects[id])
        for name in given.get("expand", ()):
            found[name] = self.objects.get(str(found.get(name)))
        return found


_METHODS = ["GET", "POST", "DELETE"]


def nested(pairs: list[tuple[str, str]]) -> Values:
    """What form fields such as ``a[b][0]=1`` mean: mappings, and lists where keys are numbers."""
    found: Values = {}
    for name, value in pairs:
        keys = re.findall(r"[^\[\]]+", name)
        inner = found
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        inner[keys[-1]] = value
    return {key: _listed(value) for key, value in found.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(each) for key, each in value.items()}
    return list(inner.values()) if all(key.isdigit() for key in inner) else inner


def _public(found: Mapping[str, Any]) -> Values:
    return {key: value for key, value in found.items() if not key.startswith("_")}


def _missing(id: str) -> tuple[int, Values]:
    error = {"type": "invalid_request_error", "code": "resource_missing", "param": "id"}
    return 404, {"error": error | {"message": f"No such object: '{id}'"}}


def _failure(status: int) -> Response:
    return JSONResponse({"error": {"type": "api_error", "message": "Something broke."}}, status)


def signature_of(secret: str, moment: int, body: bytes) -> str:
    """The signature of a body at a time, as Stripe documents it."""
    text = f"{moment}.".encode() + body
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
