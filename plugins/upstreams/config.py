"""The plugin's section of ``portal.yaml``: which servers there are, and what is taken of them."""

from __future__ import annotations

import re
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ByteSize, Field, model_validator

from gateway.contract import ConfigPath, Duration, PluginConfig, SafeUrl, Tier
from plugins.upstreams.credential_settings import Credential, WithVariables, named_credential

NAME = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
MAX_NAME_CHARACTERS = 24
"""Characters of a server's name: it stands before each of its tools' names, which have 45."""
COMMONS_SEARCH = "commons_search"
"""The tool that asks all servers of the commons."""
_SHOWN = r"^[A-Za-z0-9_-]{1,45}$"


def _name(value: str) -> str:
    if not re.fullmatch(NAME, value) or len(value) > MAX_NAME_CHARACTERS:
        raise ValueError(
            f"must be 1 to {MAX_NAME_CHARACTERS} of a to z, 0 to 9 and single hyphens, and begin "
            "with a letter"
        )
    return value


def _shown(value: str) -> str:
    if not re.fullmatch(_SHOWN, value):
        raise ValueError("must be 1 to 45 of letters, digits, _ and -")
    return value


Shown = Annotated[str, AfterValidator(_shown), Field(json_schema_extra={"pattern": _SHOWN})]
"""A name that every client takes."""


