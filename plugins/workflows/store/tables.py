"""The playbook's tables, in SQLAlchemy Core; imported late (seed 004, "Core Tables").

``migrations/`` makes them; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from gateway.toolkit import columns
from gateway.toolkit.columns import PLAIN, UtcDateTime
from plugins.workflows.errors import Damaged


class Json(columns.Json):
    """JSON values of which every one has the same shape.

    Args:
        column: whose values they are, for whoever has to mend one.
        shape: what each of them is, an object or a list.
    """

    cache_ok = True

    def __init__(self, column: str = "", shape: type[dict[Any, Any] | list[Any]] = dict) -> None:
        super().__init__()
        self.column, self.shape = column, shape

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Give the values back.

        Raises:
            Damaged: they are no JSON, or of another shape.
        """
        if value is None:
            return None
        try:
            read = super().process_result_value(value, dialect)
        except ValueError as error:
            raise Damaged(f"A value of {self.column} is no JSON: {error}") from None
        if not isinstance(read, self.shape):
            raise Damaged(f"A value of {self.column} is a {type(read).__name__}.")
        return read


metadata = MetaData()


def _item(*more: Column[Any]) -> tuple[Any, ...]:
    """The columns of ``model.Item``, and those of one kind of item."""
    return (
        Column("id", Text, primary_key=True),
        Column("key", PLAIN, nullable=False),
        Column("owner", Text, nullable=False),
        Column("author", Text),
        Column("name", PLAIN, nullable=False),
        Column("description", Text),
        Column("visibility", Text, nullable=False),
        Column("version", Integer, nullable=False),
        Column("created", UtcDateTime, nullable=False),
        Column("updated", UtcDateTime, nullable=False),
        Column("deleted", UtcDateTime),
        *more,
        UniqueConstraint("owner", "key"),
    )


def _of(name: str, table: str, **options: Any) -> Column[Any]:
    return Column(
        name, ForeignKey(f"playbook_{table}.id", ondelete="CASCADE"), nullable=False, **options
    )


workflows = Table(
    "playbook_workflows",
    metadata,
    *_item(
        Column("complexity", Text),
        Column("include_multi_agent_chat", Boolean, nullable=False),
        Column("extra", Json("playbook_workflows.extra"), nullable=False),
        Column("origin", Text),
        Column("origin_version", Integer),
    ),
    Index("ix_playbook_workflows_name", "name", "id"),
)
"""Workflows. A deleted one keeps its row, and gives up its key; ``origin`` is what a copy is of."""

stages = Table(
    "playbook_stages",
    metadata,
    Column("id", Text, primary_key=True),
    _of("workflow", "workflows", index=True),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text),
    Column("color", Text),
    Column("with_review", Boolean, nullable=False),
    Column("include_multi_agent_chat", Boolean),
    Column("item_order", Json("playbook_stages.item_order", list)),
    Column("extra", Json("playbook_stages.extra"), nullable=False),
)

mini_prompts = Table(
    "playbook_mini_prompts",
    metadata,
    *_item(
        Column("content", Text, nullable=False),
        Column("automatic", Text),
        Column("stand_alone", Boolean, nullable=False),
    ),
)
"""``stand_alone`` is what was written for itself; the others go when no workflow uses them."""

skills = Table(
    "playbook_skills",
    metadata,
    *_item(Column("content", Text, nullable=False)),
    Index("ix_playbook_skills_name", "name", "id"),
)

stage_mini_prompts = Table(
    "playbook_stage_mini_prompts",
    metadata,
    _of("stage", "stages", primary_key=True),
    Column("position", Integer, primary_key=True),
    _of("mini_prompt", "mini_prompts", index=True),
    Column("extra", Json("playbook_stage_mini_prompts.extra"), nullable=False),
)
"""``position`` counts the items of a stage, prompts and cards together, from 0."""

stage_skills = Table(
    "playbook_stage_skills",
    metadata,
    _of("stage", "stages", primary_key=True),
    Column("position", Integer, primary_key=True),
    _of("skill", "skills", index=True),
    Column("extra", Json("playbook_stage_skills.extra"), nullable=False),
)

