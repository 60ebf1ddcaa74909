"""What the commands tell people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.contract import Tier
from plugins.codegraph.model import FileReport
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.scip.notes import notes

WIDTH = 80
"""The columns of a plain terminal; what people read is no wider, save names and addresses."""
_COUNTED = ("functions", "methods", "classes", "interfaces")
_REASONS = 8
_NAMES = {
    "python": "Python",
    "typescript": "TypeScript",
    "javascript": "JavaScript",
    "go": "Go",
    "java": "Java",
    "rust": "Rust",
}


def found(repository: Repository, summary: Mapping[str, Any]) -> Iterator[str]:
    """What an index found, and what it skipped and why."""
    counts = [f"{summary.get(word, 0):,} {word}" for word in _COUNTED if summary.get(word)]
    seconds, lines = summary.get("seconds", 0), summary.get("lines", 0)
    yield from _wrapped(
        f"{repository.name}: {summary.get('files', 0):,} files, {lines:,} lines"
        f"{''.join(f', {each}' for each in counts)}, in {seconds:.1f} s."
    )
    languages = summary.get("languages", {})
    if languages:
        listed = ", ".join(
            f"{_NAMES.get(name, name)} {files:,}" for name, files in languages.items()
        )
        yield from _wrapped(f"Languages, by files: {listed}.")
    for each in summary.get("scip", []):
        yield from _wrapped(each)
    reasons = summary.get("reasons", [])
    for skipped, said in ((True, "Skipped"), (False, "In the graph in part")):
        some = [each for each in reasons if each["skipped"] is skipped]
        for each in some[:_REASONS]:
            more = f" and {each['files'] - 1:,} more" if each["files"] > 1 else ""
            yield from _wrapped(f"{said}: {each['example']}{more}: {each['reason']}")
        if len(some) > _REASONS:
            yield f"{said}: {len(some) - _REASONS} more reasons."
    if reasons:
        yield "Every such file: porch codegraph list --problems"


def checks(record: Mapping[str, Any] | None, layer: int | None) -> Iterator[str]:
    """What the SCIP indexers did, or why they did not run."""
    for each in notes(record, layer):
        yield from _wrapped(each, "  ")


def problems(name: str, reports: Sequence[FileReport]) -> Iterator[str]:
    """Every file of a repository that is not, or not wholly, in the graph, and why."""
    yield f"{name}: {len(reports):,} files are not, or only in part, in the graph."
    for each in reports:
        state = "skipped" if each.skipped else "in part"
        # A line break in a name would look like a line of its own.
        yield f"  {state}  {_printable(each.path)}: {each.problem}"


def _printable(path: str) -> str:
    return path if path.isprintable() else path.encode("unicode_escape").decode("ascii")


def next_steps(repository: Repository, example: str, url: str) -> Iterator[str]:
    """What a newcomer does next."""
    asked = f"Who calls {example}?" if example else "Which functions are there?"
    steps = (
        ("porch serve", "unless a portal runs already"),
        (url, "the address for your client"),
        ("porch codegraph onboard PATH", "sets up a project for its clients"),
    )
    width = max(len(step) for step, _ in steps)
    yield ""
    yield "Next:"
    yield from (f"  {step:<{width}}  {why}" for step, why in steps)
    yield f'Then ask: "{asked}"'
    if example:
        yield f"Or here:  porch call get_callers repo={repository.name} name={example}"
    if repository.local:
        yield from _wrapped(
            "It is seen by whoever reaches this portal, as long as the portal is for this machine "
            "alone; later by members."
        )
    elif repository.tier != Tier.OPEN or repository.groups:
        groups = f" in {' or '.join(repository.groups)}" if repository.groups else ""
        yield from _wrapped(
            f"It is seen by callers of the tier {repository.tier.value}{groups}; tiers.yaml says "
            "who has which tier. Removed, and added again with --tier open, it is seen by whoever "
            "reaches the portal."
        )


def table(repositories: Sequence[Repository]) -> Iterator[str]:
    """The repositories, a line each."""
    if not repositories:
        yield "No repository has been added: `porch codegraph add .` adds this directory."
        return
    rows = [("NAME", "FILES", "ENTITIES", "TIER", "INDEXED (UTC)", "COMMIT")]
    for each in repositories:
        summary = each.state.summary
        rows.append(
            (
                each.name,
                f"{summary.get('files', 0):,}",
                f"{summary.get('entities', 0):,}",
                "/".join((each.tier, *each.groups)),
                f"{each.indexed:%Y-%m-%d %H:%M}" if each.indexed else "-",
                each.commit[:10] or "-",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    yield lines[0]
    for each, line in zip(repositories, lines[1:], strict=True):
        yield line
        yield f"  {each.location}" + (f" ({each.branch})" if each.branch else "")
        state = str(each.state) or ("ready" if each.layer else "waiting")
        yield from _wrapped(state, "  ")
        yield from checks(each.scip, each.layer)


def _wrapped(text: str, indent: str = "") -> list[str]:
    """A text in lines that fit a terminal; a path is not broken."""
    return textwrap.wrap(
        text,
        WIDTH - 1,
        initial_indent=indent,
        subsequent_indent=indent or "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
