"""A plugin's declaration, what the gateway gives to it, and the hooks of its package."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pluggy
from pydantic import BaseModel, ConfigDict

from gateway.contract.exchange import Exchange
from gateway.contract.jobs import Jobs
from gateway.contract.models import NO_MODELS, Models
from gateway.contract.offers import (
    Offer,
)
from gateway.contract.people import People
from gateway.contract.rows import Rows, Unruled
from gateway.contract.services import (
    Cache,
    Database,
    Embedder,
    Objects,
    Reranker,
    Vectors,
)
from gateway.contract.vault import Vault
from gateway.contract.work import NoWorks, Works
from gateway.scrubbing.contents import ContentScrub

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


CONTRACT_VERSION = 1
"""The version of this contract; a plugin that states another one is set aside by name."""

hookspec = pluggy.HookspecMarker("porch")
hookimpl = pluggy.HookimplMarker("porch")


class PluginConfig(BaseModel):
    """The base of a plugin's own section in ``portal.yaml``: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Change:
    """Something that others may want to know: a plugin's list, or one resource, is new.

    Attributes:
        plugin: whose.
        kind: ``tools``, ``prompts``, ``resources`` (the lists) or ``resource`` (one URI).
        uri: the resource's URI, where ``kind`` is ``resource``.
    """

    plugin: str
    kind: Literal["tools", "prompts", "resources", "resource"]
    uri: str | None = None


@asynccontextmanager
async def no_model(name: str) -> AsyncGenerator[None]:
    """No other model, whatever its name."""
    yield None


@dataclass(frozen=True, slots=True)
class Host:
    """What the gateway gives to one plugin. Everything in it is the plugin's own share.

    Attributes:
        plugin: the plugin's name.
        portal: the portal's name, for texts.
        url: the portal's address as members write it, without a slash at the end; "" where it has
            none.
        data_dir: a directory of the plugin's own; it exists.
        database, vectors, objects, cache, jobs: the services (``gateway/contract/services.py``).
        embedder: the embedding model, or None where the portal has none.
        reranker: a cross-encoder, or None where none is configured.
        other_model: opens another model by its name (``Embedder.model``) until the block ends, so
            that what it made can be asked while the portal's model makes it anew; None where this
            machine has it no more.
        log: a structured logger that carries the plugin's name.
        changed: tells clients and other plugins of a :class:`Change`; returns at once.
        reoffer: replaces the plugin's tools, prompts and their families, resources, templates,
            skills and views, and what is said of them, with another offer's, and tells clients;
            routes, webhooks, jobs and health stay.
        secret: reads a secret that a setting names (``env:NAME``, ``file:PATH``); raises
            ``ValueError`` where it is missing.
        exchange: the call running now; a silent one where there is none.
        people: whom a caller may know of, by name, and the groups there are.
        wait_ready: whether ``open`` finishes its first work before it yields (the CLI's calls).
        local: whether only this machine is meant to reach the portal (loopback, and no proxy).
        rows: which tier a row asks for; ask it at every read.
        scrub: takes secrets out of what the plugin reads in; it is used before anything is kept.
        vault: encrypts what is kept and nobody may read, such as tokens of people.
        models: language models; most portals have none (``models.available``).
        work: publishes work for members' agents, of the kinds that ``Offer.work`` declares.
    """

    plugin: str
    portal: str
    data_dir: Path
    database: Database
    vectors: Vectors
    objects: Objects
    cache: Cache
    jobs: Jobs
    embedder: Embedder | None
    reranker: Reranker | None
    log: FilteringBoundLogger
    changed: Callable[[Change], None]
    reoffer: Callable[[Offer], None]
    secret: Callable[[str], str]
    exchange: Callable[[], Exchange]
    people: People
    url: str = ""
    wait_ready: bool = False
    local: bool = False
    rows: Rows = field(default_factory=Unruled)
    scrub: ContentScrub = field(default_factory=ContentScrub)
    vault: Vault = field(default_factory=Vault)
    models: Models = NO_MODELS
    work: Works = field(default_factory=NoWorks)
    other_model: Callable[[str], AbstractAsyncContextManager[Embedder | None]] = no_model


