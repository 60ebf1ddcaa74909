"""All that crosses between the gateway and its plugins.

A plugin declares, it does not register: ``porch_plugin`` returns a :class:`Plugin`, whose
``open`` yields an :class:`Offer`, a closed set of frozen declarations. The gateway never hands
itself to a plugin; what a plugin may use of it is the :class:`Host`. The protocol types are
those of ``mcp_types``. The contract's version policy is in ``docs/plugin-authors/contract.md``.
"""

from __future__ import annotations

from auth import ANONYMOUS, Caller, Tier
from auth.tokens.assertions import Assertion
from gateway.contract.answer_size import Listing, Page, Piece, piece
from gateway.contract.apis import Allowance, Api, Refusal
from gateway.contract.approvals import Backlog, Backlogs, PendingRequest, PendingRequests
from gateway.contract.backend_errors import is_outage
from gateway.contract.caller_lists import ListedResource, PromptFamily, ResourceLister
from gateway.contract.config_types import ConfigPath, Duration, SafeUrl, SecretRef
from gateway.contract.connections import (
    Connection,
    ConnectionNeeded,
    Connections,
    Departure,
    Place,
)
from gateway.contract.directories import follow, follow_each, rebuildable
from gateway.contract.exchange import Exchange
from gateway.contract.failures import ToolFailed
from gateway.contract.graphs import Graph, GraphEdge, GraphNode
from gateway.contract.jobs import JobRun, Jobs, JobStatus, ToolTask
from gateway.contract.missing_items import Absent
from gateway.contract.models import (
    ExpectedCost,
    Generated,
    ModelFailed,
    ModelFailure,
    Models,
    Provenance,
    Role,
)
from gateway.contract.offers import (
    Completer,
    Health,
    Job,
    Offer,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
    UpstreamCredential,
    Webhook,
)
from gateway.contract.people import Attribution, Fellow, People
from gateway.contract.personal_data import PersonalData, PersonalFile
from gateway.contract.plugin import (
    CONTRACT_VERSION,
    Change,
    Check,
    Command,
    CommandContext,
    Finding,
    Hooks,
    Host,
    Plugin,
    PluginConfig,
    hookimpl,
    hookspec,
)
from gateway.contract.relayed import SOURCE_MARK, Origin, Relayed, RelayedError
from gateway.contract.results import BriefResult, ToolResult
from gateway.contract.routes import Route
from gateway.contract.rows import RowKind, Rows, Unruled
from gateway.contract.services import (
    Cache,
    Collection,
    CollectionSpec,
    Condition,
    Database,
    Embedder,
    Hit,
    ObjectInfo,
    Objects,
    Point,
    Reranker,
    Sparse,
    VectorQuery,
    Vectors,
)
from gateway.contract.skills import Skill, SkillFile
from gateway.contract.streams import Stream, StreamEvent
from gateway.contract.suggestions import near
from gateway.contract.vault import NotOpened, Vault
from gateway.contract.views import APP_MEDIA_TYPE, View, Write
from gateway.contract.work import Work, WorkAnswer, Works, WorkSource, WorkState
from gateway.scrubbing.contents import ContentScrub
from gateway.scrubbing.scrubber import Redaction

__all__ = [
    "ANONYMOUS",
    "APP_MEDIA_TYPE",
    "CONTRACT_VERSION",
    "SOURCE_MARK",
    "Absent",
    "Allowance",
    "Api",
    "Assertion",
    "Attribution",
    "Backlog",
    "Backlogs",
    "BriefResult",
    "Cache",
    "Caller",
    "Change",
    "Check",
    "Collection",
    "CollectionSpec",
    "Command",
    "CommandContext",
    "Completer",
    "Condition",
    "ConfigPath",
    "Connection",
    "ConnectionNeeded",
    "Connections",
    "ContentScrub",
    "Database",
    "Departure",
    "Duration",
    "Embedder",
    "Exchange",
    "ExpectedCost",
    "Fellow",
    "Finding",
    "Generated",
    "Graph",
    "GraphEdge",
    "GraphNode",
    "Health",
    "Hit",
    "Hooks",
    "Host",
    "Job",
    "JobRun",
    "JobStatus",
    "Jobs",
    "ListedResource",
    "Listing",
    "ModelFailed",
    "ModelFailure",
    "Models",
    "NotOpened",
    "ObjectInfo",
    "Objects",
    "Offer",
    "Origin",
    "Page",
    "PendingRequest",
    "PendingRequests",
    "People",
    "PersonalData",
    "PersonalFile",
    "Piece",
    "Place",
    "Plugin",
    "PluginConfig",
    "Point",
    "Prompt",
    "PromptFamily",
    "Provenance",
    "Redaction",
    "Refusal",
    "Relayed",
    "RelayedError",
    "Reranker",
    "Resource",
    "ResourceLister",
    "ResourceTemplate",
    "Role",
    "Route",
    "RowKind",
    "Rows",
    "SafeUrl",
    "SecretRef",
    "Skill",
    "SkillFile",
    "Sparse",
    "Stream",
    "StreamEvent",
    "Tier",
    "Tool",
    "ToolFailed",
    "ToolResult",
    "ToolTask",
    "Unruled",
    "UpstreamCredential",
    "Vault",
    "VectorQuery",
    "Vectors",
    "View",
    "Webhook",
    "Work",
    "WorkAnswer",
    "WorkSource",
    "WorkState",
    "Works",
    "Write",
    "follow",
    "follow_each",
    "hookimpl",
    "hookspec",
    "is_outage",
    "near",
    "piece",
    "rebuildable",
]
