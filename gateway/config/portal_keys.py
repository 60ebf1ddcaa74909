"""``portal.yaml`` as models: its keys, their defaults and what each is for.

Everything has a default, so that an empty file is a working portal. The JSON schema and the
reference in the documentation are generated from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    TypeAdapter,
    ValidationInfo,
    create_model,
    field_validator,
)

from auth.portal_addresses import LOOPBACK, Site, is_safe
from gateway.config.access import Chains, Roles, SignIn
from gateway.config.addresses import DOORS
from gateway.config.assistant import AssistantSettings
from gateway.config.bulkheads import PluginBounds
from gateway.config.language_models import LanguageModels
from gateway.config.payments import Payments
from gateway.config.tools import Tools
from gateway.contract.config_types import Address, CallRate, Duration, Place, SecretRef

_PORTS = {"http": 80, "https": 443}
_MEBIBYTE = 1024 * 1024


def _public_url(value: str) -> str:
    url = urlsplit(value)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise ValueError("must be a whole address, such as https://portal.example.org")
    if url.query or url.fragment or url.username or url.password:
        raise ValueError("must be scheme, host, port and path only")
    return value.rstrip("/")


def _or_empty(value: Any) -> Any:
    return {} if value is None else value


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Listen(_Section):
    """Where the portal listens."""

    host: str = Field("127.0.0.1", description="The address to bind; 0.0.0.0 for every one.")
    port: int = Field(8321, ge=0, le=65535, description="The TCP port; 0 picks a free one.")


class Services(_Section):
    """The services that plugins share: embedded by default, an address each to grow."""

    database: Address = Field(
        "sqlite",
        description="sqlite (in the data directory), a postgresql:// URL, or env:NAME.",
    )
    vectors: Address = Field(
        "embedded",
        description="embedded (in the data directory), database (services.database, with "
        "pgvector), a postgresql:// URL, or the URL of a Qdrant server.",
    )
    vectors_key: SecretRef | None = Field(
        None, description="The API key of the Qdrant server, as env:NAME or file:PATH."
    )
    objects: Place = Field(
        "embedded",
        description="embedded (in the data directory), a directory, or an s3:// or gs:// URL.",
    )
    cache: Address = Field("memory", description="memory, or the redis:// URL of Redis or Valkey.")
    embedding: Place = Field(
        "embedded",
        description="embedded (English), english (larger), multilingual, none (keyword search "
        "only), a fastembed model's name, or the directory of an ONNX model.",
    )
    reranker: Place = Field(
        "none",
        description="none, a fastembed cross-encoder's name, or the directory of an ONNX model.",
    )
    models: LanguageModels = Field(default_factory=LanguageModels)

    @field_validator("vectors", mode="before")
    @classmethod
    def _take_url(cls, vectors: Any) -> Any:
        """``{url: ...}`` is the address in it."""
        return vectors["url"] if isinstance(vectors, dict) and set(vectors) == {"url"} else vectors

    @field_validator("vectors_key")
    @classmethod
    def _require_safe_vectors_address(cls, key: str | None, info: ValidationInfo) -> str | None:
        vectors = info.data.get("vectors", "")
        if key and "://" in vectors and not is_safe(vectors):
            raise ValueError(
                "is told to services.vectors, which must begin with https:// unless it is on this "
                "machine"
            )
        return key


class CallsByTier(_Section):
    """How many tool calls over MCP one person, or one address, may make, by their tier."""

    open: CallRate = Field("300 in 60s", description="For one address, signed out.")
    public: CallRate = Field("600 in 60s", description="For people who have signed in.")
    members: CallRate = Field("1200 in 60s", description="For members.")


def _by_tier(value: Any) -> Any:
    if value is None or isinstance(value, Mapping | CallsByTier):
        return _or_empty(value)
    rate: str = TypeAdapter(CallRate).validate_python(value)
    return dict.fromkeys(CallsByTier.model_fields, rate)


class Streams(_Section):
    """How many streams may be open in one process: of changes over MCP, and of plugins' APIs."""

    total: int = Field(12_000, ge=1, description="Streams of all callers together.")
    person: int = Field(100, ge=1, description="Streams of one person.")
    address: int = Field(
        100, ge=1, description="Streams from one address (IPv6: a network of 64 bits), signed out."
    )
    network: int = Field(
        400, ge=1, description="The same from one network: IPv4 of 24 bits, IPv6 of 56."
    )


