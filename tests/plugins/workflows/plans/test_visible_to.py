"""Nobody sees a step of another's private item, and the rest is as it was."""

from __future__ import annotations

from hypothesis import given

from plugins.workflows.model import Viewer, Visibility, Workflow
from plugins.workflows.plans.plan import build, visible_to
from tests.plugins.workflows.plans.workflows import ANN, AUTOMATIC, BOB, VIEWERS, WORKFLOWS


def hidden(whole: Workflow, viewer: Viewer) -> set[str]:
    """The ids that someone may not see."""
    return {
        placed.item.id
        for stage in whole.stages
        for placed in stage.items
        if placed.item.visibility == Visibility.PRIVATE and placed.item.owner != viewer
    }


@given(WORKFLOWS, VIEWERS)
def test_exactly_the_steps_of_others_private_items_are_missing(
    whole: Workflow, viewer: Viewer
) -> None:
    plan = build(whole, AUTOMATIC)
    secret = hidden(whole, viewer)
    seen = visible_to(plan, viewer)
    assert [item.id for item in seen.items] == [
        item.id for item in plan.items if item.id not in secret
    ]


@given(WORKFLOWS, VIEWERS)
def test_what_is_left_is_numbered_anew_and_knows_its_place(whole: Workflow, viewer: Viewer) -> None:
    plan = build(whole, AUTOMATIC)
    seen = visible_to(plan, viewer)
    assert [item.index for item in seen.items] == list(range(len(seen.items)))
    assert [plan.items[item.place].id for item in seen.items] == [item.id for item in seen.items]
    places = [item.place for item in seen.items]
    assert places == sorted(set(places))
    assert visible_to(seen, viewer) == seen


@given(WORKFLOWS)
def test_signing_in_shows_no_less(whole: Workflow) -> None:
    plan = build(whole, AUTOMATIC)
    public = {item.place for item in visible_to(plan, None).items}
    for viewer in (ANN, BOB):
        assert public <= {item.place for item in visible_to(plan, viewer).items}
