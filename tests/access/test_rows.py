"""One line of tiers.yaml about a row counts at every door of every plugin, and at none halfway."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auth import Tier
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.testing import TestPortal, open_test_portal
from tests.access import rows
from tests.access.rows import ABOUT, FLOWERS, KINDS, NEVER, word
from tests.examples import examples

OPEN = tuple(
    Rule(plugin, Tier.OPEN) for plugin in ("knowledge", "codegraph", "skills_repo", "workflows")
)


@pytest.fixture(scope="module")
async def portal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TestPortal]:
    config = rows.write(tmp_path_factory.mktemp("rows"))
    async with open_test_portal(config=config, tiers={"items": {}}) as opened:
        await rows.seed(opened)
        yield opened


@dataclass(frozen=True, slots=True)
class Said:
    """A line of tiers.yaml about one row."""

    kind: str
    name: str
    rule: Rule


@st.composite
def lines(draw: st.DrawFn) -> Said:
    """A line about one row, by its own key or by that of one of its doors."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    name = word(kind, draw(st.sampled_from(FLOWERS)))
    key = draw(st.sampled_from((KINDS[kind].key, *KINDS[kind].doors)))
    tier = draw(st.sampled_from([Tier.PUBLIC, Tier.MEMBERS]))
    return Said(kind, name, Rule(key.format(name), tier, draw(st.booleans())))


@given(said=st.lists(lines(), max_size=6), tier=st.sampled_from(list(Tier)))
@settings(max_examples=examples(12), suppress_health_check=list(HealthCheck))
async def test_a_row_is_shown_at_every_door_or_at_none(
    portal: TestPortal, said: list[Said], tier: Tier
) -> None:
    portal.running.catalog.apply(TierRules((*OPEN, *(each.rule for each in said)), Tier.OPEN))
    denied = {(each.kind, each.name) for each in said if not tier.allows(each.rule.tier)}
    everywhere = [told async for told in rows.lists(portal, str(tier))]
    assert not [asked for asked, text in everywhere if "no such path" in text]
    for kind in KINDS:
        for name in (word(kind, flower) for flower in FLOWERS):
            showing = [asked for asked, text in everywhere if name in text]
            read = [told async for told in rows.reads(portal, str(tier), KINDS[kind], name)]
            told = [asked for asked, text in read if ABOUT.format(name) in text]
            if (kind, name) in denied:
                assert (showing, told) == ([], [])
            else:
                assert showing, name
                assert told, read


async def test_what_is_hidden_is_answered_like_what_never_was(portal: TestPortal) -> None:
    names = {kind: word(kind, FLOWERS[0]) for kind in KINDS}
    hidden = (Rule(KINDS[k].key.format(name), Tier.MEMBERS, True) for k, name in names.items())
    portal.running.catalog.apply(TierRules((*OPEN, *hidden), Tier.OPEN))
    for kind, name in names.items():
        never = word(kind, NEVER)
        there = [text async for _, text in rows.reads(portal, "open", KINDS[kind], name)]
        gone = [text async for _, text in rows.reads(portal, "open", KINDS[kind], never)]
        assert [_said(text, name) for text in there] == [_said(text, never) for text in gone]


_VARIES = re.compile(
    r"Did you mean .*?\?|Is .*? meant\?|\\*[\"']near\\*[\"']: ?\[.*?\]"
    r"|\\*[\"'](?:request_id|timestamp)\\*[\"']:\\*[\"'][^\"']*"
)
"""What comes near a name, and a request's id and time."""


def _said(answer: str, name: str) -> str:
    return _VARIES.sub("", answer).replace(name, "NAME").replace(",}", "}")
