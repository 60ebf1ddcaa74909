"""The picture of a workflow's plan."""

from __future__ import annotations

from plugins.workflows.views.graph import plan


def test_stages_follow_each_other_and_each_leads_to_its_steps() -> None:
    steps = [{"name": "Read", "type": "MINI_PROMPT"}, {"name": "Check", "type": "SKILL"}]
    stages = [{"name": "First", "items": steps}, {"name": "Second", "items": []}]
    graph = plan({"stages": stages}, {})
    assert [(each.label, each.note) for each in graph.nodes] == [
        ("First", "stage 1"),
        ("Read", "1. mini-prompt"),
        ("Check", "2. skill"),
        ("Second", "stage 2"),
    ]
    labels = {each.id: each.label for each in graph.nodes}
    assert [(labels[each.source], labels[each.target]) for each in graph.edges] == [
        ("First", "Second"),
        ("First", "Read"),
        ("First", "Check"),
    ]


def test_a_plan_without_stages_is_a_picture_of_nothing() -> None:
    assert not plan({"stages": []}, {}).nodes