async def _nobody_runs(method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
    return None


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a plugin's command may use.

    Attributes:
        config: the plugin's section of ``portal.yaml``, validated.
        echo: prints a line for a person.
        emit: prints a JSON value for a program; used where ``json`` is true.
        json: whether ``--json`` was given.
        host: opens the services for the command, as ``async with host() as host``.
        url: the address of the portal's MCP endpoint, as members paste it: of the portal that runs
            on the data directory, or else as ``portal.yaml`` says.
        ask: asks a REST route of the plugin's own, below ``/api/v1/<plugin>``, of the portal that
            holds the data directory, as its own user: ``await ask("POST", "/sync", {})`` gives the
            answer's JSON, or None where no portal runs there. Raises ``ToolFailed`` where it
            refuses.
        root: where relative paths of ``portal.yaml`` start; None where nobody says.
    """

    config: Any
    echo: Callable[[str], None]
    emit: Callable[[Any], None]
    json: bool
    host: Callable[[], AbstractAsyncContextManager[Host]]
    url: str = ""
    ask: Callable[..., Awaitable[Any]] = _nobody_runs
    root: Path | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand ``porch <plugin> <name>``.

    Attributes:
        args: the pydantic model of its parameters: a required field is a positional argument,
            one with a default an option.
        run: ``await run(args, context)``; returns the exit code.
        beside_portal: whether it may run while a portal holds the data directory. Of the services
            it then uses the objects and the database alone, which several processes may share, and
            the portal looks for what it leaves there.
    """

    name: str
    summary: str
    args: type[BaseModel]
    run: Callable[[Any, CommandContext], Awaitable[int]]
    beside_portal: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an admin should look at in a plugin's section, for ``porch check``.

    Attributes:
        location: the keys and list positions below the section: ``("sources", 1, "name")``.
        reason: what is wrong and what to do.
        notice: whether nothing need be done about it.
    """

    location: tuple[str | int, ...]
    reason: str
    notice: bool = False


Check = Callable[[Any, Host], Awaitable[Sequence[Finding]]]
"""``await check(config, host)``: looks at what a plugin's section means, not only at its form."""


class _Open(Protocol):
    def __call__(self, config: Any, host: Host) -> AbstractAsyncContextManager[Offer]: ...


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin's declaration. Making it does no I/O.

    Attributes:
        name: the key in ``portal.yaml`` and ``tiers.yaml`` and the part of every URL.
        summary: one line for people.
        config: the model of its section in ``portal.yaml``.
        open: an async context manager that yields the :class:`Offer`; leaving it closes.
        commands: subcommands of ``porch <name>``.
        command: another word for ``<name>`` in ``porch <name>``, or None. ``porch --help`` lists
            it where the package names it in its entry points ``porch.commands`` as well.
        check: asked by ``porch check``, beside the form of the section, or None.
        contract: the contract version the plugin was written for.
        in_portal: why it runs in the portal's own process alone, as the end of "the plugin ...":
            ``runs jobs``. "" lets an admin give it a process of its own (``isolation: process``).
    """

    name: str
    summary: str
    open: _Open
    config: type[PluginConfig] = PluginConfig
    commands: Sequence[Command] = ()
    command: str | None = None
    check: Check | None = None
    contract: int = CONTRACT_VERSION
    in_portal: str = ""


class Hooks:
    """The hooks a plugin package may implement, with ``@hookimpl``."""

    @hookspec
    def porch_plugin(self) -> Plugin:  # type: ignore[empty-body]
        """Declare the plugin. No I/O, no imports of heavy libraries."""

    @hookspec
    def porch_changed(self, change: Change) -> None:
        """Hear of a change in any plugin. Return at once."""
