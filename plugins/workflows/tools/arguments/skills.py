"""What the tools that write skill cards take."""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from plugins.workflows import limits
from plugins.workflows.inputs import AttachmentDraft, SkillDraft
from plugins.workflows.media_types import media_type
from plugins.workflows.tools.arguments.base import (
    VISIBILITY_DESCRIPTION,
    Input,
    IsActive,
    NewItem,
    Version,
    given_fields,
    none_if_empty,
)
from plugins.workflows.tools.arguments.fields import (
    AnyCaseVisibility,
    Content,
    Description,
    Name,
    Tags,
)

MAX_BASE64_CHARS = (limits.MAX_ATTACHMENT_BYTES + 2) // 3 * 4 * 66 // 64
"""Characters of a file in Base64, with line breaks as they are common."""

_MIME_TYPE = r"^[A-Za-z0-9!#$&^_.+-]{1,63}/[A-Za-z0-9!#$&^_.+-]{1,63}$"
_FileText = Annotated[str, StringConstraints(max_length=limits.MAX_ATTACHMENT_BYTES)]


class AttachmentInput(Input):
    """A file of a skill card: its text, or its bytes in Base64."""

    name: Name = Field(pattern=r"^[^/\\]+$", description="The file's name, such as checklist.md.")
    text: _FileText | None = Field(None, description="What a text file holds.")
    base64: Annotated[str, StringConstraints(max_length=MAX_BASE64_CHARS)] | None = Field(
        None, description="What any other file holds, in Base64."
    )
    mime_type: str | None = Field(
        None, pattern=_MIME_TYPE, description="Its media type; by its name, if not given."
    )

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if self.text is not None and self.base64 is not None:
            raise ValueError("give text or base64, not both")
        self.data()
        return self

    def data(self) -> bytes | None:
        """The bytes, or None where only the name is given.

        Raises:
            ValueError: it is no Base64.
        """
        if self.text is not None:
            return self.text.encode()
        return None if self.base64 is None else _decoded(self.base64)

    def draft(self, data: bytes) -> AttachmentDraft:
        """What is to be written."""
        return AttachmentDraft(self.name, self.mime_type or media_type(self.name), data)


def _decoded(encoded: str) -> bytes:
    try:
        return b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"these bytes are no Base64: {error}") from None


Attachments = Annotated[list[AttachmentInput], Field(max_length=limits.MAX_ATTACHMENTS)]


def _require_content(attachments: list[AttachmentInput]) -> list[AttachmentInput]:
    for each in attachments:
        if each.text is None and each.base64 is None:
            raise ValueError(f"{each.name}: give its text, or its bytes as base64")
    return attachments


class AddSkill(NewItem):
    """A new skill card."""

    content: Content = Field(description="What an agent should know and do, in Markdown.")
    attachments: Annotated[Attachments, AfterValidator(_require_content)] = Field(
        default_factory=list, description="Files that belong to it, up to 1 MiB each."
    )

    def draft(self) -> SkillDraft:
        """What is to be written."""
        return SkillDraft(
            name=self.name,
            content=self.content,
            description=self.description or None,
            visibility=self.visibility,
            tags=tuple(self.tags),
            attachments=tuple(each.draft(each.data() or b"") for each in self.attachments),
        )


class EditSkill(Input):
    """What to change in a skill card; null leaves a field as it is."""

    skill_id: Name = Field(description="The id or key of your skill card.")
    version: Version
    name: Name | None = Field(None, description="Its new name.")
    content: Content | None = Field(None, description="Its new text, in Markdown.")
    description: Description | None = Field(None, description='Its new description; "" for none.')
    visibility: AnyCaseVisibility | None = Field(None, description=VISIBILITY_DESCRIPTION)
    tags: Tags | None = Field(None, description="All its tags from now on; [] for none.")
    attachments: Attachments | None = Field(
        None,
        description="All its files from now on; [] for none. One with a name alone stays as it is.",
    )
    is_active: IsActive = None

    def changes(self) -> dict[str, Any]:
        """The fields of ``SkillDraft`` that were given, except files, and their values."""
        return given_fields(
            self, {"description": none_if_empty, "tags": tuple}, ("name", "content", "visibility")
        )
