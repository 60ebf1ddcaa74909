"""The form that a person writes: one workflow, prompt or card a file (``README.md``)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.toolkit.yaml_lines import Mapping, Node, Scalar
from plugins.workflows import checks, limits
from plugins.workflows.files.fields import SLUG, Fields
from plugins.workflows.files.markdown import Markdown
from plugins.workflows.files.nodes import Problem, describe
from plugins.workflows.files.parsed import (
    ParsedPrompt,
    ParsedSkill,
    ParsedStage,
    ParsedStep,
    ParsedWorkflow,
    key_of,
)
from plugins.workflows.ids import slug
from plugins.workflows.inputs import (
    AttachmentDraft,
    PromptDraft,
    SkillDraft,
    StageDraft,
    WorkflowDraft,
)
from plugins.workflows.media_types import media_type
from plugins.workflows.model import AutoPrompt, Complexity, TargetType, Visibility


@dataclass(slots=True)
class _WorkflowReader:
    """One workflow while it is read: its problems, and the prompts found in it."""

    path: str
    key: str
    problems: list[Problem]
    author: str | None = None
    visibility: Visibility = Visibility.PUBLIC
    prompts: dict[str, ParsedPrompt] = field(default_factory=dict)

    def fields(self, node: Mapping) -> Fields:
        return Fields(node, self.path, self.problems)


def workflow(path: str, key: str, node: Mapping, problems: list[Problem]) -> ParsedWorkflow:
    """Read a workflow; where problems were added, what is returned is not to be used."""
    reading = _WorkflowReader(path, key, problems)
    fields = reading.fields(node)
    reading.author = fields.text("author", limits.MAX_NAME_CHARS)
    reading.visibility = fields.choice("visibility", Visibility) or Visibility.PUBLIC
    draft = WorkflowDraft(
        key=key,
        name=fields.needed("name", limits.MAX_NAME_CHARS),
        description=fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None,
        complexity=fields.choice("complexity", Complexity),
        include_multi_agent_chat=bool(fields.flag("multi_agent_chat")),
        visibility=reading.visibility,
        tags=fields.tags(),
        extra=fields.extra(),
    )
    nodes = fields.listed("stages")
    stages = tuple(_stage(reading, each, count) for count, each in enumerate(nodes, start=1))
    check_count(fields, "stages", len(stages), limits.MAX_STAGES)
    fields.finish()
    return ParsedWorkflow(path, reading.author, draft, stages, tuple(reading.prompts.values()))


def check_count(fields: Fields, what: str, count: int, most: int) -> None:
    """Complain of more than there may be."""
    if count > most:
        fields.complain(fields.line_of(what), f"{count:,} {what} are more than the most, {most:,}")


def _stage(reading: _WorkflowReader, node: Node, count: int) -> ParsedStage:
    if not isinstance(node, Mapping):
        reason = f"stage {count} must begin with `- name: ...`; it is {describe(node)}"
        reading.problems.append(Problem(reading.path, node.line, reason))
        return ParsedStage(StageDraft(name=""))
    fields = reading.fields(node)
    draft = StageDraft(
        name=fields.needed("name", limits.MAX_NAME_CHARS),
        description=fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None,
        color=_colour(fields),
        with_review=bool(fields.flag("review")),
        include_multi_agent_chat=fields.flag("multi_agent_chat"),
        extra=fields.extra(),
    )
    found = [_step(reading, each) for each in fields.listed("items")]
    check_count(fields, "items", len(found), limits.MAX_STAGE_ITEMS)
    stage = ParsedStage(draft, tuple(each for each in found if each), _order(fields))
    fields.finish()
    return stage


def _colour(fields: Fields) -> str | None:
    colour = fields.text("color", checks.MAX_COLOR_CHARS)
    if colour is None and fields.has("color") and fields.node("color") is None:
        hint = 'put quotes around it: color: "#3b82f6" (a bare # begins a comment)'
        fields.complain(fields.line_of("color"), f"color is empty; {hint}")
    return colour or None


def _order(fields: Fields) -> tuple[tuple[str, int], ...] | None:
    if fields.node("order") is None:
        return None
    nodes = fields.listed("order")
    check_count(fields, "order", len(nodes), checks.MAX_ORDER_ENTRIES)
    read = [
        (fields.checked(node, "an entry of order", limits.MAX_NAME_CHARS), node.line)
        for node in nodes
    ]
    return tuple((text, line) for text, line in read if text)


def _step(reading: _WorkflowReader, node: Node) -> ParsedStep | None:
    if not isinstance(node, Mapping):
        reason = f"an item must be `- prompt: KEY` or `- skill: KEY`, not {describe(node)}"
        reading.problems.append(Problem(reading.path, node.line, reason))
        return None
    fields = reading.fields(node)
    fields.finish(("prompt", "skill", "extra"))
    extra = fields.extra()
    kinds = [(word, fields.node(word)) for word in ("prompt", "skill") if fields.has(word)]
    if len(kinds) != 1 or kinds[0][1] is None:
        fields.complain(node.line, "an item must be one prompt or one skill: `- prompt: KEY`")
        return None
    word, what = kinds[0]
    type_ = TargetType.MINI_PROMPT if word == "prompt" else TargetType.SKILL
    if isinstance(what, Mapping):
        return _described(reading, type_, what, extra)
    name = fields.text(word, limits.MAX_NAME_CHARS)
    if not name:
        return None
    key = name if SLUG.fullmatch(name) else key_of(name)
    return ParsedStep(type_, name, key, node.line, extra)


def _described(
    reading: _WorkflowReader, type_: TargetType, node: Mapping, extra: dict[str, object]
) -> ParsedStep | None:
    """An item by its id, or a prompt with its words."""
    fields = reading.fields(node)
    id_ = fields.text("id", limits.MAX_NAME_CHARS)
    if id_:
        fields.finish()
        return ParsedStep(type_, id_, None, node.line, extra, by_id=True)
    if type_ is TargetType.SKILL:
        fields.complain(node.line, "a skill card has a file of its own: write `skill: KEY`")
        return None
    draft = _inline(reading, fields)
    fields.finish()
    key = draft.key or ""
    there = reading.prompts.get(key)
    if there is not None and there.draft != draft:
        fields.complain(node.line, f"another prompt here is called {key!r} too; give one a `key`")
    reading.prompts[key] = ParsedPrompt(reading.path, reading.author, draft, reading.visibility)
    return ParsedStep(type_, key, key, node.line, extra)


def _inline(reading: _WorkflowReader, fields: Fields) -> PromptDraft:
    name = fields.needed("name", limits.MAX_NAME_CHARS)
    key = fields.text("key", limits.MAX_KEY_CHARS) or nested_key(reading.key, slug(name))
    if not SLUG.fullmatch(key) or key in {each.value for each in AutoPrompt}:
        hint = "use a-z, 0-9 and hyphens, and no name of an automatic prompt"
        fields.complain(fields.line_of("key"), f"{key!r} cannot be its key; {hint}")
    return PromptDraft(
        key=key,
        name=name,
        description=fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None,
        content=fields.needed("content", limits.MAX_CONTENT_CHARS, lines=True),
    )


def nested_key(outer: str, inner: str) -> str:
    """The key of something inside something else; shortened where it would be too long."""
    key = f"{outer}-{inner}"
    if len(key) <= limits.MAX_KEY_CHARS:
        return key
    return f"{key[: limits.MAX_KEY_CHARS - 13]}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def prompt(path: str, key: str, markdown: Markdown, problems: list[Problem]) -> ParsedPrompt:
    """Read a mini-prompt; where problems were added, what is returned is not to be used."""
    fields = Fields(markdown.front, path, problems)
    automatic = fields.choice("automatic", AutoPrompt)
    draft = PromptDraft(
        key=key,
        name=fields.text("name", limits.MAX_NAME_CHARS) or title(markdown.body, key),
        description=fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None,
        content=body(fields, markdown),
        automatic=automatic,
    )
    named = next((each for each in AutoPrompt if each.value == key), None)
    if named is not automatic:
        hint = f"`automatic: {key}` belongs into {key}.md" if named else "call the file like it"
        fields.complain(fields.line_of("automatic"), f"an automatic prompt has its name; {hint}")
    author = fields.text("author", limits.MAX_NAME_CHARS)
    visibility = fields.choice("visibility", Visibility) or Visibility.PUBLIC
    fields.finish()
    return ParsedPrompt(path, author, draft, visibility)


def body(fields: Fields, markdown: Markdown) -> str:
    """The text of a markdown file, which must say something."""
    text = Scalar(markdown.line, markdown.body, markdown.body)
    if not markdown.body:
        fields.complain(markdown.line, "there is no text below the frontmatter")
    return fields.checked(text, "the text", limits.MAX_CONTENT_CHARS, lines=True) or ""


def title(text: str, key: str) -> str:
    """The first heading of a text, or the words of a key."""
    first = text.lstrip("\n").split("\n", 1)[0]
    heading = first.removeprefix("# ").strip() if first.startswith("# ") else ""
    return heading[: limits.MAX_NAME_CHARS] or key.replace("-", " ").strip().capitalize() or key


def skill(
    path: str,
    key: str,
    markdown: Markdown,
    beside: Sequence[tuple[str, bytes]],
    problems: list[Problem],
) -> ParsedSkill:
    """Read a skill card; where problems were added, what is returned is not to be used.

    Args:
        path: the file, for problems.
        key: the card's.
        markdown: the file.
        beside: names and bytes of the files in its folder, by their names.
        problems: where to add what is wrong.
    """
    fields = Fields(markdown.front, path, problems)
    draft = SkillDraft(
        key=key,
        name=fields.text("name", limits.MAX_NAME_CHARS) or title(markdown.body, key),
        description=fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None,
        visibility=fields.choice("visibility", Visibility) or Visibility.PUBLIC,
        tags=fields.tags(),
        content=body(fields, markdown),
        attachments=_attachments(fields, path, beside, problems),
    )
    author = fields.text("author", limits.MAX_NAME_CHARS)
    fields.finish()
    return ParsedSkill(path, author, draft)


def _attachments(
    fields: Fields, path: str, beside: Sequence[tuple[str, bytes]], problems: list[Problem]
) -> tuple[AttachmentDraft, ...]:
    """Those that the card lists, in its order, and then the others of its folder."""
    left = dict(beside)
    found = []
    for node in fields.listed("files"):
        named = Mapping(node.line, {"name": node}, {"name": node.line})
        inner = Fields(node if isinstance(node, Mapping) else named, path, problems)
        name = inner.needed("name", limits.MAX_NAME_CHARS)
        type_ = inner.text("type", limits.MAX_NAME_CHARS) or media_type(name)
        inner.finish()
        data = left.pop(name, None)
        if data is None and name:
            inner.complain(node.line, f"the file {name!r} is not in the card's folder")
        found.append(AttachmentDraft(name, type_, data or b""))
    found += [AttachmentDraft(name, media_type(name), data) for name, data in _shown(left)]
    check_count(fields, "files", len(found), limits.MAX_ATTACHMENTS)
    for each in found:
        if len(each.data) > limits.MAX_ATTACHMENT_BYTES:
            reason = f"the file {each.name!r} has {len(each.data):,} bytes; at most "
            fields.complain(
                fields.line_of("files"), f"{reason}{limits.MAX_ATTACHMENT_BYTES:,} are kept"
            )
    return tuple(found)


def _shown(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Without those that only their card can mean, and a system may have left there."""
    return [(name, data) for name, data in files.items() if not name.startswith(".")]
