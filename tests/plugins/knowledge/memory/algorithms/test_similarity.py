import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.similarity import distance, score
from plugins.knowledge.memory.model.requests import Metric

cosines = st.floats(-1, 1)
vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(
    lambda values: math.sqrt(sum(value * value for value in values)) > 0.01
)


@given(vectors, vectors)
def test_distances_are_those_of_the_vectors_themselves(
    one: list[float], other: list[float]
) -> None:
    first, second = (np.array(each) / np.linalg.norm(each) for each in (one, other))
    cosine = float(first @ second)
    ends = float(np.linalg.norm(first - second))
    assert distance(cosine, Metric.EUCLIDEAN) == pytest.approx(ends, abs=1e-6)
    assert distance(cosine, Metric.COSINE) == pytest.approx(1 - cosine, abs=1e-9)
    assert distance(cosine, Metric.DOT) == pytest.approx(1 - float(first @ second), abs=1e-9)


@given(cosines, cosines, st.sampled_from(Metric))
def test_what_is_more_alike_is_never_further_away(one: float, other: float, metric: Metric) -> None:
    nearer, further = max(one, other), min(one, other)
    assert distance(nearer, metric) <= distance(further, metric)


@pytest.mark.parametrize(
    ("metric", "same", "across", "opposite"),
    [
        (Metric.COSINE, 0.0, 1.0, 2.0),
        (Metric.DOT, 0.0, 1.0, 2.0),
        (Metric.EUCLIDEAN, 0.0, math.sqrt(2), 2.0),
    ],
)
def test_the_scale_of_each_metric(
    metric: Metric, same: float, across: float, opposite: float
) -> None:
    assert distance(1.0, metric) == pytest.approx(same)
    assert distance(0.0, metric) == pytest.approx(across)
    assert distance(-1.0, metric) == pytest.approx(opposite)


@pytest.mark.parametrize("metric", Metric)
def test_what_rounding_puts_beyond_one_is_taken_back(metric: Metric) -> None:
    assert distance(1.0000002, metric) == 0.0
    assert distance(-1.0000002, metric) == 2.0


@given(st.floats(-1.1, 1.1))
def test_a_score_lies_between_0_and_1_and_is_the_cosine_in_between(cosine: float) -> None:
    assert 0.0 <= score(cosine) <= 1.0
    if 0.0 <= cosine <= 1.0:
        assert score(cosine) == cosine


def test_opposite_and_unrelated_are_equally_unlike() -> None:
    assert score(-0.7) == score(0.0) == 0.0
    assert score(1.2) == 1.0
