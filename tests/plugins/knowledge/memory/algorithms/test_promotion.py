from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms import promotion
from plugins.knowledge.memory.algorithms.promotion import (
    NEXT_LAYER,
    LayerFacts,
    destination,
    score,
    worth,
)
from plugins.knowledge.memory.model.entry import Layer

shares = st.none() | st.floats(0, 1)
standings = st.builds(
    LayerFacts,
    layer=st.sampled_from(Layer),
    importance=shares,
    confidence=shares,
    uses=st.integers(0, 100),
    age=st.floats(0, 1000),
    idle=st.floats(0, 1000),
)


@given(standings)
def test_a_score_lies_between_0_and_1(entry: LayerFacts) -> None:
    assert 0.0 <= score(entry) <= 1.0
    assert 0.0 <= worth(entry) <= 1.0


@given(standings, st.integers(0, 50), st.floats(0, 100))
def test_more_use_and_a_longer_life_never_make_it_smaller(
    entry: LayerFacts, uses: int, days: float
) -> None:
    assert score(replace(entry, uses=entry.uses + uses)) >= score(entry)
    assert score(replace(entry, age=entry.age + days)) >= score(entry)


@given(standings, st.floats(0, 1), st.floats(0, 1))
def test_more_importance_and_confidence_never_make_it_smaller(
    entry: LayerFacts, one: float, other: float
) -> None:
    less, more = min(one, other), max(one, other)
    for lower, higher in (
        (replace(entry, importance=less), replace(entry, importance=more)),
        (replace(entry, confidence=less), replace(entry, confidence=more)),
    ):
        assert score(lower) <= score(higher)
        assert worth(lower) <= worth(higher)


def test_the_weights_as_the_readme_states_them() -> None:
    new = LayerFacts(Layer.EPISODIC, importance=0.0, confidence=0.0)
    assert score(new) == 0.0
    assert score(replace(new, importance=1.0)) == pytest.approx(0.35)
    assert score(replace(new, confidence=1.0)) == pytest.approx(0.25)
    assert score(replace(new, uses=3)) == pytest.approx(0.15)
    assert score(replace(new, uses=10**6)) == pytest.approx(0.3)
    assert score(replace(new, age=7.0)) == pytest.approx(0.05)
    assert score(replace(new, age=10.0**6)) == pytest.approx(0.1)
    assert score(LayerFacts(Layer.EPISODIC)) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("layer", "half"), [(Layer.WORKING, 1 / 24), (Layer.SESSION, 1.0), (Layer.EPISODIC, 7.0)]
)
def test_each_layer_has_its_own_pace(layer: Layer, half: float) -> None:
    young = LayerFacts(layer, importance=0.0, confidence=0.0)
    assert score(replace(young, age=half)) == pytest.approx(0.05)


def test_an_age_that_a_clock_made_negative_counts_nothing() -> None:
    assert score(LayerFacts(Layer.SESSION, age=-5.0)) == score(LayerFacts(Layer.SESSION))


@given(standings)
def test_an_entry_goes_up_one_step_stays_or_is_put_away(entry: LayerFacts) -> None:
    assert destination(entry) in {entry.layer, NEXT_LAYER.get(entry.layer), Layer.ARCHIVAL}


@given(standings)
def test_what_was_put_somewhere_on_purpose_stays_there(entry: LayerFacts) -> None:
    for layer in (Layer.USER, Layer.ORGANIZATION, Layer.PROCEDURAL, Layer.ARCHIVAL):
        assert destination(replace(entry, layer=layer)) is layer


@pytest.mark.parametrize(("layer", "then"), NEXT_LAYER.items())
def test_what_is_important_and_sure_goes_up_at_once(layer: Layer, then: Layer) -> None:
    assert destination(LayerFacts(layer, importance=1.0, confidence=1.0)) is then


def test_the_ladder_ends_at_semantic_memory() -> None:
    assert NEXT_LAYER == {
        Layer.WORKING: Layer.SESSION,
        Layer.SESSION: Layer.EPISODIC,
        Layer.EPISODIC: Layer.SEMANTIC,
    }
    sure = LayerFacts(Layer.SEMANTIC, importance=1.0, confidence=1.0, uses=100, age=100.0)
    assert destination(sure) is Layer.SEMANTIC


def test_an_entry_moves_up_from_the_threshold_on() -> None:
    entry = LayerFacts(Layer.EPISODIC, importance=1.0, confidence=1.0)
    assert score(entry) == pytest.approx(promotion.THRESHOLD)
    assert destination(entry) is Layer.SEMANTIC
    assert destination(replace(entry, confidence=0.99)) is Layer.EPISODIC


@pytest.mark.parametrize("layer", [Layer.EPISODIC, Layer.SEMANTIC])
def test_what_is_worth_little_and_long_unused_is_put_away(layer: Layer) -> None:
    entry = LayerFacts(layer, importance=0.1, confidence=0.5, idle=90.0)
    assert destination(entry) is Layer.ARCHIVAL
    assert destination(replace(entry, idle=89.9)) is layer
    assert destination(replace(entry, importance=0.9)) is layer


def test_worth_weighs_importance_and_confidence_alone() -> None:
    entry = LayerFacts(Layer.SEMANTIC, importance=1.0, confidence=0.0, uses=50, age=50.0)
    assert worth(entry) == pytest.approx(0.35 / 0.6)
    assert worth(LayerFacts(Layer.SEMANTIC)) == pytest.approx(0.5)
    kept = LayerFacts(Layer.SEMANTIC, importance=0.4, confidence=0.4, idle=1000.0)
    assert destination(kept) is Layer.SEMANTIC


def test_fleeting_layers_are_not_archived() -> None:
    for layer in (Layer.WORKING, Layer.SESSION):
        entry = LayerFacts(layer, importance=0.0, confidence=0.0, idle=1000.0)
        assert destination(entry) is layer
