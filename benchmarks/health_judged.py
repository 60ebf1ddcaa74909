"""The ten top findings of the health report on real repositories, against judgements by hand.

``data/codegraph_health.json`` holds them, with the commit of each repository: each finding was read
against the source. A finding that nobody has judged counts apart.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.codegraph_queries import OWNER
from benchmarks.codegraph_taxonomy import indexed
from benchmarks.trees import git_tree
from gateway.services.database.service import open_database
from plugins.codegraph.health.analysis import health_report
from plugins.codegraph.health.report import HealthReport

JUDGED = Path(__file__).parent / "data" / "codegraph_health.json"
TOP = 10


def _place(finding: Mapping[str, Any], name: str) -> str:
    return f"{finding['filePath']} {finding[name]}"


_NAMES: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = MappingProxyType(
    {
        "deadCode": ("topOffenders", lambda each: _place(each, "name")),
        "architectureDrift": ("issues", lambda each: str(each["pattern"])),
        "testingGaps": ("untestedVerticals", lambda each: str(each["featureArea"])),
        "duplicateLogic": ("clusters", lambda each: str(each["description"]).partition(":")[0]),
        "circularDependencies": ("cycles", lambda each: " -> ".join(each["path"])),
        "unusedExports": ("topOffenders", lambda each: _place(each, "exportName")),
        "complexityHotspots": ("hotspots", lambda each: _place(each, "name")),
    }
)
"""Where each section lists its findings, and what tells one from another."""


def top(report: HealthReport) -> list[tuple[str, str]]:
    """The ten top findings: of each section the first, the costliest section first, then the
    second of each, and so on. Circles that close only later are no findings."""
    wire = report.wire()
    lost = {each["section"]: each["lost"] for each in wire["scoreParts"]}
    listed = {
        section: [name(each) for each in wire["sections"][section][key] if _counts(each)]
        for section, (key, name) in _NAMES.items()
    }
    order = sorted(listed, key=lambda section: (-lost[section], section))
    turns = max(map(len, listed.values()))
    found = [(s, listed[s][at]) for at in range(turns) for s in order if at < len(listed[s])]
    return found[:TOP]


def _counts(finding: Mapping[str, Any]) -> bool:
    return str(finding.get("at", "import time")) == "import time"


def judged() -> Iterator[str]:
    """A line for each judged repository."""
    for source in json.loads(JUDGED.read_text("utf-8"))["sources"]:
        tree = git_tree(source["name"], source["address"], source["commit"])
        yield _line(source, top(asyncio.run(_report(tree))))


def _line(source: Mapping[str, Any], found: Sequence[tuple[str, str]]) -> str:
    known = {(each["section"], each["finding"]): each["right"] for each in source["findings"]}
    right = sum(known.get(each, False) for each in found)
    unknown = sum(each not in known for each in found)
    more = f", {unknown} not judged" if unknown else ""
    return f"{source['name']} ({source['kind']}): {right} of {len(found)} right{more}"


async def _report(tree: Path) -> HealthReport:
    with tempfile.TemporaryDirectory() as name:
        service = open_database("sqlite", Path(name))
        database = service.for_owner("codegraph")
        store = await indexed(database, tree, Path(name))
        view = await store.view(OWNER.org, OWNER.repo)
        if view is None:
            raise RuntimeError(f"{tree} was indexed, and is not there.")
        report = await health_report(database, view)
        await service.close()
    return report