class ToolSettings(PluginConfig):
    """Which tools of a server are taken, and what is put in place of what it says of them."""

    include: tuple[str, ...] = Field(
        ("*",), description="Patterns of the names that are taken, such as get_*."
    )
    exclude: tuple[str, ...] = Field((), description="Patterns of those that are not after all.")
    alias: dict[str, Shown] = Field(
        default_factory=dict,
        description="Other names for tools, by the server's. tiers.yaml goes on to call a tool "
        "upstreams/SERVER/TOOL.",
    )
    description: dict[str, str] = Field(
        default_factory=dict, description="Other descriptions, by the server's names."
    )
    annotations: dict[str, dict[str, bool | str]] = Field(
        default_factory=dict,
        description="Hints put over the server's, by its names, such as {readOnlyHint: true}.",
    )
    fixed: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Arguments that the portal gives, by the server's names; no caller sees them.",
    )
    defaults: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Arguments that the portal gives where the caller does not.",
    )

    def takes(self, name: str) -> bool:
        """Whether a tool of that name is taken."""
        return _matches(name, self.include) and not _matches(name, self.exclude)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Commons(PluginConfig):
    """What commons_search asks of a server."""

    tool: str | None = Field(
        None,
        description="Its search tool; else that called search, search_* or *_search, which has one "
        "required argument, a text.",
    )
    argument: str | None = Field(
        None, description="The argument that takes the question; else the one that is required."
    )
    licence: str = Field(
        "",
        max_length=200,
        description="What its results may be used under, such as CC BY-SA 4.0, where they do not "
        "say so themselves.",
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.tool is not None and COMMONS_SEARCH in self.tool:
            raise ValueError(
                f"tool must not be another portal's {COMMONS_SEARCH}: two that ask each other do "
                "not come to an end; name the search tool of its own knowledge"
            )
        return self


def _commons(value: Any) -> Any:
    """What a yes or no stands for."""
    return ({} if value else None) if isinstance(value, bool) else value


class CommonsSettings(PluginConfig):
    """How commons_search asks all servers that are marked commons."""

    timeout: Duration = Field(
        timedelta(seconds=10),
        gt=timedelta(0),
        description="How long one source may take; the others are not held up by it.",
    )
    own_knowledge: bool = Field(
        True, description="Whether this portal's own knowledge is searched with them."
    )
    licence: str = Field(
        "", max_length=200, description="What this portal's own knowledge may be used under."
    )


class Server(PluginConfig):
    """Another MCP server."""

    name: Annotated[str, AfterValidator(_name)] = Field(
        json_schema_extra={"pattern": NAME},
        description="Stands before its tools' names, as in NAME__tool, and in tiers.yaml.",
    )
    url: SafeUrl | None = Field(None, description="Its MCP endpoint; or else give command.")
    command: tuple[str, ...] | None = Field(
        None,
        min_length=1,
        description="The program to start, and its arguments, which speaks MCP on its standard "
        "input and output.",
    )
    env: dict[str, WithVariables] = Field(
        default_factory=dict,
        description="What the program finds in its environment, beside PATH, HOME and the like.",
    )
    directory: ConfigPath | None = Field(None, description="Where the program starts.")
    tier: Tier | None = Field(
        None,
        description="The tier that may use it, where tiers.yaml does not say; members if none.",
    )
    credential: Annotated[Credential | None, BeforeValidator(named_credential)] = Field(
        None,
        description="The credential that it is asked with: {header: ...} of yours, member-oauth "
        "or {exchange: ...} for each member's own, or none.",
    )
    tools: ToolSettings = Field(
        default_factory=ToolSettings, description="Which of its tools are taken, and as what."
    )
    commons: Annotated[
        Commons | None,
        BeforeValidator(_commons, json_schema_input_type=bool | Commons | None),
    ] = Field(
        None,
        description="true where commons_search asks it too, or how: {tool, argument, licence}.",
    )
    skills: bool | None = Field(
        None,
        description="Whether its skills are served, as skill://NAME/...; yes if not said, except "
        "with trust: review.",
    )
    meta: bool = Field(
        True,
        description="Whether it is told what clients say beside their requests (_meta), without "
        "what is of this hop and without credentials.",
    )
    instructions: bool | str | None = Field(
        None,
        description="What clients are told of it: true for its own words, marked as such; false "
        "for none; or a text of yours. Its own words if not said, except with trust: review.",
    )
    trust: Literal["first-use", "review"] = Field(
        "first-use",
        description="Whether its tools are served as it first offers them, or each once an admin "
        "has accepted it (porch upstreams review). What changes later is always reviewed.",
    )
    timeout: Duration = Field(
        timedelta(seconds=30), gt=timedelta(0), description="How long one call may take."
    )
    session: Literal["shared", "per-client"] | None = Field(
        None,
        description="Whether all who have one credential share a session there, or a program, or "
        "each of their clients has its own. Shared if not said, until the server asks a client "
        "for its roots, which it may keep for the session.",
    )
    max_sessions: int = Field(
        20, ge=1, description="How many clients may have a session, or a program, of their own."
    )
    calls: int = Field(32, ge=1, description="How many calls may be under way at once.")
    queue: int = Field(64, ge=0, description="How many more may wait; what is over is told so.")
    max_result: ByteSize = Field(
        ByteSize(8 * 1024 * 1024), gt=0, description="The largest answer that is taken."
    )
    max_tools: int = Field(1000, ge=1, description="How many of its tools are taken at most.")

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.url is None) == (self.command is None):
            raise ValueError("give either url or command")
        if self.url is None and self.is_personal:
            raise ValueError("member_oauth and exchange are for url; leave them out")
        if self.url is not None and (self.env or self.directory):
            raise ValueError("env and directory are for command; leave them out")
        return self

    @property
    def is_personal(self) -> bool:
        """Whether each member is somebody else to it."""
        return self.credential is not None and self.credential.is_personal

    @model_validator(mode="after")
    def _takes_its_search(self) -> Self:
        name = self.commons.tool if self.commons else None
        if name is not None and not self.tools.takes(name):
            raise ValueError(f"commons.tool is {name}, which tools.include or exclude leaves out")
        return self


class UpstreamsConfig(PluginConfig):
    """The MCP servers of others that members reach through the portal."""

    servers: tuple[Server, ...] = Field((), description="The servers.")
    commons: CommonsSettings = Field(
        default_factory=CommonsSettings,
        description="How the servers that are marked commons are searched as one.",
    )
    refresh: Duration = Field(
        timedelta(minutes=10),
        gt=timedelta(0),
        description="How often each is asked anew what it offers, beside when it says so.",
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [server.name for server in self.servers]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two servers are called {twice[0]}; give each a name of its own")
        return self
