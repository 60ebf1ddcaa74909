"""The endpoints over requests that wait for a person (README, "Approval").

To approve takes a person in a browser: the endpoint says where, in the protocol's shape of errors.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route
from plugins.knowledge.memory.api.rates import WRITES
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.requests import Sent
from plugins.knowledge.memory.store.approvals import State
from plugins.knowledge.memory.tools.approvals import where_to_approve
from plugins.knowledge.memory.tools.waiting import WaitingWrite, waiting_writes

_ID = Field(min_length=1, max_length=200, description="The request's id.")


class ApprovalsAsked(Sent):
    """Which requests are asked for."""

    state: State | None = Field(None, description="Only those of this state.")
    offset: int = Field(0, ge=0, description="Requests that are skipped.")
    limit: int = Field(50, ge=1, le=200, description="How many at most.")


class ApprovalLook(Sent):
    """Which request is asked for."""

    id: str = _ID


class Decision(Sent):
    """What a person says to a request; the path says whether it is a yes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"note": "Checked with the group."}]})

    id: str = _ID
    note: str | None = Field(None, max_length=2000, description="What to say to who asked.")


class ApprovalPage(BaseModel):
    """Requests: the caller's own and those that they may decide; what waits, then the newest."""

    approvals: list[WaitingWrite]
    total: int = Field(description="How many there are in all, as far as the caller may know.")
    offset: int
    limit: int


def approval_routes(memory: Memory) -> list[Route]:
    """The endpoints."""

    async def listed(asked: ApprovalsAsked, caller: Caller) -> ApprovalPage:
        found = await memory.approvals.visible_to(caller, asked.state)
        page = found[asked.offset : asked.offset + asked.limit]
        return ApprovalPage(
            approvals=await waiting_writes(memory, page, caller),
            total=len(found),
            offset=asked.offset,
            limit=asked.limit,
        )

    async def one(asked: ApprovalLook, caller: Caller) -> WaitingWrite:
        found = await memory.approvals.one(asked.id, caller)
        (told,) = await waiting_writes(memory, [found], caller)
        return told

    async def approve(asked: Decision, caller: Caller) -> WaitingWrite:
        raise await where_to_approve(memory, asked.id, caller)

    async def reject(asked: Decision, caller: Caller) -> WaitingWrite:
        done = await memory.approvals.decide(asked.id, caller, approve=False, note=asked.note)
        (told,) = await waiting_writes(memory, [done], caller)
        return told

    lists, decides = "list_approvals", "decide_approval"
    return [
        _route("list_approvals", "", listed, lists, ApprovalsAsked, ApprovalPage, _LIST),
        _route("get_approval", "/{id}", one, lists, ApprovalLook, WaitingWrite, "One request."),
        _route("approve", "/{id}/approve", approve, decides, Decision, WaitingWrite, _APPROVE),
        _route("reject", "/{id}/reject", reject, decides, Decision, WaitingWrite, _REJECT),
    ]


def _route(
    name: str, path: str, run: Any, tool: str, params: Any, response: Any, summary: str
) -> Route:
    return Route(
        name=name,
        method="POST" if params is Decision else "GET",
        path=f"/approvals{path}",
        run=run,
        tool=tool,
        params=params,
        response=response,
        summary=summary,
        operation="approvals",
        rate=WRITES,
    )


_LIST = "Requests that wait for a person, and what became of your own."
_APPROVE = (
    "Always refused (1005): a token approves nothing. `details.page` says where a person does, in "
    "a browser that is signed in."
)
_REJECT = "Refuse what somebody asked for, or take back your own."
