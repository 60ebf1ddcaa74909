"""Workflows, skill cards and mini-prompts: their tables, and what errors call them."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from sqlalchemy import Column, Table

from plugins.workflows.model import TargetType
from plugins.workflows.store import tables

Kind = TypeVar("Kind", bound=StrEnum)

TABLES: dict[TargetType, Table] = {
    TargetType.WORKFLOW: tables.workflows,
    TargetType.SKILL: tables.skills,
    TargetType.MINI_PROMPT: tables.mini_prompts,
}
TYPE_NAMES: dict[TargetType, str] = {
    TargetType.WORKFLOW: "Workflow",
    TargetType.SKILL: "Skill",
    TargetType.MINI_PROMPT: "Mini-prompt",
}
TAG_TABLES: dict[TargetType, tuple[Table, Column[str]]] = {
    TargetType.WORKFLOW: (tables.workflow_tags, tables.workflow_tags.c.workflow),
    TargetType.SKILL: (tables.skill_tags, tables.skill_tags.c.skill),
}
"""The tables of tags, and the column that says whose they are; mini-prompts have none."""
TEXT_TABLES: dict[TargetType, tuple[Table, Column[str]]] = {
    TargetType.WORKFLOW: (tables.workflow_embeddings, tables.workflow_embeddings.c.workflow),
    TargetType.SKILL: (tables.skill_embeddings, tables.skill_embeddings.c.skill),
}
"""The tables of what search reads, likewise."""
STAGE_TABLES: dict[TargetType, tuple[Table, Column[str]]] = {
    TargetType.MINI_PROMPT: (tables.stage_mini_prompts, tables.stage_mini_prompts.c.mini_prompt),
    TargetType.SKILL: (tables.stage_skills, tables.stage_skills.c.skill),
}
"""The tables of stages' items, and the column that says which item it is."""


def enum_or_none(kind: type[Kind], value: str | None) -> Kind | None:
    """A stored word; None where there is none, or one that only another version knows.

    One row that a newer version has written, or somebody by hand, spoils no list.
    """
    return kind(value) if value in set(kind) else None
