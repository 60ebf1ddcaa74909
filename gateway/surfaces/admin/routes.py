"""``/admin``: why somebody may use something, what other tier rules would change, which tools are.

For admins, and for the portal's own user over its local socket, through which `porch explain`,
`porch tiers diff` and `porch token create` come.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auth import Caller
from auth.rules.verdict import Resolution, Verdict, lines
from gateway.catalog.catalog import Catalog
from gateway.catalog.missing_items import Explained
from gateway.config.tiers_file import parse_tiers
from gateway.contract.suggestions import near
from gateway.errors import ConfigError, PortalError, wire
from gateway.surfaces.admin.budgets import BudgetAdmin
from gateway.surfaces.admin.explaining import Explaining, Judged
from gateway.surfaces.admin.payments import NOTHING_PAID, PaymentAdmin
from gateway.surfaces.admin.tiers_diff import Comparing
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.request_context import context_of

MAX_TIERS_BYTES = 1024 * 1024
"""Bytes that a ``tiers.yaml`` may have here."""

Answer = Callable[[Request], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Admin:
    """What the admin surface needs.

    Attributes:
        catalog: the items and what is decided for them.
        explaining: says why somebody may use something.
        comparing: says what other rules would change.
        closed: names the plugins that are not open, whose tools nobody knows now.
        budgets: answers about budgets of models.
        payments: answers about what people pay.
    """

    catalog: Catalog
    explaining: Explaining
    comparing: Comparing
    budgets: BudgetAdmin
    closed: Callable[[], Sequence[str]] = tuple
    payments: PaymentAdmin = NOTHING_PAID

    async def tools(self, request: Request) -> Any:
        """Answer ``GET /admin/tools?name=NAME&name=...``: which are none, and what comes near."""
        there = {item.name for item in self.catalog.items() if item.kind == "tool"}
        asked = dict.fromkeys(request.query_params.getlist("name"))
        return {
            "unknown": [
                {"name": name, "near": near(name, there)} for name in asked if name not in there
            ],
            "closed": list(self.closed()),
        }

    async def explain(self, request: Request) -> Any:
        """Answer ``GET /admin/explain?as=WHO&item=NAME``."""
        asked = request.query_params
        chain = await self.explaining.chain(asked.get("as", "anonymous"), asked.get("item", ""))
        return _caller(chain.caller) | {
            "rules": _rules(chain.resolution),
            "items": [_explained(each) for each in chain.items],
            "absent": [_absent(each) for each in chain.absent],
        }

    async def diff(self, request: Request) -> Any:
        """Answer ``POST /admin/tiers-diff``, whose body is a ``tiers.yaml``."""
        raw = await read_body(request.receive, context_of(request.scope).headers, MAX_TIERS_BYTES)
        tiers = parse_tiers(raw, request.query_params.get("file", "tiers.yaml"))
        changes = await self.comparing.changes(tiers)
        return {
            "items": [change.told() for change in changes.items],
            "people": [asdict(change) for change in changes.people],
        }


def admin_routes(admin: Admin, status: Answer, tool_costs: Answer) -> list[Route]:
    """The routes below ``/admin``.

    Args:
        admin: answers about items and people.
        status: says what the portal does now.
        tool_costs: says what tools cost a client.
    """
    return [
        Route("/admin/status", endpoint=_for_admins(status)),
        Route("/admin/tools", endpoint=_for_admins(admin.tools)),
        Route("/admin/tool-costs", endpoint=_for_admins(tool_costs)),
        Route("/admin/explain", endpoint=_for_admins(admin.explain)),
        Route("/admin/budgets", endpoint=_for_admins(admin.budgets.standing)),
        Route("/admin/credits", endpoint=_for_admins(admin.budgets.grant), methods=["POST"]),
        Route("/admin/payments", endpoint=_for_admins(admin.payments.listed)),
        Route("/admin/payments", endpoint=_for_admins(admin.payments.reconciled), methods=["POST"]),
        Route("/admin/tiers-diff", endpoint=_for_admins(admin.diff), methods=["POST"]),
    ]


def _for_admins(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def guarded(request: Request) -> Response:
        context = context_of(request.scope)
        headers = {"cache-control": "no-store"}
        if not context.local and not context.caller.admin:
            body = wire("not_allowed", "This is for the portal's admins.", {}, context.request_id)
            return JSONResponse(body, 403, headers)
        try:
            return JSONResponse(await answer(request), headers=headers)
        except PortalError as error:
            body = wire(error.code, error.message, error.details, context.request_id)
            return JSONResponse(body, error.status, headers)
        except ConfigError as error:
            body = wire("bad_tiers", str(error), {}, context.request_id)
            return JSONResponse(body, 422, headers)
        except (BodyRefused, ClientLeft) as error:
            body = wire("bad_body", str(error), {}, context.request_id)
            return JSONResponse(body, 400, headers)

    return guarded


def _explained(judged: Judged) -> dict[str, Any]:
    why = judged.why
    return {
        "item": judged.key,
        "kind": judged.kind,
        "requires": why.decision.tier,
        "hidden": why.decision.hidden,
        "decided_by": why.decision.because,
        "waits_for": why.decision.waits_for,
        "allowed": why.allowed,
        "known": why.known,
        "because": why.because,
    }


def _absent(each: Explained) -> dict[str, Any]:
    absent = each.absent
    return {
        "item": absent.key,
        "name": absent.name,
        "kind": absent.kind,
        "why": absent.why,
        "reason": absent.reason,
        "detail": absent.detail,
        "link": absent.link,
        "known": each.is_told,
    }


def _caller(caller: Caller) -> dict[str, Any]:
    return {
        "who": caller.person or "anonymous",
        "name": caller.name,
        "tier": caller.tier,
        "admin": caller.admin,
        "degraded": caller.degraded,
        "sign_in_again": caller.sign_in_again,
        "reasons": caller.reasons,
        "groups": sorted(caller.groups),
    }


def _rules(resolution: Resolution | None) -> dict[str, list[dict[str, Any]]]:
    if resolution is None or resolution.granted is not None:
        return {}
    judged = {
        "public": resolution.public,
        "members": resolution.members,
        "admins": resolution.admins,
    }
    return {name: [_line(*line) for line in lines(verdict)] for name, verdict in judged.items()}


def _line(depth: int, verdict: Verdict) -> dict[str, Any]:
    return {
        "depth": depth,
        "rule": verdict.rule,
        "holds": verdict.holds,
        "because": verdict.because,
    }
