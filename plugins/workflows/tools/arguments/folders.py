"""What the tools that write folders take."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from plugins.workflows import limits
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.store.folder_edits import Addition, FolderChanges, Removal
from plugins.workflows.store.folders import FolderDraft
from plugins.workflows.tools.arguments.base import (
    Input,
    IsActive,
    Version,
    given_fields,
    none_if_empty,
)
from plugins.workflows.tools.arguments.fields import (
    ANY_CASE,
    AnyCaseVisibility,
    Description,
    FolderName,
    Name,
    plain_line,
)

MAX_ITEMS_PER_EDIT = 200
"""Items that one edit puts in, or takes out."""
FOLDER_VISIBILITY_DESCRIPTION = (
    "PRIVATE: only you see the folder. PUBLIC: everyone does, and in it what everyone may see; "
    "needs the tier of the tool publish."
)
Position = Annotated[
    int | None,
    Field(
        ge=0,
        le=limits.MAX_POSITION,
        description="Its place, from 0; several may have the same, and come by name then. null: "
        "where it is, or last.",
    ),
]
_NameOrNone = Annotated[str, Field(max_length=limits.MAX_NAME_CHARS), AfterValidator(plain_line)]
AnyCaseType = Annotated[TargetType, ANY_CASE]
Type = Annotated[
    AnyCaseType | None,
    Field(description="What it is, where a key could mean several things."),
]


class CreateFolder(Input):
    """A new folder."""

    name: FolderName = Field(description="What the folder is called.")
    description: Description | None = Field(None, description="What belongs into it.")
    visibility: AnyCaseVisibility = Field(
        Visibility.PRIVATE, description=FOLDER_VISIBILITY_DESCRIPTION
    )
    key: Name | None = Field(
        None,
        max_length=limits.MAX_KEY_CHARS,
        description="A short name such as code-review, which no other folder of yours has; made "
        "of the name, if not given.",
    )
    parent: Name | None = Field(
        None, description="The id or key of your folder around it; null: none."
    )
    position: Position = None

    def draft(self) -> FolderDraft:
        """What is to be written."""
        return FolderDraft(**dict(self) | {"description": self.description or None})


class AddedItem(Input):
    """An item to put into the folder, or to move within it or from another."""

    id: Name = Field(
        description="The id or key of a workflow, skill card or mini-prompt that you may see."
    )
    type: Type = None
    position: Position = None
    from_folder: Name | None = Field(
        None, description="The id or key of your folder that it leaves; null: none."
    )


class RemovedItem(Input):
    """An item to take out of the folder; it is not deleted."""

    id: Name = Field(description="The id or key of the item.")
    type: Type = None


class EditFolder(Input):
    """What to change in a folder; null leaves a field as it is."""

    folder_key: Name = Field(description="The id or key of your folder.")
    version: Version
    name: FolderName | None = Field(None, description="Its new name; its key stays.")
    description: Description | None = Field(None, description='Its new description; "" for none.')
    visibility: AnyCaseVisibility | None = Field(None, description=FOLDER_VISIBILITY_DESCRIPTION)
    parent: _NameOrNone | None = Field(
        None, description='The id or key of your folder to move it into; "" or "/" for none.'
    )
    position: Position = None
    is_active: IsActive = None
    add: list[AddedItem] | None = Field(
        None, max_length=MAX_ITEMS_PER_EDIT, description="Items to put in."
    )
    remove: list[RemovedItem] | None = Field(
        None, max_length=MAX_ITEMS_PER_EDIT, description="Items to take out, before any is put in."
    )

    def changes(self) -> FolderChanges:
        """What is to be done."""
        made: dict[str, Any] = {"description": none_if_empty, "parent": _none_at_the_top}
        return FolderChanges(
            fields=given_fields(self, made, ("name", "visibility", "position")),
            add=[
                Addition(ref=each.id, **each.model_dump(exclude={"id"})) for each in self.add or ()
            ],
            remove=[Removal(ref=each.id, type=each.type) for each in self.remove or ()],
        )


def _none_at_the_top(value: str) -> str | None:
    """None for the top: "/" is what a form says, which sends nothing that is empty."""
    return None if value in ("", "/") else value
