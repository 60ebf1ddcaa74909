from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.duplicates import Duplicate, resolve

START = datetime(2026, 1, 1, tzinfo=UTC)
duplicates = st.lists(
    st.builds(
        Duplicate,
        id=st.sampled_from("abcdef"),
        origin=st.sampled_from("xyz"),
        confidence=st.none() | st.sampled_from([0.0, 0.5, 0.9]),
        importance=st.none() | st.sampled_from([0.1, 0.8]),
        version=st.integers(1, 3),
        changed=st.integers(0, 2).map(lambda days: START + timedelta(days=days)),
        tags=st.frozensets(st.sampled_from("pqr")),
        uses=st.integers(0, 5),
    ),
    min_size=1,
    unique_by=lambda one: one.id,
)
PLAIN = Duplicate("a", "x", 0.5, None, 1, START)


@given(duplicates, st.randoms(use_true_random=False))
def test_the_order_of_claims_makes_no_difference(found: list[Duplicate], chance: object) -> None:
    shuffled = chance.sample(found, len(found))  # type: ignore[attr-defined]
    assert resolve(shuffled) == resolve(found)


@given(duplicates)
def test_one_claim_stands_and_all_others_are_replaced(found: list[Duplicate]) -> None:
    result = resolve(found)
    assert result.replaced | {result.winner} == {each.id for each in found}
    assert result.winner not in result.replaced


@given(duplicates)
def test_nothing_that_was_known_is_lost(found: list[Duplicate]) -> None:
    result = resolve(found)
    assert all(each.tags <= result.tags for each in found)
    assert result.uses == sum(each.uses for each in found)
    assert all(result.confidence >= (each.confidence or 0.0) for each in found)
    assert all(
        result.importance is not None and result.importance >= each.importance
        for each in found
        if each.importance is not None
    )


@given(duplicates)
def test_nobody_surer_is_replaced(found: list[Duplicate]) -> None:
    sure = {each.id: 0.5 if each.confidence is None else each.confidence for each in found}
    assert sure[resolve(found).winner] == max(sure.values())


@pytest.mark.parametrize(
    "better",
    [
        replace(PLAIN, id="z", confidence=0.6),
        replace(PLAIN, id="z", changed=START + timedelta(seconds=1)),
        replace(PLAIN, id="z", version=2),
        replace(PLAIN, id="A"),
    ],
)
def test_what_decides_in_its_order(better: Duplicate) -> None:
    assert resolve([PLAIN, better]).winner == better.id


def test_a_confidence_that_is_not_stated_is_half() -> None:
    unsaid = replace(PLAIN, id="b", confidence=None)
    assert resolve([unsaid, replace(PLAIN, confidence=0.4)]).winner == "b"
    assert resolve([unsaid, replace(PLAIN, confidence=0.6)]).winner == "a"


def test_independent_origins_make_each_other_surer() -> None:
    other = replace(PLAIN, id="b", origin="y")
    assert resolve([PLAIN, other]).confidence == pytest.approx(0.75)
    assert resolve([PLAIN, replace(other, origin="x")]).confidence == pytest.approx(0.5)


def test_there_is_nothing_to_resolve_without_a_claim() -> None:
    with pytest.raises(ValueError, match=r"^there is nothing to resolve$"):
        resolve([])
