"""What all of these inputs have in common.

A name that is misspelled is refused rather than left out, so that nothing is lost in silence.
Names are taken in camelCase as well, as the results write them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.alias_generators import to_camel

from plugins.workflows import limits
from plugins.workflows.model import Visibility
from plugins.workflows.store.folders import Place
from plugins.workflows.tools.arguments.fields import (
    AnyCaseVisibility,
    Description,
    FolderName,
    Name,
    Tags,
)

VISIBILITY_DESCRIPTION = (
    "PRIVATE: only its owner sees it. PUBLIC: everyone does, with the author's name; needs the "
    "tier of the tool publish."
)
Version = Annotated[
    int,
    Field(
        ge=1,
        le=limits.MAX_VERSION,
        description="The version that you read. If it has changed since, nothing is written and "
        "the answer says what changed.",
    ),
]
IsActive = Annotated[
    bool | None,
    Field(description="false deletes it, whatever else is given; null: as it is."),
]


class Input(BaseModel):
    """The base of what a tool takes: nothing unknown, names in snake_case or camelCase."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=AliasGenerator(
            validation_alias=lambda name: AliasChoices(name, to_camel(name))
        ),
    )


class RoundTripInput(Input):
    """Input that may be an answer as it was given, changed in places.

    What only answers say of an item is passed over, so that nobody has to take it out.
    """

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.pop("additionalProperties"))

    answered: ClassVar[frozenset[str]] = frozenset(
        {
            "key",
            "author",
            "mine",
            "updated_at",
            "visibility",
            "version",
            "attachments",
            "copied_from",
            "standing",
            "my_rating",
            "changes",
        }
    )
    """Fields of answers, as far as this input has none of that name."""

    @model_validator(mode="before")
    @classmethod
    def _without_what_only_answers_say(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        over = cls.answered - cls.model_fields.keys()
        names = over | {to_camel(each) for each in over}
        return {name: each for name, each in value.items() if name not in names}


class NewItem(Input):
    """A new workflow or skill card of the caller's, and the folder of theirs that it goes into."""

    name: Name = Field(description="What it is called.")
    description: Description | None = Field(
        None, description="What it is for and when to use it; search reads it."
    )
    visibility: AnyCaseVisibility = Field(Visibility.PRIVATE, description=VISIBILITY_DESCRIPTION)
    tags: Tags = Field(default_factory=list, description="Words to filter by.")
    folder_id: Name | None = Field(
        None, description="The id or key of one of your folders to put it in."
    )
    folder: FolderName | None = Field(
        None, description="The name of your folder to put it in; it is made if there is none."
    )

    @model_validator(mode="after")
    def _is_in_one_folder(self) -> Self:
        if self.folder_id is not None and self.folder is not None:
            raise ValueError("give folder_id or folder, not both")
        return self

    def place(self) -> Place:
        """Where it goes."""
        return Place(self.folder_id, self.folder)


def none_if_empty(value: str) -> str | None:
    """None for an empty text, which is how a caller takes one away."""
    return value or None


def given_fields(
    given: BaseModel, made: dict[str, Callable[[Any], Any]], plain: tuple[str, ...]
) -> dict[str, Any]:
    """The fields that were given, for a draft.

    Args:
        given: what a tool took; null stands for "as it is".
        made: how a value becomes the draft's, for fields where it is another one.
        plain: the fields whose values are the draft's already.
    """
    found = {name: getattr(given, name) for name in (*plain, *made)}
    return {
        name: made[name](value) if name in made else value
        for name, value in found.items()
        if value is not None
    }
