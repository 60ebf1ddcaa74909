"""Conversations over REST, below ``/api/v1/assistant``, for who brings a token.

An answer is an event stream of the Vercel data stream protocol (:mod:`gateway.assistant.stream`),
or, for who does not ask for one, what is there when it was asked for. No request here says yes to
a call: only a browser's session does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.assistant.assistant import Assistant
from gateway.assistant.conversation import MAX_QUESTION_CHARACTERS, NotTaken, Turn
from gateway.assistant.export import as_json, as_markdown, described, described_turn
from gateway.errors import PortalError, wire
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.assistant.following import Following
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.challenges import bearer_challenge
from gateway.surfaces.http.request_context import context_of

BASE = "/api/v1/assistant/conversations"
MAX_BODY_BYTES = 8 * MAX_QUESTION_CHARACTERS
"""Bytes of a request: each letter of a message may take six where it is written as JSON does."""
_NO_STORE = {"cache-control": "no-store"}

M = TypeVar("M", bound=BaseModel)
Answer = Callable[[Request, CallContext, str], Awaitable[Response]]
"""``await answer(request, context, person)``."""


class Message(BaseModel):
    """What somebody writes."""

    model_config = ConfigDict(extra="forbid")

    message: str


class Title(BaseModel):
    """What a conversation is to be called."""

    model_config = ConfigDict(extra="forbid")

    title: str


class ConversationApi:
    """The routes.

    Args:
        assistant: answers.
        following: opens streams.
    """

    def __init__(self, assistant: Assistant, following: Following) -> None:
        self._assistant = assistant
        self._following = following

    def routes(self) -> list[Route]:
        """The routes."""
        one = BASE + "/{id}"
        return [
            _route("GET", BASE, self._list),
            _route("POST", BASE, self._ask),
            _route("GET", one, self._get),
            _route("PATCH", one, self._rename),
            _route("DELETE", one, self._delete),
            _route("POST", one + "/messages", self._ask),
            _route("GET", one + "/stream", self._stream),
            _route("POST", one + "/stop", self._stop),
            _route("POST", one + "/continue", self._go_on),
            _route("GET", one + "/export", self._export),
        ]

    async def _list(self, request: Request, context: CallContext, person: str) -> Response:
        mine = [described(each) for each in await self._assistant.store.list(person)]
        shown = [{**each, "turns": None} for each in mine]
        return _json({"conversations": shown, **await self._budget(context)})

    async def _get(self, request: Request, context: CallContext, person: str) -> Response:
        found = described(await self._assistant.store.get(person, _id(request)))
        return _json({**found, **await self._budget(context)})

    async def _budget(self, context: CallContext) -> dict[str, Any]:
        """What is left of the person's budget, where they have one."""
        left = await self._assistant.budget(context.caller)
        return {} if left is None else {"budget": left._asdict()}

    async def _ask(self, request: Request, context: CallContext, person: str) -> Response:
        given = await _body(request, Message)
        id = request.path_params.get("id")
        turn = await self._assistant.ask(context, given.message, id)
        return self._told(request, context, person, turn, 201)

    async def _go_on(self, request: Request, context: CallContext, person: str) -> Response:
        turn = await self._assistant.go_on(context, _id(request))
        return self._told(request, context, person, turn, 200)

    async def _stop(self, request: Request, context: CallContext, person: str) -> Response:
        return _json(_shown(await self._assistant.stop(person, _id(request))))

    async def _rename(self, request: Request, context: CallContext, person: str) -> Response:
        given = await _body(request, Title)
        await self._assistant.store.rename(person, _id(request), given.title)
        return await self._get(request, context, person)

    async def _delete(self, request: Request, context: CallContext, person: str) -> Response:
        await self._assistant.store.delete(person, _id(request))
        return Response(status_code=204, headers=_NO_STORE)

    async def _stream(self, request: Request, context: CallContext, person: str) -> Response:
        last = (await self._assistant.store.get(person, _id(request))).last
        heard = request.headers.get("last-event-id", "")
        if last is None or (last.state != "running" and not heard):
            return Response(status_code=204, headers=_NO_STORE)
        return self._following.response(context, person, last, heard)

    async def _export(self, request: Request, context: CallContext, person: str) -> Response:
        found = await self._assistant.store.get(person, _id(request))
        return exported(found, request.query_params.get("format", "markdown"))

    def _told(
        self, request: Request, context: CallContext, person: str, turn: Turn, status: int
    ) -> Response:
        if "text/event-stream" in request.headers.get("accept", ""):
            return self._following.response(context, person, turn, "")
        return _json(_shown(turn), status)


def exported(conversation: Any, format: str) -> Response:
    """A conversation as a file.

    Args:
        conversation: which.
        format: ``markdown`` or ``json``.

    Raises:
        NotTaken: another format was asked for.
    """
    kinds = {
        "markdown": ("md", "text/markdown; charset=utf-8"),
        "json": ("json", "application/json"),
    }
    if format not in kinds:
        raise NotTaken("The format is markdown or json.")
    suffix, kind = kinds[format]
    body = as_json(conversation) if format == "json" else as_markdown(conversation).encode()
    name = f'attachment; filename="{conversation.id}.{suffix}"'
    headers = {
        **_NO_STORE,
        "content-disposition": name,
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(body, 200, headers, kind)


def _route(method: str, path: str, answer: Answer) -> Route:
    async def endpoint(request: Request) -> Response:
        context = context_of(request.scope)
        person = context.caller.person
        if person is None:
            return _sign_in(context)
        try:
            return await answer(request, context, person)
        except PortalError as error:
            headers = {k.decode(): v.decode() for k, v in getattr(error, "headers", ())}
            body = wire(error.code, error.message, error.details, context.request_id)
            return _json(body, error.status, headers)
        except BodyRefused as error:
            return _json(wire(error.code, str(error), {}, context.request_id), error.status)
        except ClientLeft:
            return Response(status_code=400)

    return Route(path, endpoint, methods=[method])


def _sign_in(context: CallContext) -> Response:
    text = "A conversation is somebody's: send a token of a person who has signed in."
    name, value = bearer_challenge(context.base, context.path)
    body = wire("sign_in_needed", text, {}, context.request_id)
    return _json(body, 401, {name.decode(): value.decode()})


async def _body(request: Request, model: type[M]) -> M:
    headers = dict(request.headers.items())
    raw = await read_body(request.receive, headers, MAX_BODY_BYTES)
    try:
        return model.model_validate_json(raw)
    except ValidationError:
        names = " and ".join(f'"{name}"' for name in model.model_fields)
        raise NotTaken(f"The body is a JSON object with {names} alone, a text.") from None


def _id(request: Request) -> str:
    return str(request.path_params["id"])


def _shown(turn: Turn) -> dict[str, Any]:
    return {"conversation": turn.conversation, "turn": described_turn(turn)}


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(value), status, {**_NO_STORE, **(headers or {})}, "application/json")
