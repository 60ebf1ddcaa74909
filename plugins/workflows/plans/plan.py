"""A workflow as a sequence of steps (seed 004, "Execution Plan Builder").

Each stage gives its items by their positions, the Internal Agents Chat after each of them where
the stage wants it, and the Memory Board at the end of a stage with review. Where a stage has an
``item_order``, that counts instead:

- an id in it stands for the item of that id; one listed twice counts once, unless the stage holds
  the item twice;
- ``memory-board`` and ``multi-agent-chat``, also with ``-ANYTHING`` behind them, stand for that
  automatic prompt of this stage, whatever its flag says, and count once;
- other ids are passed over;
- items that it does not list follow by their positions, and then the automatic prompts whose flag
  is on and that it does not list.

An empty order is none. An automatic prompt that the portal does not have is left out.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

from plugins.workflows.model import (
    Attachment,
    AutoPrompt,
    Item,
    MiniPrompt,
    Skill,
    Stage,
    StageItem,
    Viewer,
    Visibility,
    Workflow,
)

StepType: TypeAlias = Literal["mini-prompt", "auto-prompt", "skill"]
Automatic: TypeAlias = Mapping[AutoPrompt, MiniPrompt]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """One step (seed 004, ``ExecutionPlanItem``).

    Attributes:
        index: its number in this plan, from 0.
        place: its number in the whole plan, which is the same for everyone.
        id: of the mini-prompt or skill card.
        owner, visibility: of the mini-prompt or skill card.
        auto_prompt: which automatic prompt it is, or None.
        attachments: of the skill card.
        extra: what else the stage says of this step.
    """

    index: int
    place: int
    type: StepType
    stage_index: int
    stage_name: str
    id: str
    owner: str
    visibility: Visibility
    name: str
    description: str | None
    content: str
    auto_prompt: AutoPrompt | None = None
    attachments: tuple[Attachment, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps of one version of a workflow (seed 004, ``ExecutionPlan``).

    Attributes:
        include_multi_agent_chat: whether the workflow, or any stage of it, wants the chat.
    """

    workflow_id: str
    workflow_name: str
    version: int
    include_multi_agent_chat: bool
    items: tuple[PlanItem, ...]

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values, for :meth:`from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Plan:
        """A plan that :meth:`to_json` gave."""
        return cls(**{**value, "items": tuple(_item(each) for each in value["items"])})


def build(workflow: Workflow, automatic: Automatic) -> Plan:
    """Lay out all steps of a workflow, whoever may see them.

    Args:
        workflow: with everything in it, whoever may see it.
        automatic: the portal's automatic prompts; those that it has.
    """
    steps = (
        _step(number, stage, each, automatic)
        for number, stage in enumerate(workflow.stages)
        for each in _ordered(stage, _wants_chat(workflow, stage))
        if isinstance(each, StageItem) or each in automatic
    )
    return Plan(
        workflow_id=workflow.id,
        workflow_name=workflow.name,
        version=workflow.version,
        include_multi_agent_chat=workflow.include_multi_agent_chat
        or any(stage.include_multi_agent_chat for stage in workflow.stages),
        items=tuple(replace(step, index=at, place=at) for at, step in enumerate(steps)),
    )


def visible_to(plan: Plan, viewer: Viewer) -> Plan:
    """The steps of a plan that someone may see, numbered anew from 0.

    It goes by what the items were when the plan was built; ``Plans.of_run`` asks anew for older
    plans.
    """
    return filter_steps(plan, lambda item: can_see(viewer, item))


def can_see(viewer: Viewer, item: Item | PlanItem) -> bool:
    """Whether someone may see what is in a workflow that they see."""
    return item.visibility is Visibility.PUBLIC or item.owner == viewer


def filter_steps(plan: Plan, wanted: Callable[[PlanItem], bool]) -> Plan:
    """A plan with some of its steps, numbered anew from 0."""
    kept = [item for item in plan.items if wanted(item)]
    if len(kept) == len(plan.items):
        return plan
    return replace(plan, items=tuple(replace(item, index=index) for index, item in enumerate(kept)))


def _wants_chat(workflow: Workflow, stage: Stage) -> bool:
    if stage.include_multi_agent_chat is None:
        return workflow.include_multi_agent_chat
    return stage.include_multi_agent_chat


def _ordered(stage: Stage, chat: bool) -> Iterator[StageItem | AutoPrompt]:
    return _custom_order(stage, chat) if stage.item_order else _default_order(stage, chat)


def _default_order(stage: Stage, chat: bool) -> Iterator[StageItem | AutoPrompt]:
    for item in stage.items:
        yield item
        if chat:
            yield AutoPrompt.MULTI_AGENT_CHAT
    if stage.with_review:
        yield AutoPrompt.MEMORY_BOARD


def _custom_order(stage: Stage, chat: bool) -> Iterator[StageItem | AutoPrompt]:
    held: defaultdict[str, deque[int]] = defaultdict(deque)
    for position, item in enumerate(stage.items):
        held[item.item.id].append(position)
    left = dict(enumerate(stage.items))
    due = {AutoPrompt.MULTI_AGENT_CHAT: chat, AutoPrompt.MEMORY_BOARD: stage.with_review}
    for name in stage.item_order or ():
        prompt = AutoPrompt.named(name)
        if held.get(name):
            yield left.pop(held[name].popleft())
        elif prompt is not None and prompt in due:
            del due[prompt]
            yield prompt
    yield from left.values()
    yield from (prompt for prompt, wanted in due.items() if wanted)


def _step(
    number: int, stage: Stage, what: StageItem | AutoPrompt, automatic: Automatic
) -> PlanItem:
    """A step that has no number yet."""
    is_automatic = isinstance(what, AutoPrompt)
    item = automatic[what] if isinstance(what, AutoPrompt) else what.item
    kind: StepType = "skill" if isinstance(item, Skill) else "mini-prompt"
    return PlanItem(
        index=-1,
        place=-1,
        type="auto-prompt" if is_automatic else kind,
        stage_index=number,
        stage_name=stage.name,
        id=item.id,
        owner=item.owner,
        visibility=item.visibility,
        name=item.name,
        description=item.description,
        content=item.content,
        auto_prompt=what if isinstance(what, AutoPrompt) else None,
        attachments=item.attachments if isinstance(item, Skill) else (),
        extra=what.extra if isinstance(what, StageItem) else {},
    )


def _item(value: Mapping[str, Any]) -> PlanItem:
    prompt = value["auto_prompt"]
    read = {
        "visibility": Visibility(value["visibility"]),
        "auto_prompt": None if prompt is None else AutoPrompt(prompt),
        "attachments": tuple(Attachment(**each) for each in value["attachments"]),
    }
    return PlanItem(**{**value, **read})