skill_attachments = Table(
    "playbook_skill_attachments",
    metadata,
    _of("skill", "skills", primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("mime_type", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("digest", Text, nullable=False, index=True),
)
"""The bytes are in the object store, at ``attachments/DIGEST``."""

workflow_tags = Table(
    "playbook_workflow_tags",
    metadata,
    _of("workflow", "workflows", primary_key=True),
    Column("tag", Text, primary_key=True, index=True),
)

skill_tags = Table(
    "playbook_skill_tags",
    metadata,
    _of("skill", "skills", primary_key=True),
    Column("tag", Text, primary_key=True, index=True),
)


def _embeddings(kind: str) -> Table:
    return Table(
        f"playbook_{kind}_embeddings",
        metadata,
        _of(kind, f"{kind}s", primary_key=True),
        Column("text", Text, nullable=False),
        Column("model", Text),
        Column("vector", LargeBinary),
        Column("stamp", BigInteger, nullable=False, index=True),
    )


workflow_embeddings = _embeddings("workflow")
"""The text that search reads of a workflow, and its vector (float32, little endian) by a model.

``stamp`` is drawn from ``counters`` in the writing transaction, so that whoever has read up to a
stamp has missed nothing below it.
"""

skill_embeddings = _embeddings("skill")

folders = Table(
    "playbook_folders",
    metadata,
    Column("id", Text, primary_key=True),
    Column("key", PLAIN, nullable=False),
    Column("owner", Text, nullable=False),
    Column("name", PLAIN, nullable=False),
    Column("description", Text),
    Column("visibility", Text, nullable=False),
    Column("parent", ForeignKey("playbook_folders.id"), index=True),
    Column("position", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("deleted", UtcDateTime),
    UniqueConstraint("owner", "key"),
)

folder_items = Table(
    "playbook_folder_items",
    metadata,
    _of("folder", "folders", primary_key=True),
    Column("type", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Index("ix_playbook_folder_items_target", "type", "target"),
)

library = Table(
    "playbook_library",
    metadata,
    Column("person", Text, primary_key=True),
    Column("type", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("added", UtcDateTime, nullable=False),
)
"""What people keep of others' items."""

revisions = Table(
    "playbook_revisions",
    metadata,
    Column("type", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("by", Text),
    Column("fields", Json("playbook_revisions.fields", list), nullable=False),
    Column("content", Json("playbook_revisions.content")),
)
"""What each version of an item changed, for those who edit an older one, and what it said.

``content`` (``version_contents.py``) is for the item's owner alone; it is null where none of the
owner's words changed, and for versions that were written before contents were kept.
"""

revision_files = Table(
    "playbook_revision_files",
    metadata,
    Column("skill", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("digest", Text, primary_key=True, index=True),
)
"""The files of skill cards' kept versions, whose bytes stay as long as these rows."""

plans = Table(
    "playbook_plans",
    metadata,
    _of("workflow", "workflows", primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("plan", Json("playbook_plans.plan"), nullable=False),
)
"""The plans that runs follow, as they were when the run began."""

runs = Table(
    "playbook_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    _of("workflow", "workflows", index=True),
    Column("version", Integer, nullable=False),
    Column("step", Integer),
    Column("started", UtcDateTime, nullable=False),
    Column("updated", UtcDateTime, nullable=False),
    Column("finished", UtcDateTime),
    Column("outcome", Text),
    Column("note", Text),
    Index("ix_playbook_runs_person", "person", "finished"),
)
"""``step`` is the index of the last step that was handed out, or null before the first."""

ratings = Table(
    "playbook_ratings",
    metadata,
    _of("workflow", "workflows", primary_key=True),
    Column("person", Text, primary_key=True, index=True),
    Column("stars", Integer, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)
"""What people think of workflows, from one star to five."""

links = Table(
    "playbook_links",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True, index=True),
    _of("workflow", "workflows", index=True),
    Column("person", Text, nullable=False, index=True),
    Column("tier", Text, nullable=False),
    Column("made", UtcDateTime, nullable=False),
    Column("expires", UtcDateTime, nullable=False),
    Column("ended", UtcDateTime),
)
"""Links that their owners have made to workflows. Of the secret in a link there is only the digest;
``ended`` is when its maker ended it, before it expired."""

counters = Table(
    "playbook_counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
"""Numbers that only grow: ``stamp``."""

notes = Table(
    "playbook_notes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""What the plugin remembers of itself, such as which starter files it has taken in."""
