"""How right the health report is, and how long it takes.

``python -m benchmarks.codegraph_health`` plants 50 of each fault, with decoys, into programs in
Python and in TypeScript (``tests/plugins/codegraph/health/seeded.py``), and prints precision and
recall by analysis. ``--real`` also counts which of the ten top findings on real repositories are
right (``health_judged.py``), ``--functions N`` times a report on a generated tree of N functions.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click

from benchmarks.health_judged import judged
from plugins.codegraph.health.analysis import health_report
from tests.plugins.codegraph.health import seeded
from tests.plugins.codegraph.health.measuring import found_in, rates
from tests.plugins.codegraph.health.reading import read
from tests.plugins.codegraph.portal import world

PROGRAMS = {"python": seeded.python, "typescript": seeded.typescript}
_IN_A_FILE = 40


def measure(language: str, count: int) -> list[str]:
    """A line for each analysis of a planted program."""
    planted = PROGRAMS[language](count)
    with tempfile.TemporaryDirectory() as directory:
        found = asyncio.run(read(planted.files, Path(directory)))
    lines = []
    for name, (precision, recall, wrong) in rates(planted, found_in(found)).items():
        said = f"{language:<11} {name:<11} precision {precision:.3f}  recall {recall:.3f}"
        lines.append(f"{said}  {', '.join(wrong[:3])}".rstrip())
    return lines


def tree(functions: int) -> Mapping[str, bytes]:
    """A tree in which each function calls the next, in files of forty."""
    files = {}
    for number in range(functions // _IN_A_FILE):
        after = f"from lib.part_{number + 1} import f_{(number + 1) * _IN_A_FILE}\n\n\n"
        each = (
            f"def f_{at}(value, other=None):\n    for item in value:\n        if item and other:\n"
            f"            return f_{at + 1}(item.part_{at}, other)\n    return value\n\n\n"
            for at in range(number * _IN_A_FILE, (number + 1) * _IN_A_FILE)
        )
        files[f"lib/part_{number}.py"] = (after + "".join(each)).encode()
    return files


async def timed(functions: int) -> str:
    """How long a report takes on a tree, which is indexed before."""
    with tempfile.TemporaryDirectory() as directory:
        async with world(Path(directory)) as portal:
            owner = await portal.index("large", tree(functions))
            view = await portal.store.view(owner.org, owner.repo)
            assert view is not None
            began = time.perf_counter()
            await health_report(portal.host.database, view)
            took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return f"{functions:,} functions: {took:.1f} s; the process has taken {peak:,} MiB at most"


@click.command()
@click.option("--count", default=50, help="How many of each fault are planted.")
@click.option("--functions", default=0, help="Also time a tree of so many functions.")
@click.option("--real", is_flag=True, help="Also count the right findings on real repositories.")
def main(count: int, functions: int, *, real: bool) -> None:
    """Measure the health report."""
    for language in PROGRAMS:
        for line in measure(language, count):
            click.echo(line)
    for line in judged() if real else ():
        click.echo(line)
    if functions:
        click.echo(asyncio.run(timed(functions)))


if __name__ == "__main__":
    main()
