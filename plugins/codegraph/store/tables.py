"""The graph's tables, in SQLAlchemy Core; imported late (kap10, "Phase 1", collections).

``migrations/`` creates them; a test compares the two. Full-text tables differ by database, so they
are defined in ``store/fulltext.py`` instead.

Every row has its owner: an organisation and a repository. Rows of the graph also belong to a
layer: one full index of a repository, or one person's uncommitted work or another branch over it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

from gateway.toolkit.columns import NUMBER, PLAIN, Json, UtcDateTime

metadata = MetaData()


def tenant() -> tuple[Column[Any], Column[Any]]:
    """The columns that say whose a row is."""
    return Column("org", Text, nullable=False), Column("repo", Text, nullable=False)


repositories = Table(
    "codegraph_repositories",
    metadata,
    Column("id", Text, primary_key=True),
    Column("org", Text, nullable=False),
    Column("name", PLAIN, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("asked_branch", Text),
    Column("tier", Text),
    Column("groups", Json, nullable=False),
    Column("state", Text, nullable=False),
    Column("declared", Boolean, nullable=False),
    Column("created_by", Text),
    Column("created", UtcDateTime, nullable=False),
    Column("removed", UtcDateTime),
    Column("layer", BigInteger),
    Column("branch", Text),
    Column("commit", Text),
    Column("indexed", UtcDateTime),
    Column("problem", Text, nullable=False, server_default=""),
    Column("embedded_layer", BigInteger),
    Column("embedded_generation", Integer),
    Column("scip", Json),
)
"""The repositories. ``layer`` is the base layer that is served, or null before the first; it is set
in the transaction that starts serving it, with ``branch``, ``commit``, ``indexed``, ``problem``."""

layers = Table(
    "codegraph_layers",
    metadata,
    Column("id", NUMBER, primary_key=True, autoincrement=True),
    *tenant(),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("generation", Integer, nullable=False, server_default="0"),
    Column("branch", Text),
    Column("commit", Text),
    Column("base", BigInteger),
    Column("base_generation", Integer),
    Column("person", Text),
    Column("digest", Text),
    Column("created", UtcDateTime, nullable=False),
    Column("ended", UtcDateTime),
    Column("expires", UtcDateTime),
    Index("ix_codegraph_layers_repo", "org", "repo", "kind", "person", "branch"),
    Index("ix_codegraph_layers_state", "state"),
    sqlite_autoincrement=True,
)
"""``kind`` is base, overlay or branch, ``state`` building, ready or dead. ``generation`` counts
in-place changes. An overlay and a branch refer to the base layer and generation that they were
linked over."""

files = Table(
    "codegraph_files",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    Column("path", PLAIN, primary_key=True),
    *tenant(),
    Column("digest", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("lines", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime", BigInteger, nullable=False),
    Column("inode", BigInteger, nullable=False),
    Column("problem", Text, nullable=False),
    Column("skipped", Boolean, nullable=False),
    Column("gone", Boolean, nullable=False),
    Column("secrets", Text, nullable=False, server_default=""),
    sqlite_with_rowid=False,
)
"""The report of each file. In an overlay these are the paths that it hides of the base; ``gone``
ones are deleted. ``mtime`` (nanoseconds) and ``inode`` show whether a file must be read again.
``secrets`` describes what was removed from the file's text."""

