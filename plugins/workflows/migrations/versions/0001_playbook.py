"""Workflows, skill cards, prompts, folders, libraries and runs."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _items()
    _stages()
    _labels()
    _folders()
    _runs()


def _items() -> None:
    op.create_table(
        "playbook_workflows",
        *_item(
            sa.Column("complexity", sa.Text),
            sa.Column("include_multi_agent_chat", sa.Boolean, nullable=False),
            sa.Column("extra", sa.Text, nullable=False),
        ),
    )
    content = sa.Column("content", sa.Text, nullable=False)
    op.create_table(
        "playbook_mini_prompts",
        *_item(
            content,
            sa.Column("automatic", sa.Text),
            sa.Column("stand_alone", sa.Boolean, nullable=False),
        ),
    )
    content = sa.Column("content", sa.Text, nullable=False)
    op.create_table("playbook_skills", *_item(content))
    for kind in ("workflows", "skills"):
        op.create_index(f"ix_playbook_{kind}_name", f"playbook_{kind}", ["name", "id"])
    op.create_table(
        "playbook_skill_attachments",
        _of("skill", "skills", primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("mime_type", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
    )
    _index("skill_attachments", "digest")


def _stages() -> None:
    op.create_table(
        "playbook_stages",
        sa.Column("id", sa.Text, primary_key=True),
        _of("workflow", "workflows"),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("color", sa.Text),
        sa.Column("with_review", sa.Boolean, nullable=False),
        sa.Column("include_multi_agent_chat", sa.Boolean),
        sa.Column("item_order", sa.Text),
        sa.Column("extra", sa.Text, nullable=False),
    )
    _index("stages", "workflow")
    for kind in ("mini_prompt", "skill"):
        op.create_table(
            f"playbook_stage_{kind}s",
            _of("stage", "stages", primary_key=True),
            sa.Column("position", sa.Integer, primary_key=True),
            _of(kind, f"{kind}s"),
            sa.Column("extra", sa.Text, nullable=False),
        )
        _index(f"stage_{kind}s", kind)


def _labels() -> None:
    for kind in ("workflow", "skill"):
        op.create_table(
            f"playbook_{kind}_tags",
            _of(kind, f"{kind}s", primary_key=True),
            sa.Column("tag", sa.Text, primary_key=True),
        )
        _index(f"{kind}_tags", "tag")
        op.create_table(
            f"playbook_{kind}_embeddings",
            _of(kind, f"{kind}s", primary_key=True),
            sa.Column("text", sa.Text, nullable=False),
            sa.Column("model", sa.Text),
            sa.Column("vector", sa.LargeBinary),
            sa.Column("stamp", sa.BigInteger, nullable=False),
        )
        _index(f"{kind}_embeddings", "stamp")
    op.create_table(
        "playbook_revisions",
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("by", sa.Text),
        sa.Column("fields", sa.Text, nullable=False),
    )


def _folders() -> None:
    op.create_table(
        "playbook_folders",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("key", PLAIN, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", PLAIN, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("parent", sa.Text, sa.ForeignKey("playbook_folders.id")),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("deleted", sa.DateTime),
        sa.UniqueConstraint("owner", "key"),
    )
    _index("folders", "parent")
    op.create_table(
        "playbook_folder_items",
        _of("folder", "folders", primary_key=True),
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("ix_playbook_folder_items_target", "playbook_folder_items", ["type", "target"])
    op.create_table(
        "playbook_library",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("added", sa.DateTime, nullable=False),
    )


def _runs() -> None:
    op.create_table(
        "playbook_plans",
        _of("workflow", "workflows", primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("plan", sa.Text, nullable=False),
    )
    op.create_table(
        "playbook_runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        _of("workflow", "workflows"),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("step", sa.Integer),
        sa.Column("started", sa.DateTime, nullable=False),
        sa.Column("updated", sa.DateTime, nullable=False),
        sa.Column("finished", sa.DateTime),
        sa.Column("outcome", sa.Text),
        sa.Column("note", sa.Text),
    )
    _index("runs", "workflow")
    op.create_index("ix_playbook_runs_person", "playbook_runs", ["person", "finished"])
    op.create_table(
        "playbook_counters",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "playbook_notes",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )


def _item(*more: sa.Column[Any]) -> tuple[Any, ...]:
    return (
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("key", PLAIN, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("name", PLAIN, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("updated", sa.DateTime, nullable=False),
        sa.Column("deleted", sa.DateTime),
        *more,
        sa.UniqueConstraint("owner", "key"),
    )


def _of(name: str, table: str, **options: Any) -> sa.Column[Any]:
    key = sa.ForeignKey(f"playbook_{table}.id", ondelete="CASCADE")
    return sa.Column(name, sa.Text, key, nullable=False, **options)


def _index(table: str, column: str) -> None:
    op.create_index(f"ix_playbook_{table}_{column}", f"playbook_{table}", [column])
