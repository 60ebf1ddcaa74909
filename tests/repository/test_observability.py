"""The dashboard and the alerts ask for what a portal shows, and say what to do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from gateway.observability.metrics import Metric
from gateway.testing import open_test_portal

FOLDER = Path(__file__).parents[2] / "packaging" / "observability"
OTHERS = {"up": {"job", "instance"}}
"""What Prometheus itself records of each portal."""
ADDED = {"job", "instance"}
"""Labels that Prometheus puts on everything that it scrapes."""
GRAFANA = {"$__rate_interval": "5m"}


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="module")
def dashboard() -> Any:
    return json.loads((FOLDER / "dashboard.json").read_text())


@pytest.fixture
async def shown() -> AsyncIterator[dict[str, set[str]]]:
    """The labels of every series that a running portal shows, by name."""
    async with open_test_portal() as portal:
        text = (await portal.get("/metrics")).text
        found = {**OTHERS, **dict(_series(portal.running.metrics.families()))}
        for family in text_string_to_metric_families(text):
            if family.name.startswith("process_"):
                found |= {sample.name: set(sample.labels) for sample in family.samples}
            else:
                assert any(name.startswith(family.name) for name in found)
        yield found


def _series(families: list[Metric]) -> Iterator[tuple[str, set[str]]]:
    for each in families:
        if each.kind == "histogram":
            yield f"{each.name}_bucket", {*each.labels, "le"}
            yield from ((f"{each.name}_{end}", {*each.labels}) for end in ("sum", "count"))
        else:
            yield each.name, {*each.labels}


def expressions(dashboard: Any) -> Iterator[str]:
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            expression: str = target["expr"]
            for name, value in GRAFANA.items():
                expression = expression.replace(name, value)
            yield expression


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """The name of every series that an expression asks for, and the labels that it matches."""
    waiting: list[Any] = [promql_parser.parse(expression)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, promql_parser.VectorSelector):
            yield node.name or "", {each.name for each in node.matchers.matchers}
        elif isinstance(node, promql_parser.Call):
            waiting += node.args
        else:
            parts = (
                getattr(node, name, None) for name in ("expr", "lhs", "rhs", "vector_selector")
            )
            waiting += [part for part in parts if part is not None]


def check(expression: str, shown: dict[str, set[str]]) -> None:
    asked = list(selectors(expression))
    assert asked, expression
    for name, labels in asked:
        assert name in shown, f"no portal shows {name}: {expression}"
        assert labels <= shown[name] | ADDED, f"{name} has no such label: {expression}"


async def test_every_alert_asks_for_what_a_portal_shows(
    rules: list[dict[str, Any]], shown: dict[str, set[str]]
) -> None:
    for rule in rules:
        check(rule["expr"], shown)


async def test_the_dashboard_asks_for_what_a_portal_shows(
    dashboard: Any, shown: dict[str, set[str]]
) -> None:
    for expression in expressions(dashboard):
        check(expression, shown)


async def test_the_dashboard_shows_every_metric_that_is_a_number_to_watch(
    dashboard: Any, shown: dict[str, set[str]]
) -> None:
    watched = {name for text in expressions(dashboard) for name, _ in selectors(text)}
    told = {name for name in shown if name.startswith("porch_")}
    left = {name for name in told - watched if not name.endswith(("_sum", "_count"))}
    assert left == {"porch_info", "porch_chain_block"}


def test_every_alert_says_what_happened_and_what_to_do(rules: list[dict[str, Any]]) -> None:
    assert len({rule["alert"] for rule in rules}) == len(rules) > 10
    for rule in rules:
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]
        assert rule["annotations"]["action"].endswith("."), rule["alert"]
        assert rule["labels"]["severity"] in {"critical", "warning"}


def test_an_expression_about_what_nobody_shows_is_found() -> None:
    asked = 'sum(rate(porch_made_up{item="x"}[5m])) / on (a) max_over_time(up[5m])'
    assert dict(selectors(asked)) == {"porch_made_up": {"item"}, "up": set()}
    with pytest.raises(AssertionError, match="no portal shows porch_made_up"):
        check(asked, {"up": set()})
    with pytest.raises(AssertionError, match="no such label"):
        check('up{made="up"}', {"up": set()})


def test_the_panels_of_the_dashboard_do_not_lie_upon_each_other(dashboard: Any) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
