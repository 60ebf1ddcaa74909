"""What the tools answer with: the requirements' fields, and where each comes from beside them."""

from __future__ import annotations

import base64
from typing import Any, Literal

from pydantic import Field

from gateway.contract import BriefResult, ToolResult
from plugins.skills_repo.uses import Uses

_STALE = "(GitHub does not answer now: this is a copy that was kept.)"


class SkillInfo(ToolResult):
    """A skill in a list (REQ-SKILL-001)."""

    name: str
    description: str | None
    argument_hint: str | None = Field(description="What to write after the skill's name.")
    user_invocable: bool = Field(description="Whether people start it by its name.")
    files: list[str] = Field(description="Its files besides SKILL.md, for get_skill_file.")
    source: str
    directory: str = Field(description="Its folder in the source; a name for get_skill too.")


class SkillLine(ToolResult):
    """A skill in a list, in brief."""

    name: str
    description: str | None = Field(description="The beginning of it, in one line.")
    source: str
    directory: str


class AgentInfo(ToolResult):
    """An agent profile in a list (REQ-AGENT-001)."""

    name: str
    description: str | None
    model: str | None
    allowed_tools: list[str] | None = Field(description="null where the profile names none.")
    source: str
    file: str = Field(description="Its file in the source, without .md; a name for get_agent too.")


class AgentLine(ToolResult):
    """An agent profile in a list, in brief."""

    name: str
    description: str | None = Field(description="The beginning of it, in one line.")
    source: str
    file: str


class DocSection(ToolResult):
    """A section that is not shown."""

    path: list[str] = Field(description="For `section`.")
    pages: int = Field(description="How many pages are in it.")


class DocList(ToolResult):
    """The pages that the caller may see (REQ-DOC-001), as far as there is room."""

    docs: dict[str, Any] = Field(
        description="Sections within sections; a leaf is a page's description, or null. The keys "
        "down to a leaf are the path for get_doc. With several docs sources the outermost keys "
        "are the sources' names."
    )
    pages: int = Field(description="How many pages there are in what was asked for.")
    folded: list[DocSection] = Field([], description="Sections whose pages are not in `docs`.")
    next_offset: int | None = Field(
        None, description="Give it as offset for the section's further entries."
    )


class Text(ToolResult, BriefResult):
    """What all texts that are read have in common."""

    content: str
    sha: str = Field(description="The id of the file's Git blob.")
    source: str
    stale: bool = Field(False, description="Whether GitHub did not answer and this is a kept copy.")

    def brief(self) -> str:
        """The text itself."""
        return _with_stale_note(self.content, self.stale)


class ListedFile(ToolResult):
    """A file of a skill."""

    path: str = Field(description="From the skill's folder; for get_skill_file.")
    size: int = Field(description="In bytes.")
    kind: str = Field(description="Its media type, by its name.")


class SkillText(Text):
    """A skill's SKILL.md (REQ-SKILL-002), its files, and how often it is read."""

    name: str
    path: str = Field(description="The file, from the repository's root.")
    files: list[ListedFile] | None = Field(
        None, description="All of its files, as they were indexed; null where they were not yet."
    )
    uses: Uses | None = Field(None, description="How often it is read.")


class AgentText(Text):
    """An agent profile (REQ-AGENT-002), and how often it is read."""

    name: str
    path: str = Field(description="The file, from the repository's root.")
    uses: Uses | None = Field(None, description="How often it is read.")


class DocText(Text):
    """A page (REQ-DOC-003)."""

    path: list[str] = Field(description="The path that was asked for.")
    file_path: str = Field(description="The file, from the repository's root.")


class SkillFileContent(ToolResult, BriefResult):
    """A companion file of a skill (REQ-SKILL-004)."""

    skill: str
    file: str
    content: str = Field(description="The file's bytes in Base64.")
    encoding: Literal["base64"] = "base64"
    text: str | None = Field(None, description="The same as text, where the file is UTF-8 text.")
    size: int = Field(description="The file's bytes, before they were encoded.")
    path: str = Field(description="The file, from the repository's root.")
    sha: str = Field(description="The id of the file's Git blob.")
    source: str
    stale: bool = Field(False, description="Whether GitHub did not answer and this is a kept copy.")

    def brief(self) -> str:
        """The text itself; of a file that is none, all fields as JSON."""
        if self.text is None:
            return self.model_dump_json(exclude_none=True)
        return _with_stale_note(self.text, self.stale)


class FoundSkill(ToolResult):
    """A skill that a search found."""

    name: str
    description: str | None
    source: str
    directory: str = Field(description="Its folder in the source; a name for get_skill too.")
    score: float = Field(description="0 to 1; 1 where the query is the skill's name.")


class SkillSearch(ToolResult):
    """The skills that a search found, best first."""

    results: list[FoundSkill]
    mode: Literal["hybrid", "keyword"] = Field(
        description="hybrid: by meaning and by words; keyword: by words alone, without a model."
    )
    note: str | None = Field(None, description="What to know about these results.")


def _with_stale_note(text: str, stale: bool) -> str:
    return f"{_STALE}\n\n{text}" if stale else text


def file_fields(content: bytes) -> dict[str, Any]:
    """What a :class:`SkillFileContent` says of a file's bytes."""
    encoded = base64.b64encode(content).decode("ascii")
    return {"content": encoded, "text": _text(content), "size": len(content)}


def _text(content: bytes) -> str | None:
    """A file's text, or None where it is none: not UTF-8, or with a zero byte."""
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None
