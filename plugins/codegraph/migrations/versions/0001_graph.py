"""Repositories, their layers, and the graph in each."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _repositories()
    _layers()
    _files()
    _graph()
    _edges()
    _contents()
    if op.get_bind().dialect.name == "postgresql":
        # SQLite has one such table per layer, created with it (store/fulltext.py).
        op.execute(
            "CREATE TABLE codegraph_words (id BIGINT PRIMARY KEY, layer BIGINT NOT NULL, "
            "org TEXT NOT NULL, repo TEXT NOT NULL, words TSVECTOR NOT NULL)"
        )
        op.execute("CREATE INDEX ix_codegraph_words ON codegraph_words USING gin (words)")


def _tenant() -> tuple[sa.Column[Any], ...]:
    return sa.Column("org", sa.Text, nullable=False), sa.Column("repo", sa.Text, nullable=False)


def _keys(*names: tuple[str, Any]) -> tuple[sa.Column[Any], ...]:
    return tuple(sa.Column(name, kind, primary_key=True) for name, kind in names)


def _repositories() -> None:
    op.create_table(
        "codegraph_repositories",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("name", PLAIN, nullable=False, unique=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("location", sa.Text, nullable=False),
        sa.Column("asked_branch", sa.Text),
        sa.Column("tier", sa.Text),
        sa.Column("groups", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("declared", sa.Boolean, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("removed", sa.DateTime),
        sa.Column("layer", sa.BigInteger),
        sa.Column("branch", sa.Text),
        sa.Column("commit", sa.Text),
        sa.Column("indexed", sa.DateTime),
        sa.Column("problem", sa.Text, nullable=False, server_default=""),
        sa.Column("embedded_layer", sa.BigInteger),
        sa.Column("embedded_generation", sa.Integer),
        sa.Column("scip", sa.Text),
    )


def _layers() -> None:
    op.create_table(
        "codegraph_layers",
        sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
        *_tenant(),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False, server_default="0"),
        sa.Column("branch", sa.Text),
        sa.Column("commit", sa.Text),
        sa.Column("base", sa.BigInteger),
        sa.Column("base_generation", sa.Integer),
        sa.Column("person", sa.Text),
        sa.Column("digest", sa.Text),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
        sa.Column("expires", sa.DateTime),
        sqlite_autoincrement=True,
    )
    _index("layers", "repo", "org", "repo", "kind", "person", "branch")
    _index("layers", "state", "state")


def _files() -> None:
    op.create_table(
        "codegraph_files",
        *_keys(("layer", sa.BigInteger), ("path", PLAIN)),
        *_tenant(),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("lines", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("mtime", sa.BigInteger, nullable=False),
        sa.Column("inode", sa.BigInteger, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("skipped", sa.Boolean, nullable=False),
        sa.Column("gone", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "codegraph_links",
        *_keys(("layer", sa.BigInteger), ("path", PLAIN)),
        *_tenant(),
        sa.Column("interface", sa.Text, nullable=False),
        sa.Column("package", sa.Text, nullable=False),
        sa.Column("asked", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "codegraph_manifests",
        *_keys(("layer", sa.BigInteger), ("path", PLAIN)),
        *_tenant(),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )


def _graph() -> None:
    op.create_table(
        "codegraph_entities",
        sa.Column("id", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("layer", sa.BigInteger, nullable=False),
        *_tenant(),
        sa.Column("key", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("name", PLAIN, nullable=False),
        sa.Column("qualified", PLAIN, nullable=False),
        sa.Column("path", PLAIN, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("end_line", sa.Integer, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("doc", sa.Text, nullable=False),
        sa.Column("exported", sa.Boolean, nullable=False),
        sa.Column("test", sa.Boolean, nullable=False),
        sa.Column("parent", sa.BigInteger),
        sa.Column("words", sa.Text, nullable=False),
    )
    _index("entities", "key", "layer", "key", unique=True)
    _index("entities", "name", "layer", "name")
    _index("entities", "path", "layer", "path")


def _edges() -> None:
    for name, near, far in (("edges", "source", "target"), ("incoming", "target", "source")):
        op.create_table(
            f"codegraph_{name}",
            *_keys(("layer", sa.BigInteger), (near, sa.BigInteger)),
            *_keys(("kind", sa.SmallInteger), (far, sa.BigInteger)),
            *_tenant(),
            sa.Column("line", sa.Integer, nullable=False),
            sa.Column("strategy", sa.SmallInteger, nullable=False),
            sa.Column("sites", sa.Integer, nullable=False),
            sqlite_with_rowid=False,
        )
    op.create_table(
        "codegraph_unresolved",
        *_keys(("layer", sa.BigInteger), ("path", PLAIN), ("name", PLAIN)),
        *_tenant(),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("sites", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    _index("unresolved", "name", "layer", "name")


def _contents() -> None:
    op.create_table(
        "codegraph_texts",
        *_keys(("repo", sa.Text), ("digest", sa.Text)),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )


def _index(table: str, name: str, *columns: str, unique: bool = False) -> None:
    op.create_index(
        f"ix_codegraph_{table}_{name}", f"codegraph_{table}", list(columns), unique=unique
    )
