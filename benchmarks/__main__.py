"""``python -m benchmarks``: runs the sections, prints their rows in one table."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence

import click

from benchmarks import documents
from benchmarks.table import Row, Unmeasurable, show

SECTIONS = {
    "overhead": "calls per second and latencies beside a bare Starlette, mcp and FastMCP server",
    "hot_path": "where each microsecond of a small tool call goes, by room and by library",
    "relay": "a tool of another server through Porch, beside FastMCP's proxy and the SDK",
    "model_calls": "what the portal adds to the time of a language model's provider",
    "assistant": "the assistant's first word beyond the model's, and 100 conversations at once",
    "bad_upstreams": "other calls and lists while one server hangs and one comes and goes",
    "tool_search": "tools found among those of real servers, by words, by meaning and by both",
    "lists": "tools/list with 200 tools beside Starlette sending the same bytes",
    "access": "what each kind of credential adds to a call, and memory after 100,000 callers",
    "scrubbing": "secrets found in arguments, innocent lines touched, and what looking takes",
    "bulkheads": "others while a plugin shouts, raises, recurses and hangs, and one computes",
    "startup": "time from spawn to the first right answer, and memory",
    "streams": "10,000 clients that listen and 1,000 that call: memory, latencies, a storm, idle",
    "idle": "what a portal costs that nobody uses",
    "views": "pages painted in Chromium, and a graph of 500 boxes laid out, sent and panned",
    "skills": "1,000 skills listed and read beside a bare mcp server, and their index",
    "workflows": "search, select and add at 10,000 workflows beside a bare mcp server",
    "codegraph_accuracy": "call edges on fixtures and on real packages",
    "codegraph_taxonomy": "what code is for, against judged repositories; a million lines",
    "search_quality": "BM25, similarity and the product on judged questions over civic-kb",
    "search_answers": "questions in six languages, and whether the shown passage holds the answer",
    "codegraph_queries": "questions to a code graph of 100,000 entities and 500,000 edges",
    "codegraph_speed": "indexing a million lines, one changed file, and nothing changed",
    "codegraph_push": "a push of three files to a repository of 5,000, until the graph knows it",
    "codegraph_search": "code found by words, by meaning and by both; its speed, and bytes saved",
    "knowledge_sync": "a push of one note and of a hundred, until it is searchable",
    "knowledge_api": "the Knowledge Provider API at 10,000 entries beside its targets",
    "memory_quality": "what long conversations ask of memory, and facts that change",
    "vectors": "100,000 points embedded and in PostgreSQL: speed, recall, one write, memory",
    "large_base": "100,000 documents in one portal: search, 16 clients, memory, one push",
    "search_speed": "search over HTTP at 1,000 and 10,000 documents, and indexing",
}


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(list(SECTIONS)))
@click.option(
    "--strict", is_flag=True, help="Exit with 1 where a bar is missed or a section left out."
)
@click.option(
    "--readme", is_flag=True, help="Write docs/benchmarks.md and the README's figures, too."
)
@click.option("--list", "listing", is_flag=True, help="Say what the sections are.")
def main(sections: Sequence[str], strict: bool, readme: bool, listing: bool) -> None:
    """Measure SECTIONS, or all of them, and print one table."""
    if listing:
        for name, what in SECTIONS.items():
            click.echo(f"{name:20}{what}")
        return
    if readme and sections:
        raise click.UsageError("The documents come from one run of all sections.")
    # What is started here is started again and again, as an installed portal is: compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    broken: list[str] = []
    measured = {name: _measured(name, broken) for name in sections or SECTIONS}
    rows = [row for found in measured.values() if found for row in found]
    show(rows)
    left_out = [name for name, found in measured.items() if found is None]
    if readme:
        try:
            documents.write(rows, left_out)
        except Unmeasurable as missing:
            raise click.ClickException(str(missing)) from None
    if broken:
        raise click.ClickException(f"No figures of {', '.join(broken)}: see above.")
    if strict and (left_out or any(row.missed for row in rows)):
        sys.exit(1)


def _measured(section: str, broken: list[str]) -> list[Row] | None:
    """A section's rows; None where this machine lacks what it needs, or it joins the broken."""
    click.echo(f"{section}: {SECTIONS[section]} ...", err=True)
    try:
        rows: list[Row] = importlib.import_module(f"benchmarks.{section}").measure()
    except Unmeasurable as reason:
        click.echo(f"{section} is left out: {reason}", err=True)
        return None
    except Exception:  # the figures of the other sections cost an hour
        traceback.print_exc()
        click.echo(f"{section} broke off.", err=True)
        broken.append(section)
        return None
    return rows


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