class Connections(_Section):
    """Connections to one process."""

    total: int = Field(
        20_000, ge=1, description="Connections at a time; a further one is answered with 503."
    )
    waiting: int = Field(
        1_000,
        ge=1,
        description="Connections whose request's headers are not there yet; the oldest ends where "
        "there is one more.",
    )
    headers: Duration = Field(
        timedelta(seconds=10), description="How long the headers of a request may take."
    )
    idle: Duration = Field(
        timedelta(seconds=75),
        description="How long a connection may wait for its next request; longer than a "
        "proxy keeps it (60s in most), so that no request meets its end.",
    )


class Limits(_Section):
    """Bounds that keep one caller from holding up the others."""

    call: Duration = Field(timedelta(seconds=30), description="How long one call may take.")
    question: Duration = Field(
        timedelta(minutes=5),
        description="How long a person may take to answer what a call asks them; the call's own "
        "time stands still meanwhile.",
    )
    body: ByteSize = Field(
        ByteSize(4 * _MEBIBYTE), description="The largest request body, such as 4MiB."
    )
    drain: Duration = Field(
        timedelta(0),
        description="How long requests are taken after SIGTERM while /readyz says 503, so that a "
        "balancer sees it, such as 10s. With one, a portal that starts refuses connections until "
        "its plugins are open.",
    )
    linger: Duration = Field(
        timedelta(seconds=5),
        description="How long idle connections are kept after drain, so that who keeps them ends "
        "them first; longer than the balancer's idle time, such as nginx's keepalive_timeout.",
    )
    shutdown: Duration = Field(
        timedelta(seconds=10), description="How long calls in flight may go on at shutdown."
    )
    calls: Annotated[
        CallsByTier, BeforeValidator(_by_tier, json_schema_input_type=CallRate | CallsByTier)
    ] = Field(
        default_factory=CallsByTier,
        description="How many tools one person may call, over MCP and by pages, or one address, "
        "signed out: one value for everybody, or {open: …, public: …, members: …}; none is no "
        "limit, and then neither shares nor repeats count.",
    )
    client_percent: int = Field(
        50,
        ge=1,
        le=100,
        description="How much of a person's calls one of their applications may make, in percent.",
    )
    network_addresses: int = Field(
        4,
        ge=1,
        description="Addresses whose calls all callers of one network have together, signed out: "
        "IPv4 of 24 bits, IPv6 of 56.",
    )
    repeats: CallRate = Field(
        "20 in 60s",
        description="How often an agent may make the same call with the same arguments, before it "
        "is told that it runs in circles; none is no limit.",
    )
    tools: Annotated[dict[str, CallRate], BeforeValidator(_or_empty)] = Field(
        default_factory=dict,
        description="The same for single tools, {search_code: 20 in 10s}, beside what holds for "
        "all calls; calls of a tool with none are not counted at all.",
    )
    rest: CallRate = Field(
        "600 in 60s",
        description="How often one caller may ask for each operation of the REST API that has no "
        "limit of its own; none is no limit.",
    )
    operations: Annotated[dict[str, CallRate], BeforeValidator(_or_empty)] = Field(
        default_factory=dict,
        description="The same for single operations, {get_search: 60 in 10s}, by the names that "
        "the OpenAPI document gives under x-rate-limit.",
    )
    streams: Streams = Field(default_factory=Streams)
    connections: Connections = Field(default_factory=Connections)


def _rule_names(names: tuple[str, ...]) -> tuple[str, ...]:
    from gateway.contract.suggestions import nearest
    from gateway.scrubbing.rule_files import all_rules

    known = {rule.name for rule in all_rules()} if names else set()
    for name in names:
        if name not in known:
            raise ValueError(f"there is no rule {name}{nearest(name, known)}")
    return names


class Scrubbing(_Section):
    """Secrets that are taken out of calls' arguments, and of what plugins keep and answer."""

    enabled: bool = Field(True, description="Whether secrets are taken out.")
    allow: Annotated[tuple[str, ...], AfterValidator(_rule_names)] = Field(
        (), description="Rules that are not applied, such as high-entropy, by their names."
    )
    as_is: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(/.+)?$")], ...] = Field(
        (),
        description="Plugins, and sources of plugins as plugin/name, whose contents are about keys "
        "and are kept and answered as they are, such as skills_repo/handbook.",
    )


class Audit(_Section):
    """The record of every call: who, tier, item, outcome, duration, bytes; no values."""

    retention: Duration = Field(
        timedelta(days=90), description="How long records are kept, such as 90d."
    )


