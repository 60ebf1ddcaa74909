"""What a plugin may offer: a closed set of frozen declarations.

Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from auth import Caller, Tier
from gateway.contract import signatures
from gateway.contract.answer_size import Page
from gateway.contract.apis import Api
from gateway.contract.approvals import Backlogs, PendingRequests
from gateway.contract.caller_lists import PromptFamily, ResourceLister
from gateway.contract.connections import Connections
from gateway.contract.jobs import JobRun, ToolTask
from gateway.contract.missing_items import Absent
from gateway.contract.personal_data import PersonalData
from gateway.contract.relayed import Origin, Relayed
from gateway.contract.routes import Route
from gateway.contract.rows import RowKind
from gateway.contract.skills import Skill
from gateway.contract.views import View
from gateway.contract.work import Work

if TYPE_CHECKING:
    from mcp_types import Icon, ToolAnnotations


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call.

    ``Tool.of(function)`` reads all of it from an async function's signature and docstring.

    Attributes:
        name: matches ``[A-Za-z0-9_-]{1,45}`` and is unique in the portal.
        summary: what it does and when to use it, for the model.
        run: ``await run(args, caller)``; returns a pydantic model (structured content), a
            string, a list of content blocks, a ``CallToolResult`` or ``InputRequiredResult``.
        args: the pydantic model of the arguments, or None where ``input_schema`` is given.
        result: the pydantic model that ``run`` returns, for the output schema, or None.
        tier: the tier that the plugin suggests; counts where ``tiers.yaml`` names neither the
            item nor the plugin.
        floor: the tier below which the item makes no sense; no YAML goes below it.
        title: a display name.
        annotations: MCP's hints to the client, such as ``read_only_hint``.
        icons: MCP icons.
        timeout: seconds a call may take, or None for the portal's own deadline.
        input_schema: a raw JSON schema (2020-12), for tools that have no pydantic model.
        output_schema: a raw JSON schema of the structured content, likewise.
        origin: where another server made it, whose schemas count: that server looks at the
            arguments, and ``run`` takes them as they are.
        calls_at_once: how many calls of it may run at once, or None for as many as the plugin's;
            more wait. For what takes much of something, such as processor or memory.
        opaque: arguments that hold bytes, digests or texts of the portal's own, in which no secret
            is looked for: names as callers write them, with dots into objects and through lists,
            such as ``attachments.base64``. ``cursor`` is always one.
        page: how its results are shown in pages, where ``run`` returns a ``Listing`` of them; the
            gateway then adds the argument ``cursor``, and the output schema is the page's.
        approve: whose yes each run waits for where ``tiers.yaml`` does not say otherwise: the
            ``caller``'s own person's, for what writes where others see it. None for nobody's.
        task: the job by which it works for clients that follow tasks, or None where it has none.
    """

    name: str
    summary: str
    run: Callable[[Any, Caller], Awaitable[Any]]
    args: type[BaseModel] | None = None
    result: type[BaseModel] | None = None
    tier: Tier | None = None
    floor: Tier = Tier.OPEN
    title: str | None = None
    annotations: ToolAnnotations | None = None
    icons: tuple[Icon, ...] = ()
    timeout: float | None = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    page: Page | None = None
    opaque: tuple[str, ...] = ()
    calls_at_once: int | None = None
    origin: Origin | None = None
    task: ToolTask | None = None
    approve: Literal["caller"] | None = None

    @classmethod
    def of(cls, function: Callable[..., Awaitable[Any]], **overrides: Any) -> Tool:
        """Declare a tool from one async function.

        The name is the function's, the summary its docstring up to ``Args:``, each argument's
        description its line there, the result model its return annotation. A parameter named
        ``caller`` receives the caller and is no argument.

        Args:
            function: ``async def name(argument: type = default, ..., *, caller: Caller)``.
            overrides: any other attribute of :class:`Tool`.

        Raises:
            TypeError: an argument has no annotation, or no description.
        """
        read = signatures.read(function)
        declared: dict[str, Any] = {
            "name": read.name,
            "summary": read.summary,
            "args": read.model,
            "run": read.run,
            "result": read.result,
        }
        return cls(**(declared | overrides))


