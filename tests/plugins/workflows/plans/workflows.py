"""Workflows of every form, small enough that ids repeat, and those who look at them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from plugins.workflows.model import (
    PORTAL,
    Attachment,
    AutoPrompt,
    MiniPrompt,
    Skill,
    Stage,
    StageItem,
    Visibility,
    Workflow,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN, BOB = "github:1", "github:2"
VIEWERS = st.sampled_from([None, ANN, BOB, PORTAL])


def common(id: str, **more: Any) -> dict[str, Any]:
    """The fields that every item has."""
    return {
        "id": id,
        "key": f"key-of-{id}",
        "owner": ANN,
        "author": "Ann",
        "name": f"Name of {id}",
        "description": None,
        "visibility": Visibility.PUBLIC,
        "version": 1,
        "created": NOON,
        "updated": NOON,
    } | more


def prompt(id: str, **more: Any) -> MiniPrompt:
    return MiniPrompt(**common(id, content=f"Content of {id}", **more))


def skill(id: str, *files: str, **more: Any) -> Skill:
    attachments = tuple(Attachment(name, "text/markdown", 1, "0" * 64) for name in files)
    return Skill(**common(id, content=f"Content of {id}", attachments=attachments, **more))


def stage(*items: MiniPrompt | Skill, order: Sequence[str] | None = None, **more: Any) -> Stage:
    placed = tuple(StageItem(item) for item in items)
    arranged = None if order is None else tuple(order)
    return Stage(**{"id": "s", "name": "Stage", "items": placed, "item_order": arranged} | more)


def workflow(*stages: Stage, **more: Any) -> Workflow:
    return Workflow(**common("w", stages=stages, **more))


BOARD = prompt("board", owner=PORTAL, automatic=AutoPrompt.MEMORY_BOARD)
CHAT = prompt("chat", owner=PORTAL, automatic=AutoPrompt.MULTI_AGENT_CHAT)
AUTOMATIC = {AutoPrompt.MEMORY_BOARD: BOARD, AutoPrompt.MULTI_AGENT_CHAT: CHAT}

ITEMS: list[MiniPrompt | Skill] = [
    prompt("a"),
    prompt("b", owner=BOB, visibility=Visibility.PRIVATE),
    prompt("c", visibility=Visibility.PRIVATE, description="Third."),
    skill("d", "one.md", "two.md", owner=PORTAL),
    skill("e", owner=BOB),
    skill("f", owner=BOB, visibility=Visibility.PRIVATE),
]
AUTOMATIC_IDS = [
    "memory-board",
    "memory-board-s",
    "memory-board-stale",
    "multi-agent-chat",
    "multi-agent-chat-s",
    "multi-agent-chat-",
]
UNKNOWN_IDS = ["", "z", "A", "memory-boards", "multi-agent", "-memory-board"]

EXTRA = st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=3))
ORDERS = st.none() | st.lists(
    st.sampled_from([item.id for item in ITEMS] + AUTOMATIC_IDS + UNKNOWN_IDS), max_size=12
).map(tuple)


@st.composite
def stages(draw: st.DrawFn) -> Stage:
    items = draw(st.lists(st.sampled_from(ITEMS), max_size=7))
    return Stage(
        id=draw(st.sampled_from(["s", "t"])),
        name=draw(st.text(min_size=1, max_size=5)),
        with_review=draw(st.booleans()),
        include_multi_agent_chat=draw(st.sampled_from([None, True, False])),
        item_order=draw(ORDERS),
        items=tuple(StageItem(item, draw(EXTRA)) for item in items),
    )


WORKFLOWS = st.builds(
    workflow, stages(), stages(), stages(), include_multi_agent_chat=st.booleans()
) | st.builds(workflow, stages(), include_multi_agent_chat=st.booleans())