class Log(_Section):
    """What the portal writes to standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least severe level that is written."
    )
    format: Literal["auto", "text", "json"] = Field(
        "auto", description="auto writes text on a terminal and JSON lines elsewhere."
    )


class PluginKeys(BaseModel):
    """The keys of a plugin's section that the gateway reads."""

    enabled: bool = Field(True, description="Whether the plugin is opened.")
    required: bool = Field(
        True,
        description="Whether the portal counts as not ready where the plugin fails to open.",
    )
    alias: dict[str, Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,45}\*?$")]] = Field(
        default_factory=dict,
        description="Other names for tools and prompts, {their_name: new_name}; mends a clash.",
    )
    bulkhead: PluginBounds = Field(
        default_factory=PluginBounds,
        description="How much of the portal the plugin's calls may take.",
    )
    isolation: Literal["none", "process"] = Field(
        "none",
        description="process gives the plugin a process of its own: for what computes, or is not "
        "trusted to behave.",
    )


class PluginSection(PluginKeys):
    """A plugin's section, before the plugin has checked the keys of its own."""

    model_config = ConfigDict(extra="allow", frozen=True)


def section_model(own: type[BaseModel]) -> type[BaseModel]:
    """A plugin's whole section as one model: its own keys and the gateway's."""
    return create_model(f"{own.__name__}Section", __base__=(own, PluginKeys), __doc__=own.__doc__)


class PortalConfig(_Section):
    """``portal.yaml``: what runs."""

    name: str = Field("Porch", min_length=1, description="The portal's name, shown to members.")
    public_url: Annotated[str, AfterValidator(_public_url)] | None = Field(
        None,
        description="The address that members use; also sets the allowed hosts. Where it is not "
        "given, the address the portal listens on.",
    )
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        (), description="Addresses or networks of proxies whose X-Forwarded-* headers count."
    )
    allowed_hosts: tuple[str, ...] = Field(
        (), description="More Host headers to accept, such as portal.internal:8321."
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="More browser origins to accept, such as https://app.example.org."
    )
    listen: Listen = Field(default_factory=Listen)
    sign_in: SignIn = Field(default_factory=SignIn)
    chains: Chains = Field((), description="EVM chains that roles are read from.")
    roles: Roles = Field(default_factory=Roles)
    services: Services = Field(default_factory=Services)
    plugins: dict[str, Annotated[PluginSection, BeforeValidator(_or_empty)]] = Field(
        default_factory=dict, description="One section for each plugin, by the plugin's name."
    )
    limits: Limits = Field(default_factory=Limits)
    tools: Tools = Field(default_factory=Tools)
    scrubbing: Scrubbing = Field(default_factory=Scrubbing)
    assistant: AssistantSettings = Field(default_factory=AssistantSettings)
    payments: Payments = Field(default_factory=Payments)
    audit: Audit = Field(default_factory=Audit)
    log: Log = Field(default_factory=Log)

    @property
    def url(self) -> str:
        """The portal's address as members write it, without a slash at the end."""
        if self.public_url:
            return self.public_url
        host = f"[{self.listen.host}]" if ":" in self.listen.host else self.listen.host
        return f"http://{host}:{self.listen.port}"

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine is meant to reach the portal, by a proxy or else."""
        return urlsplit(self.url).hostname in LOOPBACK and not self.trusted_proxies

    @property
    def site(self) -> Site:
        """The portal's own addresses."""
        return Site(self.url, local=self.is_local, doors=DOORS)

    @property
    def hosts(self) -> frozenset[str]:
        """The Host headers to accept; ``name:*`` stands for any port.

        They are those of ``public_url`` and ``allowed_hosts``, and the loopback names where
        the portal listens on loopback.
        """
        loopback = {"127.0.0.1:*", "localhost:*", "[::1]:*", "127.0.0.1", "localhost", "[::1]"}
        local = loopback if self.listen.host in LOOPBACK else set()
        url = urlsplit(self.url)
        # Clients leave out the port that a scheme implies (RFC 9110, 4.2).
        implied = f":{_PORTS[url.scheme]}"
        return frozenset({url.netloc.removesuffix(implied), *self.allowed_hosts, *local})

    @property
    def origins(self) -> frozenset[str]:
        """The Origin headers to accept: those of the hosts, and ``allowed_origins``."""
        own = {f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https")}
        return frozenset(own | set(self.allowed_origins))
