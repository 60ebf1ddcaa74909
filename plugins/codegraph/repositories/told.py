"""What the commands tell people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plugins.codegraph.repositories.repository import Repository

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
    yield (
        f"{repository.name}: {summary.get('files', 0):,} files, {lines:,} lines"
        f"{''.join(f', {each}' for each in counts)}, in {seconds:.1f} s."
    )
    languages = summary.get("languages", {})
    if languages:
        listed = ", ".join(
            f"{_NAMES.get(name, name)} {files:,}" for name, files in languages.items()
        )
        yield f"Languages, by files: {listed}."
    reasons = summary.get("reasons", [])
    for skipped, said in ((True, "Skipped"), (False, "In the graph in part")):
        some = [each for each in reasons if each["skipped"] is skipped]
        for each in some[:_REASONS]:
            more = f" and {each['files'] - 1:,} more" if each["files"] > 1 else ""
            yield f"{said}: {each['example']}{more}: {each['reason']}"
        if len(some) > _REASONS:
            yield f"{said}: {len(some) - _REASONS} more reasons; --json lists them."


def next_steps(repository: Repository, example: str, url: str) -> Iterator[str]:
    """What a newcomer does next."""
    asked = f'"Who calls {example}?"' if example else '"Which functions are there?"'
    yield ""
    yield f"Next: a portal that runs serves {repository.name} already; else: porch serve"
    yield f"Connect a client to {url}, or let `porch codegraph onboard .` set up a project."
    yield f"Then ask: {asked}"
    if repository.tier != "open":
        who = f"the tier {repository.tier}"
        groups = f" in the groups {', '.join(repository.groups)}" if repository.groups else ""
        yield f"It is seen by {who}{groups}; --tier and --group say so otherwise."


def table(repositories: Sequence[Repository]) -> Iterator[str]:
    """The repositories, a line each."""
    if not repositories:
        yield "No repository has been added: `porch codegraph add .` adds this directory."
        return
    rows = [("NAME", "FILES", "ENTITIES", "TIER", "INDEXED", "STATE", "FROM")]
    for each in repositories:
        summary = each.state.summary
        at = f"{each.indexed:%Y-%m-%d %H:%M}" if each.indexed else "-"
        commit = f" {each.commit[:10]}" if each.commit else ""
        tier = "/".join((each.tier, *each.groups))
        rows.append(
            (
                each.name,
                f"{summary.get('files', 0):,}",
                f"{summary.get('entities', 0):,}",
                tier,
                at + commit,
                str(each.state) or ("ready" if each.layer else "waiting"),
                each.location + (f" ({each.branch})" if each.branch else ""),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
