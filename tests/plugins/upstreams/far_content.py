"""What the server of others answers that the portal stands before in tests."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from hashlib import sha256
from typing import Any

import mcp_types as types
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


class Far:
    """The server, and what it is asked.

    Attributes:
        tools: what it lists; a test may change them.
        asked: how often each method was called.
        answers: what else its tools answer, by their names; a test may add some.
        before_listing: what is done before its tools are listed.
        conversations: what asks back, by tools' names; given the SDK's context and parameters.
        called: the arguments with which they were called.
        headers: the headers of the last request.
        headers_of: those of the last request of each method.
        apps: the ``_meta`` of MCP Apps that it has beside the rest, by their URIs.
        skills: the files of its skills, by their URIs; a test may change them.
        metas: the ``_meta`` of each call, prompt and read.
        down: whether it answers nothing but 503.
        turned_away: when it has answered requests so, in seconds that never go back.
        retry_after: what it says beside that of when to ask again; may be empty.
        followed: the resources that clients have subscribed to, each as often as they have.
    """

    def __init__(self) -> None:
        self.tools: list[dict[str, Any]] = [
            {"name": "add", "description": "Adds two numbers.", "inputSchema": NUMBERS},
            {"name": "fail", "description": "Fails.", "inputSchema": {"type": "object"}},
            {"name": "slow", "description": "Takes its time.", "inputSchema": {"type": "object"}},
            {"name": "greet", "description": "Asks a name.", "inputSchema": {"type": "object"}},
        ]
        self.asked: Counter[str] = Counter()
        self.answers: dict[str, Callable[[Mapping[str, Any]], Awaitable[Any]]] = {}
        self.conversations: dict[str, Callable[[Any, Any], Awaitable[Any]]] = {}
        self.before_listing: Callable[[], Awaitable[object]] | None = None
        self.called: list[Mapping[str, Any]] = []
        self.headers: dict[str, str] = {}
        self.headers_of: dict[str, dict[str, str]] = {}
        self.apps: dict[str, dict[str, Any]] = {}
        self.skills: dict[str, bytes] = {}
        self.metas: list[Mapping[str, Any]] = []
        self.down = False
        self.turned_away: list[float] = []
        self.retry_after = ""
        self.followed: list[str] = []
        self._sessions: dict[int, Any] = {}
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        self.loop: asyncio.AbstractEventLoop | None = None
        self.url = ""

    async def list_tools(self, context: Any, params: Any) -> Any:
        if self.before_listing is not None:
            await self.before_listing()
        return types.ListToolsResult.model_validate({"tools": self.tools})

    async def call_tool(self, context: Any, params: Any) -> Any:
        given = params.arguments or {}
        if answer := self.answers.get(params.name):
            self.called.append(given)
            return types.CallToolResult.model_validate(await answer(given))
        if converse := self.conversations.get(params.name):
            return await converse(context, params)
        if params.name == "add":
            total = given["a"] + given["b"]
            return _said(str(total), {"sum": total})
        if params.name == "fail":
            raise MCPError(-32050, "It does not work.", {"why": "rust"})
        if params.name == "slow":
            await context.session.report_progress(1, 2, "half")
            return _said("done")
        if params.name == "greet":
            return await self._greet(context, params)
        raise MCPError(-32602, f"Unknown tool: {params.name}")

    async def _greet(self, context: Any, params: Any) -> Any:
        wish = types.ElicitRequestFormParams(
            message="Who are you?",
            requested_schema={"type": "object", "properties": {"name": {"type": "string"}}},
        )
        if context.protocol_version == "2026-07-28":
            responses = params.input_responses
            if not responses:
                return types.InputRequiredResult(
                    input_requests={"who": types.ElicitRequest(params=wish)}, request_state="s1"
                )
            answer = responses["who"]
            content = answer.content if hasattr(answer, "content") else answer["content"]
        else:
            answer = await context.session.elicit_form(wish.message, wish.requested_schema)
            content = answer.content
        return _said(f"Hello {content['name']}")

    async def list_prompts(self, context: Any, params: Any) -> Any:
        arguments = [{"name": "who", "required": True}]
        return types.ListPromptsResult.model_validate(
            {"prompts": [{"name": "welcome", "arguments": arguments}]}
        )

    async def get_prompt(self, context: Any, params: Any) -> Any:
        text = {"type": "text", "text": f"Welcome {params.arguments['who']}"}
        return types.GetPromptResult.model_validate(
            {"messages": [{"role": "user", "content": text}]}
        )

    async def complete(self, context: Any, params: Any) -> Any:
        values = {"values": [f"{params.argument.value}na"], "total": 7}
        return types.CompleteResult.model_validate({"completion": values})

    async def list_resources(self, context: Any, params: Any) -> Any:
        listed = [{"uri": "plot://7", "name": "plot"}, {"uri": "ui://board/main", "name": "board"}]
        apps = [{"uri": uri, "name": uri, "_meta": meta} for uri, meta in self.apps.items()]
        return types.ListResourcesResult.model_validate({"resources": [*listed, *apps]})

    async def list_skills(self, context: Any, params: Any) -> Any:
        roots = [uri for uri in self.skills if uri.endswith("/SKILL.md")]
        listed = []
        for uri in roots:
            root = uri.removesuffix("SKILL.md")
            name = root.rstrip("/").rpartition("/")[2]
            files = [
                {"uri": each, "digest": f"sha256:{sha256(raw).hexdigest()}", "size": len(raw)}
                for each, raw in self.skills.items()
                if each.startswith(root)
            ]
            frontmatter = {"name": name, "description": f"How to {name}."}
            listed.append(
                {"uri": uri, "frontmatter": frontmatter, "resources": files, "shelf": "green"}
            )
        return SkillsListed.model_validate({"skills": listed})

    async def list_templates(self, context: Any, params: Any) -> Any:
        listed = [{"uriTemplate": "bed://{+path}", "name": "beds"}]
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": listed})

    async def subscribe(self, context: Any, params: Any) -> Any:
        self.followed.append(str(params.uri))
        self._sessions[id(context.session)] = context.session
        return types.EmptyResult()

    async def unsubscribe(self, context: Any, params: Any) -> Any:
        self.followed.remove(str(params.uri))
        return types.EmptyResult()

    async def listen(self, context: Any, params: Any) -> Any:
        uris = params.notifications.resource_subscriptions or []
        self.followed += uris
        try:
            return await self._handler(context, params)
        finally:
            for uri in uris:
                self.followed.remove(uri)

    def silence(self) -> None:
        """End the streams on which it tells of changes."""
        self._handler.close()

    def change(self, uri: str) -> None:
        """Tell all who follow a resource that it has changed; from another thread."""

        async def tell() -> None:
            await self._bus.publish(ResourceUpdated(uri))
            for session in self._sessions.values():
                await session.send_resource_updated(uri)

        self.run(tell())

    def describe(self, tool: str, description: str) -> None:
        """Say something else of a tool, and that the list has changed; where it ``follows``."""
        self.tools = [
            {**each, "description": description} if each["name"] == tool else each
            for each in self.tools
        ]
        self.run(self._bus.publish(ToolsListChanged()))

    def run(self, telling: Coroutine[Any, Any, Any]) -> None:
        """Run something where the server runs; from another thread."""
        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(telling, self.loop).result(60)

    async def read(self, context: Any, params: Any) -> Any:
        found: dict[str, Any] = {"uri": str(params.uri), "text": f"what grows at {params.uri}"}
        if meta := self.apps.get(str(params.uri)):
            found["_meta"] = meta
        if (raw := self.skills.get(str(params.uri))) is not None:
            found = {"uri": str(params.uri), "blob": b64encode(raw).decode()}
        return types.ReadResourceResult.model_validate({"contents": [found]})


def _said(text: str, structured: Any = None) -> types.CallToolResult:
    said = {"content": [{"type": "text", "text": text}], "structuredContent": structured}
    return types.CallToolResult.model_validate(said)


class SkillsListed(types.Result):
    """A result of ``skills/list``."""

    skills: list[dict[str, Any]]
