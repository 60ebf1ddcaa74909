"""What is said of an entity: the seed's ``TaxonomySchema`` (kap10, "Phase 4"), with who says it.

Each statement carries its sayer, so that a reader can tell what was derived from what a person
wrote.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class EntityClass(StrEnum):
    """The place of an entity in the system."""

    VERTICAL = "VERTICAL"
    """Implements a capability that a user sees."""
    HORIZONTAL = "HORIZONTAL"
    """Infrastructure that several capabilities share."""
    UTILITY = "UTILITY"
    """A helper without a domain and without infrastructure."""
    UNKNOWN = "unknown"
    """Nothing in the graph or the source tells."""


class Sayer(StrEnum):
    """Who says something about an entity."""

    FACTS = "facts"
    """Rules over the graph and the source."""
    MODEL = "model"
    AGENT = "agent"
    PERSON = "person"
    """A member, whose word wins."""


class EntryKind(StrEnum):
    """How the outside world starts an entity."""

    ROUTE = "route"
    COMMAND = "command"
    MAIN = "main"
    TASK = "task"
    """A job or a schedule runs it."""
    HANDLER = "handler"
    """A framework calls it when something happens."""


class _Model(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True
    )


class UserFlow(_Model):
    """The part of an entity in a flow that a user sees."""

    name: str = Field(description="The flow, such as `Users: POST /users`.")
    step: str = Field(description="What this entity is in it: where it begins, or how far in.")
    actors: list[str] = Field(description="Who starts it: user, operator, system.")


class Evidence(_Model):
    """What a statement rests on."""

    says: str = Field(description="The fact.")
    at: str | None = Field(None, description="Where it stands: file:line.")


class Taxonomy(_Model):
    """Why one entity exists, and its place in the system."""

    type: EntityClass = Field(description="unknown: nothing in the code tells.")
    type_by: Sayer = Field(description="Who says the class, and what comes with it.")
    feature_area: str | None = Field(None, description="Of VERTICAL: the feature it belongs to.")
    user_flows: list[UserFlow] | None = Field(
        None, description="Of VERTICAL: flows from an entry point that come through it."
    )
    technology_type: str | None = Field(
        None, description="Of HORIZONTAL: what it provides, such as database or authentication."
    )
    consumers: list[str] | None = Field(
        None, description="Of HORIZONTAL and UTILITY: features whose code calls it."
    )
    purpose: str = Field(description="What it is for, quoted from its author; unknown if nobody.")
    purpose_at: str | None = Field(None, description="Where the author says so: file:line.")
    purpose_by: Sayer = Sayer.FACTS
    business_value: str = Field(description="Which need it serves, as far as facts tell.")
    business_value_by: Sayer = Sayer.FACTS
    entry_point: EntryKind | None = Field(
        None, description="How the outside starts it; null: the code itself calls it."
    )
    entry: str | None = Field(None, description="The route or the command.")
    confidence: float = Field(
        ge=0, le=1, description="How often a class said on such evidence is right."
    )
    evidence: list[Evidence] = Field(default_factory=list, description="What it rests on.")


UNKNOWN_TEXT = "unknown"
"""What a text says where nothing in the code tells."""
