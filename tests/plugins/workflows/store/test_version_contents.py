"""Whatever was written, every version says what it said, and can be had back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from gateway.contract import ToolFailed
from plugins.workflows.history import History
from plugins.workflows.inputs import StageDraft, Writer
from plugins.workflows.model import TargetType, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.tables import revisions
from plugins.workflows.store.version_contents import workflow_content
from tests.examples import examples
from tests.plugins.workflows.conftest import prompt, stage, workflow

WORKFLOW = TargetType.WORKFLOW


def history_of(playbook: Playbook) -> History:
    return History(playbook._database, playbook._objects, playbook)


def stages() -> st.SearchStrategy[tuple[StageDraft, ...]]:
    prompts = st.sampled_from(["Read", "Judge", "Tell"]).map(prompt)
    one = st.lists(prompts, max_size=3).map(lambda each: stage(*each))
    return st.lists(one, max_size=3).map(tuple)


@given(edits=st.lists(stages(), min_size=1, max_size=4), back=st.integers(1, 4))
@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
async def test_any_version_can_be_restored(
    playbook: Playbook, alice: Writer, edits: list[tuple[StageDraft, ...]], back: int
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    said = {made.version: workflow_content(made)}
    for each in edits:
        made = await playbook.edit_workflow(alice, made.id, made.version, {"stages": each})
        said[made.version] = workflow_content(made)
    kept = history_of(playbook)
    for version, content in said.items():
        assert await kept.content(WORKFLOW, made.id, version, alice.person) == content
    to = min(back, made.version)
    done = await kept.restore(WORKFLOW, made.id, made.version, to, alice)
    assert done.missing == ()
    assert isinstance(done.item, Workflow)
    assert _words(workflow_content(done.item)) == _words(said[to])
    await playbook.delete_workflow(alice, made.id, done.item.version)


def _words(content):
    """A content without the ids of stages and prompts that were written anew."""
    stages = [
        {**each, "id": "", "items": [{**item, "id": ""} for item in each["items"]]}
        for each in content["stages"]
    ]
    return {**content, "stages": stages}


async def test_a_version_from_before_contents_were_kept_says_so(
    playbook: Playbook, alice: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    async with playbook._database.begin() as connection:
        await connection.execute(update(revisions).values(content=None))
    with pytest.raises(ToolFailed) as failed:
        await history_of(playbook).content(WORKFLOW, made.id, 1, alice.person)
    assert failed.value.code == "not_kept"
