"""Each workflow as a resource: a Markdown page that a person can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gateway.contract import Caller, ListedResource, ResourceTemplate, Tier
from gateway.toolkit.counts import counted
from plugins.workflows.model import TargetType, Visibility, Workflow
from plugins.workflows.plans.plan import Plan, PlanItem, visible_to
from plugins.workflows.plans.plans import Plans
from plugins.workflows.playbook import Playbook

URI_PREFIX = "playbook://workflows/"
MARKDOWN = "text/markdown"


def templates(playbook: Playbook, plans: Plans) -> list[ResourceTemplate]:
    """The resource template of workflows, which lists those that the caller sees."""

    async def read(variables: Mapping[str, str], caller: Caller) -> str:
        known = await plans.of_workflow(variables["id"], caller.person)
        return page(known.workflow, visible_to(known.plan, caller.person))

    async def listed(caller: Caller, after: str | None, limit: int) -> Sequence[ListedResource]:
        last = None if after is None else after.removeprefix(URI_PREFIX)
        found = await playbook.page(TargetType.WORKFLOW, caller.person, last, limit)
        return [
            ListedResource(
                uri=uri_of(each.id),
                name=each.key,
                summary=each.description or f"The workflow {each.name}.",
                title=each.name,
                mime_type=MARKDOWN,
            )
            for each in found
        ]

    return [
        ResourceTemplate(
            f"{URI_PREFIX}{{id}}",
            "workflows",
            "A workflow of the playbook as a page: its stages, and every step's text.",
            read,
            MARKDOWN,
            tier=Tier.OPEN,
            title="Workflows",
            listed=listed,
        )
    ]


def uri_of(workflow: str) -> str:
    """The resource of a workflow's id."""
    return f"{URI_PREFIX}{workflow}"


def page(workflow: Workflow, plan: Plan) -> str:
    """A workflow as a page of Markdown.

    Args:
        workflow: what it is, and its stages.
        plan: the steps that the reader may see.
    """
    parts = [f"# {workflow.name}", workflow.description or "", _facts(workflow, plan)]
    told: dict[str, int] = {}
    for number, stage in enumerate(workflow.stages):
        parts += [f"## {stage.name}", stage.description or ""]
        for item in plan.items:
            if item.stage_index == number:
                parts += _step(item, told)
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(workflow: Workflow, plan: Plan) -> str:
    is_public = workflow.visibility is Visibility.PUBLIC
    facts = [
        f"by {workflow.author}" if is_public and workflow.author else "",
        f"complexity {workflow.complexity}" if workflow.complexity else "",
        f"tags: {', '.join(workflow.tags)}" if workflow.tags else "",
        counted(len(plan.items), "step"),
        f"version {workflow.version}",
    ]
    return "*" + " · ".join(fact for fact in facts if fact) + "*"


def _step(item: PlanItem, told: dict[str, int]) -> Iterator[str]:
    yield f"### Step {item.index}: {item.name}"
    yield item.description or ""
    if item.auto_prompt is not None and item.id in told:
        yield f"As in step {told[item.id]}."
        return
    told[item.id] = item.index
    yield item.content
    if item.attachments:
        yield "Files: " + ", ".join(each.name for each in item.attachments)
