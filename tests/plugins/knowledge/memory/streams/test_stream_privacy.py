"""Whatever happens to whichever entries: nobody is told what is not theirs, and all that is."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Caller, StreamEvent, Tier
from plugins.knowledge.memory.model.entry import OWNER_ONLY_LAYERS, KnowledgeEntry, Layer
from plugins.knowledge.memory.model.policy import PRIVATE, AccessPolicy, AccessPolicyConfig, readers
from plugins.knowledge.memory.model.requests import DeleteRequest, UpdateRequest
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.streams.events import KnowledgeUpdateEvent
from tests.examples import examples
from tests.plugins.knowledge.memory.conftest import World
from tests.plugins.knowledge.memory.streams.conftest import heard, held, now, opened

pytestmark = pytest.mark.anyio
_number = count()
GROUPS = ["garden", "kitchen"]
people = st.builds(
    Caller,
    person=st.sampled_from(["person:0", "person:1", "person:2"]),
    tier=st.sampled_from([Tier.PUBLIC, Tier.MEMBERS]),
    groups=st.frozensets(st.sampled_from(GROUPS)),
)
policies = st.builds(
    AccessPolicyConfig,
    policy=st.sampled_from(AccessPolicy),
    approved_users=st.lists(st.sampled_from(["person:1", "person:2"]), max_size=1).map(tuple),
    allowed_teams=st.lists(st.sampled_from(GROUPS), max_size=1).map(tuple),
)
LAYERS = [each for each in Layer if each is not Layer.WORKING]
created = st.tuples(st.just("create"), st.integers(0, 2), st.sampled_from(LAYERS), policies)
changed = st.tuples(st.just("change"), st.integers(0, 5), st.none() | policies)
removed = st.tuples(st.just("remove"), st.integers(0, 5), st.booleans())


class Model:
    """What there is, by the rules alone.

    Attributes:
        may: the readers of each version of each entry that ever was.
        there: the entries that are there: whose, who reads them, and what they say.
        layers: where each of them is.
    """

    def __init__(self) -> None:
        self.layers: dict[str, Layer] = {}
        self.may: dict[tuple[str, int], frozenset[str]] = {}
        self.there: dict[str, tuple[Caller, AccessPolicyConfig, KnowledgeEntry]] = {}

    def note(self, who: Caller, access: AccessPolicyConfig, entry: KnowledgeEntry) -> None:
        own = self.layers[entry.id] in OWNER_ONLY_LAYERS
        self.may[entry.id, entry.version] = readers(who.person or "", PRIVATE if own else access)
        self.there[entry.id] = (who, access, entry)

    def readable(self, who: Caller) -> dict[str, str]:
        return {
            id: entry.content
            for id, (_, _, entry) in self.there.items()
            if caller_keys(who) & self.may[id, entry.version]
        }


async def done(world: World, model: Model, callers: list[Caller], step: Any) -> None:
    kind, which, *rest = step
    mark = f"quokka {next(_number)}"
    if kind == "create":
        layer, access = rest
        policy = access.model_dump(mode="json")
        entry = await world.remember(callers[which], mark, policy, layer)
        model.layers[entry.id] = layer
        model.note(callers[which], access, entry)
        return
    if not model.there:
        return
    id = sorted(model.there)[which % len(model.there)]
    who, access, _ = model.there[id]
    if kind == "remove":
        request = {"id": id, "options": {"hard_delete": rest[0]}}
        await world.memory.entries.delete(DeleteRequest.model_validate(request), who)
        del model.there[id]
        return
    access = rest[0] or access
    options = {"access_policy": access.model_dump(mode="json")}
    request = {"entry": {"content": mark}, "options": options}
    answer = await world.keep(id, UpdateRequest.model_validate(request), who)
    model.note(who, access, answer.entry)


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(people, min_size=3, max_size=3, unique_by=lambda one: one.person),
    st.lists(st.one_of(created, created, changed, removed), min_size=1, max_size=12),
)
async def test_who_does_as_a_stream_says_holds_just_what_they_may_read(
    begun: World, callers: list[Caller], steps: list[Any]
) -> None:
    start, model = await now(begun), Model()
    live = [await opened(begun, who) for who in callers]
    for each in live:
        await anext(each)
    for step in steps:
        await done(begun, model, callers, step)
    last = f"the end {next(_number)}"
    await begun.remember(callers[0], last, "public")
    for who, stream in zip(callers, live, strict=True):
        late = await heard(await opened(begun, who, start), last)
        then = await heard(stream, last)
        assert held(then) == held(late) == model.readable(who)
        for event in (*then, *late):
            assert _was_theirs(model, who, event)
        for event in late:
            assert _is_theirs(model, who, event)


def _shown(event: StreamEvent) -> tuple[str, KnowledgeEntry] | None:
    if not isinstance(event.data, KnowledgeUpdateEvent):
        return None
    entry = event.data.entry
    return (event.data.type, entry) if isinstance(entry, KnowledgeEntry) else None


def _was_theirs(model: Model, who: Caller, event: StreamEvent) -> bool:
    """Whether they could read what an event shows when that was written."""
    shown = _shown(event)
    return shown is None or bool(caller_keys(who) & model.may[shown[1].id, shown[1].version])


def _is_theirs(model: Model, who: Caller, event: StreamEvent) -> bool:
    """Whether what was told later is of entries that they may read by then, or that are gone."""
    shown = _shown(event)
    if shown is None or shown[0] == "deleted":
        return True
    return shown[1].id in model.readable(who)
