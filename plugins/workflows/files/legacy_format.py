"""The older form of playbooks: workflows of phases, whose steps name mini-prompts by their paths.

What has no field of its own here is kept: a workflow's, phase's or step's other keys become the
``extra`` of the workflow, stage or item, so that nothing is lost.
"""

from __future__ import annotations

from gateway.toolkit.yaml_lines import Mapping, Node, Scalar, plain
from plugins.workflows import limits
from plugins.workflows.files.current_format import body, check_count, title
from plugins.workflows.files.fields import Fields
from plugins.workflows.files.markdown import Markdown
from plugins.workflows.files.nodes import Problem, describe
from plugins.workflows.files.parsed import (
    AUTOMATIC_FOLDER,
    ParsedPrompt,
    ParsedStage,
    ParsedStep,
    ParsedWorkflow,
    key_of,
)
from plugins.workflows.inputs import PromptDraft, StageDraft, WorkflowDraft
from plugins.workflows.model import AutoPrompt, TargetType, Visibility

PROMPTS_FOLDER = "mini-prompts"
"""The folder of the mini-prompts, beside the one of the workflows."""


def is_legacy(node: Mapping) -> bool:
    """Whether a workflow is written in the older form."""
    return "phases" in node.items


def workflow(path: str, key: str, node: Mapping, problems: list[Problem]) -> ParsedWorkflow:
    """Read a workflow; where problems were added, what is returned is not to be used."""
    fields = Fields(node, path, problems)
    name = fields.needed("name", limits.MAX_NAME_CHARS)
    description = fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None
    tags = fields.tags()
    stages = tuple(
        _stage(path, each, number, problems)
        for number, each in enumerate(fields.listed("phases"), start=1)
    )
    check_count(fields, "phases", len(stages), limits.MAX_STAGES)
    extra = fields.kept({key: _value(key, each) for key, each in fields.others().items()}, 1)
    draft = WorkflowDraft(
        key=key,
        name=name,
        description=description,
        visibility=Visibility.PUBLIC,
        tags=tags,
        extra=extra,
    )
    return ParsedWorkflow(path, None, draft, stages)


def _value(key: str, node: Node) -> object:
    """A version is a text: ``1.0`` is not the number 1."""
    is_version = key == "version" and isinstance(node, Scalar) and node.value is not None
    return node.text if is_version and isinstance(node, Scalar) else plain(node)


def _stage(path: str, node: Node, number: int, problems: list[Problem]) -> ParsedStage:
    if not isinstance(node, Mapping):
        reason = f"phase {number} must be made of `key: value` lines; it is {describe(node)}"
        problems.append(Problem(path, node.line, reason))
        return ParsedStage(StageDraft(name=""))
    fields = Fields(node, path, problems)
    name = fields.text("phase", limits.MAX_NAME_CHARS)
    description = fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None
    steps = [_step(fields, each, number) for each in fields.listed("steps")]
    check_count(fields, "steps", len(steps), limits.MAX_STAGE_ITEMS)
    others = {key: plain(each) for key, each in fields.others().items()}
    draft = StageDraft(
        name=name or f"Phase {number}",
        description=description,
        extra=fields.kept(others, node.line),
    )
    return ParsedStage(draft, tuple(each for each in steps if each))


def _step(stage: Fields, node: Node, number: int) -> ParsedStep | None:
    """A step; its whole text is kept, its id and the path of its prompt among it."""
    if not isinstance(node, Mapping):
        stage.complain(
            node.line, f"a step must be made of `key: value` lines, not {describe(node)}"
        )
        return None
    named = node.items.get("miniPrompt") or node.items.get("id")
    name = named.text if isinstance(named, Scalar) and named.value else f"step {number}"
    line = named.line if named else node.line
    prompt_of = "miniPrompt" in node.items
    key = key_of(name) if prompt_of else None
    return ParsedStep(TargetType.MINI_PROMPT, name, key, line, stage.kept(plain(node), node.line))


def prompt(
    path: str, inside: str, markdown: Markdown, problems: list[Problem]
) -> ParsedPrompt | None:
    """Read a mini-prompt; where problems were added, what is returned is not to be used.

    Args:
        path: the file, for problems.
        inside: where it is below ``mini-prompts``, without its ending.
        markdown: the file, which has no frontmatter in this form.
        problems: where to add what is wrong.
    """
    key = key_of(inside)
    if key is None:
        hint = "it may hold letters, digits, hyphens and underscores"
        problems.append(Problem(path, 1, f"the name of this file cannot be a key; {hint}"))
        return None
    fields = Fields(markdown.front, path, problems)
    is_automatic = inside.startswith(f"{AUTOMATIC_FOLDER}/")
    draft = PromptDraft(
        key=key,
        name=fields.text("name", limits.MAX_NAME_CHARS)
        or title(markdown.body, inside.split("/")[-1]),
        description=fields.text("description", limits.MAX_DESCRIPTION_CHARS, lines=True) or None,
        content=body(fields, markdown),
        automatic=AutoPrompt(key) if is_automatic else None,
    )
    if not is_automatic and key in {each.value for each in AutoPrompt}:
        problems.append(Problem(path, 1, f"{key} is the name of an automatic prompt; rename it"))
    author = fields.text("author", limits.MAX_NAME_CHARS)
    fields.finish()
    return ParsedPrompt(path, author, draft)