Completer = Callable[[str, Mapping[str, str], Caller], Awaitable[Sequence[str] | Relayed]]
"""``await completer(typed so far, the other arguments, caller)``: values to offer, best first."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Read-only data under a fixed URI.

    Attributes:
        uri: the resource's URI.
        name: a short name.
        summary: what it holds.
        read: ``await read(caller)``; returns a string, bytes or a pydantic model (as JSON).
        mime_type: the media type of what is read.
        tier: as in :class:`Tool`, like ``floor`` and ``icons``.
        rows: the rows that it shows, its own first, then those that this is part of.
        origin: where another server made it.
    """

    uri: str
    name: str
    summary: str
    read: Callable[[Caller], Awaitable[str | bytes | BaseModel | Relayed]]
    mime_type: str = "text/plain"
    tier: Tier | None = None
    floor: Tier = Tier.OPEN
    title: str | None = None
    icons: tuple[Icon, ...] = ()
    rows: tuple[str, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """A family of resources: an RFC 6570 level 1 template such as ``kb://{type}/{id}``.

    Attributes:
        uri_template: the template; its variables match one path segment each.
        pattern: which URIs are of the template, where it is of another level; ``read`` is then
            handed the whole URI, as the variable ``uri``.
        read: ``await read(variables, caller)``, returns as ``Resource.read``; raises
            ``ToolFailed("not_found", ...)`` where there is no such resource.
        complete: a completer for each variable that has one.
        listed: gives the resources that ``resources/list`` shows to a caller, or None where it
            shows none of them; what it does not give can still be read.
        origin: where another server made it.
    """

    uri_template: str
    name: str
    summary: str
    read: Callable[[Mapping[str, str], Caller], Awaitable[str | bytes | BaseModel | Relayed]]
    mime_type: str = "text/plain"
    complete: Mapping[str, Completer] = field(default_factory=dict)
    tier: Tier | None = None
    floor: Tier = Tier.OPEN
    title: str | None = None
    icons: tuple[Icon, ...] = ()
    listed: ResourceLister | None = None
    pattern: re.Pattern[str] | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prepared request that a person picks; ``Prompt.of(function)`` reads a function.

    Attributes:
        render: ``await render(args, caller)``; returns a string (one user message) or a list
            of ``PromptMessage``, or an ``InputRequiredResult``.
        args: the pydantic model of the arguments, all of them strings.
        complete: a completer for each argument that has one.
        rows: as in :class:`Resource`.
        origin: where another server made it; ``render`` then takes the arguments as they are.
    """

    name: str
    summary: str
    render: Callable[[Any, Caller], Awaitable[Any]]
    args: type[BaseModel] | None = None
    complete: Mapping[str, Completer] = field(default_factory=dict)
    tier: Tier | None = None
    floor: Tier = Tier.OPEN
    title: str | None = None
    icons: tuple[Icon, ...] = ()
    rows: tuple[str, ...] = ()
    origin: Origin | None = None

    @classmethod
    def of(cls, function: Callable[..., Awaitable[Any]], **overrides: Any) -> Prompt:
        """Declare a prompt from one async function, read as in :meth:`Tool.of`."""
        read = signatures.read(function)
        declared: dict[str, Any] = {
            "name": read.name.replace("_", "-"),
            "summary": read.summary,
            "args": read.model,
            "render": read.run,
        }
        return cls(**(declared | overrides))


@dataclass(frozen=True, slots=True)
class UpstreamCredential:
    """A credential of the caller's own for the plugin's upstream, which travels with a request.

    It is handed to the call in ``Exchange.credential``, for that one request, and is kept
    nowhere. It says nothing about who is calling.

    Attributes:
        header: the request header that carries it at ``/mcp``, in lower case.
        from_bearer: reads it out of a bearer token that is none of the portal's, at the
            plugin's own endpoint ``/mcp/<plugin>``; raises ``ValueError`` with the reason where
            the token is not of that form, which is a 401. None where that form is not taken.
        demanded: whether a request without any credential is a 401 at the plugin's own endpoint.
    """

    header: str
    from_bearer: Callable[[str], str] | None = None
    demanded: bool = False


@dataclass(frozen=True, slots=True)
class Webhook:
    """An endpoint ``/hooks/<plugin>/<name>`` for another system's signed deliveries.

    Attributes:
        verify: says whether the headers (lower-case names) sign the raw body; false is a 403.
        run: ``await run(body, headers)``; the JSON object to answer with.
    """

    name: str
    verify: Callable[[bytes, Mapping[str, str]], bool]
    run: Callable[[bytes, Mapping[str, str]], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Job:
    """Durable work, queued through ``Host.jobs`` or by a schedule.

    Attributes:
        run: ``await run(job_run, payload)``, with its steps through ``job_run.step``.
        schedule: a cron expression in UTC, or None.
        concurrency: how many run at the same time.
    """

    name: str
    run: Callable[[JobRun, Mapping[str, Any]], Awaitable[Any]]
    schedule: str | None = None
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class Health:
    """How a plugin is: ``ok``, ``starting`` (not ready yet), ``degraded`` or ``failed``.

    Attributes:
        detail: one sentence for the admin.
        facts: JSON values worth a look, such as counts. `advice` is a sentence of what would serve
            better, which `porch doctor` tells.
        behind: whether what it serves is known to be older than what its sources hold.
    """

    state: Literal["ok", "starting", "degraded", "failed"] = "ok"
    detail: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    behind: bool = False


async def _well() -> Health:
    return Health()


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything a plugin gives to the portal while it is open.

    Attributes:
        skills: the skills that it serves.
        prompt_families: prompts that differ from caller to caller.
        credential: the caller's own credential for its upstream, or None.
        apis: APIs that specifications name, beside its own ``routes``.
        health: asked at ``/readyz``, under a deadline.
        instructions: one or two sentences that tell an agent what this plugin holds. They are told
            to those who may use something of it.
        said: what is told after ``instructions``, and only to those who may use what it is about:
            each text by a tool's name, or by how the keys of a source's items begin, such as
            ``github/``. A source, such as a server of others, may say something of itself.
        personal: how it answers for what it keeps of people, or None where it keeps nothing.
        connections: how it connects people to accounts of theirs elsewhere, or None.
        rows: the kinds of rows that ``tiers.yaml`` may name one by one.
        configure: ``await configure(section)`` puts another section of ``portal.yaml`` in force
            when the file is saved; what it raises is the reason why it is not, and what was in
            force goes on. None where that takes a restart.
        absent: ``await absent(caller)`` says what the plugin does not show to a caller, and why; it
            is asked while somebody waits, for two seconds at most. The gateway itself knows why
            an item of this offer is not shown.
        views: pictures of what its tools return.
        pending: requests of its own that wait for a person, or None where it has none.
        backlog: ``await backlog(caller)`` counts what waits in it for people, beside ``pending``;
            asked when an admin looks at the overview. None where nothing does.
        work: kinds of work that members' agents may do (``Host.work``).
        follow: ``follow(uris)`` is told which of the plugin's resources clients of this process
            follow, whenever that changes: their URIs, and for each the URI (or the origin's key)
            of the resource or template that it is of. It returns at once. For what has to ask
            others to hear of changes; whoever knows them tells each by ``Host.changed`` anyway.
    """

    tools: Sequence[Tool] = ()
    resources: Sequence[Resource] = ()
    templates: Sequence[ResourceTemplate] = ()
    prompts: Sequence[Prompt] = ()
    skills: Sequence[Skill] = ()
    credential: UpstreamCredential | None = None
    routes: Sequence[Route] = ()
    apis: Sequence[Api] = ()
    webhooks: Sequence[Webhook] = ()
    jobs: Sequence[Job] = ()
    health: Callable[[], Awaitable[Health]] = _well
    instructions: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    prompt_families: Sequence[PromptFamily] = ()
    personal: PersonalData | None = None
    connections: Connections | None = None
    rows: Sequence[RowKind] = ()
    configure: Callable[[Any], Awaitable[None]] | None = None
    absent: Callable[[Caller], Awaitable[Sequence[Absent]]] | None = None
    follow: Callable[[Mapping[str, str]], None] | None = None
    views: Sequence[View] = ()
    pending: PendingRequests | None = None
    backlog: Backlogs | None = None
    work: Sequence[Work] = ()