links = Table(
    "codegraph_links",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    Column("path", PLAIN, primary_key=True),
    *tenant(),
    Column("interface", Text, nullable=False),
    Column("package", Text, nullable=False),
    Column("asked", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""What linking a file depended on, and its interface digest."""

manifests = Table(
    "codegraph_manifests",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    Column("path", PLAIN, primary_key=True),
    *tenant(),
    Column("digest", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""The manifests of packages and compilers, in full: ``pyproject.toml``, ``tsconfig.json`` ..."""

entities = Table(
    "codegraph_entities",
    metadata,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("layer", BigInteger, nullable=False),
    *tenant(),
    Column("key", BigInteger, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("name", PLAIN, nullable=False),
    Column("qualified", PLAIN, nullable=False),
    Column("path", PLAIN, nullable=False),
    Column("language", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("end_line", Integer, nullable=False),
    Column("signature", Text, nullable=False),
    Column("doc", Text, nullable=False),
    Column("exported", Boolean, nullable=False),
    Column("test", Boolean, nullable=False),
    Column("parent", BigInteger),
    Column("words", Text, nullable=False),
    Index("ix_codegraph_entities_key", "layer", "key", unique=True),
    Index("ix_codegraph_entities_name", "layer", "name"),
    Index("ix_codegraph_entities_path", "layer", "path"),
)
"""``id`` is the layer's number shifted by 28 bits plus a counter (``store/codes.py``), so that the
rows of one layer lie together. ``words`` is the name split into words, for full-text search."""


def _edges(name: str, near: str, far: str) -> Table:
    return Table(
        name,
        metadata,
        Column("layer", BigInteger, primary_key=True),
        Column(near, BigInteger, primary_key=True),
        Column("kind", SmallInteger, primary_key=True),
        Column(far, BigInteger, primary_key=True),
        *tenant(),
        Column("line", Integer, nullable=False),
        Column("strategy", SmallInteger, nullable=False),
        Column("sites", Integer, nullable=False),
        sqlite_with_rowid=False,
    )


edges = _edges("codegraph_edges", "source", "target")
"""An edge belongs to the layer and file of its source. An overlay's edges may lead into the
base."""

incoming = _edges("codegraph_incoming", "target", "source")
"""The same edges by target. Each table is written in its own key order, unlike a secondary index:
keys are hashes, so each row would change another page of it."""


def _by_name(name: str) -> Table:
    return Table(
        name,
        metadata,
        Column("layer", BigInteger, primary_key=True),
        Column("path", PLAIN, primary_key=True),
        Column("name", PLAIN, primary_key=True),
        *tenant(),
        Column("line", Integer, nullable=False),
        Column("sites", Integer, nullable=False),
        Index(f"ix_{name}_name", "layer", "name"),
        sqlite_with_rowid=False,
    )


unresolved = _by_name("codegraph_unresolved")
"""Calls whose target is unknown."""

mentions = _by_name("codegraph_mentions")
"""Names in a file that no definition and no edge accounts for: an entity of that name may be used
there."""

endpoints = Table(
    "codegraph_endpoints",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    Column("path", PLAIN, primary_key=True),
    Column("line", Integer, primary_key=True),
    Column("entity", BigInteger, primary_key=True),
    Column("serves", Boolean, primary_key=True),
    Column("method", PLAIN, primary_key=True),
    Column("template", PLAIN, primary_key=True),
    Column("host", PLAIN, primary_key=True),
    *tenant(),
    Index("ix_codegraph_endpoints_entity", "layer", "entity"),
    sqlite_with_rowid=False,
)
"""The routes that a file serves and the requests that it makes. What matches is found when it is
asked for, since a route and its requests may stand in two repositories."""

justifications = Table(
    "codegraph_justifications",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    Column("key", BigInteger, primary_key=True),
    *tenant(),
    Column("path", PLAIN, nullable=False),
    Column("type", SmallInteger, nullable=False),
    Column("feature", PLAIN, nullable=False),
    Column("technology", PLAIN, nullable=False),
    Column("confidence", SmallInteger, nullable=False),
    Column("digest", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("ix_codegraph_justifications_feature", "layer", "feature"),
    sqlite_with_rowid=False,
)
"""Why each entity exists (``justification/statements.py``); ``data`` is all of it, packed."""

features = Table(
    "codegraph_features",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    Column("id", PLAIN, primary_key=True),
    *tenant(),
    Column("name", PLAIN, nullable=False),
    Column("data", Json, nullable=False),
    sqlite_with_rowid=False,
)
"""The features of a layer, aggregated from its justifications (``justification/features.py``)."""

justified = Table(
    "codegraph_justified",
    metadata,
    Column("layer", BigInteger, primary_key=True),
    *tenant(),
    Column("generation", Integer, nullable=False),
    Column("rules", Integer, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("counts", Json, nullable=False),
    Column("outline", LargeBinary),
    Column("followed", Integer),
)
"""Up to which generation of a layer everything is justified, and by which version of the rules;
``followed`` is up to which later one what changed is, or null where nothing was since;
``outline`` is what these need to know of it to judge a part (``justification/outline.py``)."""

signals = Table(
    "codegraph_signals",
    metadata,
    Column("repo", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("org", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""What the text of each file tells (``justification/signals.py``), so that no text is read
twice."""

corrections = Table(
    "codegraph_corrections",
    metadata,
    Column("org", Text, primary_key=True),
    Column("repo", Text, primary_key=True),
    Column("key", BigInteger, primary_key=True),
    Column("path", PLAIN, nullable=False),
    Column("qualified", PLAIN, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("person", Text),
    Column("at", UtcDateTime, nullable=False),
    Column("values", Json, nullable=False),
)
"""What members say of entities, over all layers. Where the key is no more, since the signature
changed, the path, the name and the kind tell which entity is meant."""

opinions = Table(
    "codegraph_opinions",
    metadata,
    Column("org", Text, primary_key=True),
    Column("repo", Text, primary_key=True),
    Column("key", BigInteger, primary_key=True),
    Column("path", PLAIN, nullable=False),
    Column("qualified", PLAIN, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("code", BigInteger, nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("person", Text),
    Column("at", UtcDateTime, nullable=False),
    Column("refused", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""What models and members' agents say of entities (``justification/opinions``), over all layers.
``code`` is a number of the lines that they have seen: of other code it says nothing. ``refused``
is why the graph contradicts it, or empty."""

opinion_runs = Table(
    "codegraph_opinion_runs",
    metadata,
    Column("repo", Text, primary_key=True),
    Column("org", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("everything", Boolean, nullable=False),
    Column("requested", UtcDateTime, nullable=False),
    Column("layer", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("level", Integer, nullable=False),
    Column("levels", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("job", Text, nullable=False),
    Column("changed", UtcDateTime, nullable=False),
    Column("problem", Text, nullable=False),
)
"""The last run of each repository in which models or agents are asked
(``justification/opinions/runs.py``)."""

texts = Table(
    "codegraph_texts",
    metadata,
    Column("repo", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("org", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""The text of each file as it was indexed, deflated: answers quote the lines that the graph is
of."""

LAYERED = (
    *(entities, edges, incoming, unresolved, mentions, endpoints),
    *(justifications, features, justified),
    *(links, manifests, files),
)
"""The tables with a layer's rows, in the order in which a sweep deletes them."""
SHARED = (texts, signals)
"""The tables shared by a repository's layers, by content digest."""
KEPT = (corrections, opinions, opinion_runs)
"""The tables of a repository that no sweep touches."""

SELECTED = tuple(
    entities.c[name]
    for name in (
        *("key", "kind", "name", "qualified", "path", "language", "line", "end_line"),
        *("signature", "doc", "exported", "parent", "test"),
    )
)
"""The columns of an entity, in the order of :class:`Entity`."""
REPORTED = tuple(
    files.c[name]
    for name in (*("path", "digest", "language", "lines", "size", "problem", "skipped"), "secrets")
)
"""The columns of a file's report, in the order of :class:`FileReport`."""
ENDS = tuple(
    endpoints.c[name] for name in ("path", "line", "entity", "serves", "method", "template", "host")
)
"""The columns of a route or request, in the order of :class:`Endpoint`."""
