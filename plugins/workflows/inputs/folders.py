"""What the tools that write folders take."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from plugins.workflows import limits
from plugins.workflows.inputs.base import Input, IsActive, Version, changed, or_none
from plugins.workflows.inputs.fields import (
    ANY_CASE,
    AnyCaseVisibility,
    Description,
    FolderName,
    Name,
    plain_line,
)
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.store.folder_edits import Addition, FolderChanges, Removal
from plugins.workflows.store.folders import FolderDraft

AT_ONCE = 200
"""Items that one edit puts in, or takes out."""
TO_SHOW = (
    "PRIVATE: only you see the folder. PUBLIC: everyone does, and in it what everyone may see; "
    "needs the tier of the tool publish."
)
Position = Annotated[
    int | None,
    Field(
        ge=0,
        le=limits.POSITION,
        description="Its place, from 0; several may have the same, and come by name then. null: "
        "where it is, or last.",
    ),
]
_NameOrNone = Annotated[str, Field(max_length=limits.NAME), AfterValidator(plain_line)]
AnyCaseType = Annotated[TargetType, ANY_CASE]
Type = Annotated[
    AnyCaseType | None,
    Field(description="What it is, where a key could mean several things."),
]


class CreateFolder(Input):
    """A new folder."""

    name: FolderName = Field(description="What the folder is called.")
    description: Description | None = Field(None, description="What belongs into it.")
    visibility: AnyCaseVisibility = Field(Visibility.PRIVATE, description=TO_SHOW)
    key: Name | None = Field(
        None,
        max_length=limits.KEY,
        description="A short name such as code-review, which no other folder of yours has; made "
        "of the name, if not given.",
    )
    parent: Name | None = Field(
        None, description="The id or key of your folder around it; null: none."
    )
    position: Position = None

    def draft(self) -> FolderDraft:
        """What is to be written."""
        return FolderDraft(
            name=self.name,
            description=self.description or None,
            visibility=self.visibility,
            key=self.key,
            parent=self.parent,
            position=self.position,
        )


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
    visibility: AnyCaseVisibility | None = Field(None, description=TO_SHOW)
    parent: _NameOrNone | None = Field(
        None, description='The id or key of your folder to move it into; "" for none.'
    )
    position: Position = None
    is_active: IsActive = None
    add: list[AddedItem] | None = Field(None, max_length=AT_ONCE, description="Items to put in.")
    remove: list[RemovedItem] | None = Field(
        None, max_length=AT_ONCE, description="Items to take out, before any is put in."
    )

    def changes(self) -> FolderChanges:
        """What is to be done."""
        made: dict[str, Any] = {"description": or_none, "parent": or_none}
        return FolderChanges(
            fields=changed(self, made, ("name", "visibility", "position")),
            add=[
                Addition(
                    ref=each.id,
                    type=each.type,
                    position=each.position,
                    from_folder=each.from_folder,
                )
                for each in self.add or ()
            ],
            remove=[Removal(ref=each.id, type=each.type) for each in self.remove or ()],
        )
