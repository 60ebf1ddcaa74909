"""The statements of the PostgreSQL vector store, and how its values cross the wire.

Everything lies in a schema of its own. A collection has two tables, called by its number: its
points, with a column for each dense vector, and the terms of its sparse vectors, which is an
inverted index. What filters ask for lies in ``facets``, a list of ``field=value`` that one GIN
index serves, so that a search need not unpack payloads.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from gateway.contract.services import CollectionSpec, Condition
from gateway.services.vectors.store import check_condition

SCHEMA = "porch_vectors"

PAYLOAD = """(SELECT jsonb_object_agg(key, value)::text FROM jsonb_each(p.payload)
    WHERE key = ANY($3::text[])) AS payload"""
"""The payload fields of ``$3``, of a point ``p``."""

REGISTRY = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.collections (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    identity text NOT NULL,
    spec jsonb NOT NULL,
    sparse_points bigint[] NOT NULL
);
"""


def points(number: int) -> str:
    """The table of a collection's points."""
    return f"{SCHEMA}.points_{number}"


def terms(number: int) -> str:
    """The table of a collection's terms."""
    return f"{SCHEMA}.terms_{number}"


def graph(number: int, column: str) -> str:
    """The name of the graph index on a dense column, without the schema."""
    return f"graph_{number}_{column}"


def columns(spec: CollectionSpec) -> dict[str, str]:
    """The columns of a spec's dense vectors, by the vectors' names."""
    return {name: f"dense_{place}" for place, name in enumerate(sorted(spec.dense))}


def tables(number: int, spec: CollectionSpec) -> str:
    """What makes a collection's tables and their indexes."""
    held = columns(spec)
    dense = "".join(f", {column} halfvec({spec.dense[name]})" for name, column in held.items())
    return f"""
CREATE TABLE {points(number)} (
    id text PRIMARY KEY, payload jsonb NOT NULL, facets text[] NOT NULL,
    sparse smallint[] NOT NULL{dense}
);
CREATE INDEX ON {points(number)} USING gin (facets);
CREATE TABLE {terms(number)} (
    vector smallint NOT NULL, term bigint NOT NULL,
    point text NOT NULL REFERENCES {points(number)} ON DELETE CASCADE,
    weight real NOT NULL,
    PRIMARY KEY (vector, term, point) INCLUDE (weight)
);
CREATE INDEX ON {terms(number)} (point);
"""


def dropped(number: int) -> str:
    """What removes a collection's tables."""
    return f"DROP TABLE IF EXISTS {terms(number)}, {points(number)}"


def facets(spec: CollectionSpec, payload: Any) -> list[str]:
    """What filters on the indexed fields can ask of a payload."""
    found = []
    for field in spec.indexed:
        value = payload.get(field)
        values = value if isinstance(value, list | tuple) else [value]
        found += [_facet(field, each) for each in values if isinstance(each, str | int | float)]
    return found


def _facet(field: str, value: str | float) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return f"{field}={json.dumps(int(value) if whole else value, ensure_ascii=False)}"


class Arguments:
    """The arguments of a statement, numbered as they come."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)

    def add(self, value: Any) -> str:
        """Take a value in, and return what stands for it."""
        self.values.append(value)
        return f"${len(self.values)}"


def condition(where: Sequence[Condition], spec: CollectionSpec, arguments: Arguments) -> str:
    """The SQL for some conditions that must all hold of a point ``p``.

    Raises:
        ValueError: one has no values and no bounds.
    """
    parts = []
    for each in where:
        check_condition(each)
        if each.any_of is not None:
            parts.append(_any_of(each, spec, arguments))
        if each.at_least is not None or each.at_most is not None:
            parts.append(_between(each, arguments))
    return " AND ".join(parts) or "true"


def _any_of(one: Condition, spec: CollectionSpec, arguments: Arguments) -> str:
    values = one.any_of or ()
    if one.field in spec.indexed:
        wanted = arguments.add([_facet(one.field, value) for value in values])
        return f"p.facets && {wanted}::text[]"
    field = arguments.add(one.field)
    listed = arguments.add([json.dumps(value, ensure_ascii=False) for value in values])
    return f"p.payload -> {field}::text @> ANY({listed}::text[]::jsonb[])"


def _between(one: Condition, arguments: Arguments) -> str:
    bounds = {"low": one.at_least, "high": one.at_most}
    given = {name: value for name, value in bounds.items() if value is not None}
    signs = {"low": ">=", "high": "<="}
    test = " && ".join(f"@ {signs[name]} ${name}" for name in given)
    path = arguments.add(f"$.{json.dumps(one.field, ensure_ascii=False)} ? ({test})")
    bound = arguments.add(json.dumps(given))
    return f"jsonb_path_exists(p.payload, {path}::text::jsonpath, {bound}::text::jsonb)"


def nearest(number: int, column: str, where: str, *, exact: bool) -> str:
    """The nearest points to ``$1``, at most ``$2``, with the payload fields ``$3``.

    Args:
        number: the collection's.
        column: of the dense vector.
        where: the condition.
        exact: whether no graph may be used; what is added to the distance hides it.
    """
    distance = f"(p.{column} <=> $1)"
    hidden = " + 0" if exact else ""
    return f"""
SELECT p.id, 1 - {distance} AS score, {PAYLOAD}
FROM {points(number)} p WHERE p.{column} IS NOT NULL AND {where}
ORDER BY {distance}{hidden} LIMIT $2"""


def matching(number: int, vector: int, where: str) -> str:
    """The best points for the terms ``$1`` with the weights ``$4``, as :func:`nearest` has them.

    The inverse document frequency is over the whole collection, whatever the filter
    (``store.py``).
    """
    return f"""
WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $4::real[]) AS a(term, weight)
), found AS MATERIALIZED (
    SELECT t.point, t.term, t.weight * a.weight AS weight
    FROM asked a JOIN {terms(number)} t ON t.vector = {vector} AND t.term = a.term
), rarity AS MATERIALIZED (
    SELECT n.term,
        ln(1 + (c.sparse_points[{vector + 1}] - n.points + 0.5) / (n.points + 0.5)) AS idf
    FROM (SELECT f.term, count(*) AS points FROM found f GROUP BY f.term) n,
        {SCHEMA}.collections c
    WHERE c.number = {number}
)
SELECT p.id, s.score, {PAYLOAD}
FROM (
    -- In order, so that points are looked up until there are enough, and not all of them.
    SELECT f.point, sum(f.weight * r.idf) AS score
    FROM found f JOIN rarity r USING (term) GROUP BY f.point ORDER BY score DESC OFFSET 0
) s JOIN {points(number)} p ON p.id = s.point WHERE {where}
ORDER BY s.score DESC LIMIT $2"""


def encoded(vector: Any) -> bytes:
    """A vector as pgvector's ``halfvec`` takes it: length, two unused bytes, half floats."""
    values = np.asarray(vector, dtype=">f2")
    return len(values).to_bytes(2, "big") + b"\0\0" + values.tobytes()


def decoded(data: bytes) -> Any:
    """The vector that :func:`encoded` wrote."""
    return np.frombuffer(data, dtype=">f2", offset=4).astype(np.float32)
