"""The older form of playbooks: workflows of phases, whose steps name mini-prompts by their paths.

What has no field of its own here is kept: a workflow's, phase's or step's other keys become the
``extra`` of the workflow, stage or item, so that nothing is lost.
"""

from __future__ import annotations

from plugins.workflows import limits
from plugins.workflows.drafts import PromptDraft, StageDraft, WorkflowDraft
from plugins.workflows.files.fields import Fields
from plugins.workflows.files.forms import body, title, too_many
from plugins.workflows.files.markdown import Markdown
from plugins.workflows.files.nodes import Mapping, Node, Problem, Scalar, plain, said
from plugins.workflows.files.written import (
    AUTOMATIC,
    Step,
    WrittenPrompt,
    WrittenStage,
    WrittenWorkflow,
    key_of,
)
from plugins.workflows.model import AutoPrompt, TargetType, Visibility

PROMPTS = "mini-prompts"
"""The folder of the mini-prompts, beside the one of the workflows."""


def is_older(node: Mapping) -> bool:
    """Whether a workflow is written in the older form."""
    return "phases" in node.items


def workflow(path: str, key: str, node: Mapping, problems: list[Problem]) -> WrittenWorkflow:
    """Read a workflow; where problems were added, what is returned is not to be used.

    Args:
        path: the file, for problems.
        key: the workflow's.
        node: what the file says.
        problems: where to add what is wrong.
    """
    fields = Fields(node, path, problems)
    name = fields.needed("name", limits.NAME)
    description = fields.text("description", limits.DESCRIPTION, lines=True) or None
    tags = fields.tags()
    stages = tuple(
        _stage(path, each, number, problems)
        for number, each in enumerate(fields.listed("phases"), start=1)
    )
    too_many(fields, "phases", len(stages), limits.STAGES)
    extra = fields.kept({key: _value(key, each) for key, each in fields.others().items()}, 1)
    draft = WorkflowDraft(
        key=key,
        name=name,
        description=description,
        visibility=Visibility.PUBLIC,
        tags=tags,
        extra=extra,
    )
    return WrittenWorkflow(path, None, draft, stages)


def _value(key: str, node: Node) -> object:
    """A version is a text: ``1.0`` is not the number 1."""
    is_version = key == "version" and isinstance(node, Scalar) and node.value is not None
    return node.text if is_version and isinstance(node, Scalar) else plain(node)


def _stage(path: str, node: Node, number: int, problems: list[Problem]) -> WrittenStage:
    if not isinstance(node, Mapping):
        reason = f"phase {number} must be made of `key: value` lines; it is {said(node)}"
        problems.append(Problem(path, node.line, reason))
        return WrittenStage(StageDraft(name=""))
    fields = Fields(node, path, problems)
    name = fields.text("phase", limits.NAME)
    description = fields.text("description", limits.DESCRIPTION, lines=True) or None
    steps = [_step(fields, each, number) for each in fields.listed("steps")]
    too_many(fields, "steps", len(steps), limits.STAGE_ITEMS)
    others = {key: plain(each) for key, each in fields.others().items()}
    draft = StageDraft(
        name=name or f"Phase {number}",
        description=description,
        extra=fields.kept(others, node.line),
    )
    return WrittenStage(draft, tuple(each for each in steps if each))


def _step(stage: Fields, node: Node, number: int) -> Step | None:
    """A step; its whole text is kept, its id and the path of its prompt among it."""
    if not isinstance(node, Mapping):
        stage.complain(node.line, f"a step must be made of `key: value` lines, not {said(node)}")
        return None
    named = node.items.get("miniPrompt") or node.items.get("id")
    name = named.text if isinstance(named, Scalar) and named.value else f"step {number}"
    line = named.line if named else node.line
    prompt_of = "miniPrompt" in node.items
    key = key_of(name) if prompt_of else None
    return Step(TargetType.MINI_PROMPT, name, key, line, stage.kept(plain(node), node.line))


def prompt(
    path: str, inside: str, markdown: Markdown, problems: list[Problem]
) -> WrittenPrompt | None:
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
    is_automatic = inside.startswith(f"{AUTOMATIC}/")
    draft = PromptDraft(
        key=key,
        name=fields.text("name", limits.NAME) or title(markdown.body, inside.split("/")[-1]),
        description=fields.text("description", limits.DESCRIPTION, lines=True) or None,
        content=body(fields, markdown),
        automatic=AutoPrompt(key) if is_automatic else None,
    )
    if not is_automatic and key in {each.value for each in AutoPrompt}:
        problems.append(Problem(path, 1, f"{key} is the name of an automatic prompt; rename it"))
    author = fields.text("author", limits.NAME)
    fields.finish(("name", "description", "author"))
    return WrittenPrompt(path, author, draft)
