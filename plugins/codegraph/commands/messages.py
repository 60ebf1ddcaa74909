"""The messages of the commands."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.contract import Tier
from plugins.codegraph.model import FileReport
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.scip.notes import notes

MAX_WIDTH = 80
"""The columns of a plain terminal; messages are no wider, except for names and addresses."""
_COUNTED = {
    "functions": "function",
    "methods": "method",
    "classes": "class",
    "interfaces": "interface",
}
_REASONS = 8
_SYNTAX = re.compile(r"\d+ syntax errors?, the first in line \d+")
_NAMES = {
    "python": "Python",
    "typescript": "TypeScript",
    "javascript": "JavaScript",
    "go": "Go",
    "java": "Java",
    "rust": "Rust",
    "markdown": "Markdown",
    **{name: name.upper() for name in ("css", "html", "json", "toml", "xml", "yaml")},
}
_FOLLOWED = ("python", "typescript", "javascript", "go", "java", "rust")


def justified(name: str, counts: Mapping[str, Any]) -> Iterator[str]:
    """What came of justifying a repository."""
    if "skipped" in counts:
        yield from wrapped(f"{name}: {counts['skipped']}")
        return
    classes = ", ".join(
        f"{counts[each]:,} {each}" for each in ("VERTICAL", "HORIZONTAL", "UTILITY", "unknown")
    )
    features = _many(counts["features"], "feature")
    yield from wrapped(f"{name}: {features}; {classes}; {counts['written']:,} said anew.")


def found(repository: Repository, summary: Mapping[str, Any]) -> Iterator[str]:
    """The summary of an index, with what was skipped and why."""
    counts = [
        _many(summary[word], one, word) for word, one in _COUNTED.items() if summary.get(word)
    ]
    files, lines = (_many(summary.get(word, 0), word[:-1]) for word in ("files", "lines"))
    took = f"in {summary.get('seconds', 0):.1f} s"
    yield from wrapped(f"{repository.name}: {', '.join((files, lines, *counts, took))}.")
    languages = summary.get("languages", {})
    if languages:
        listed = ", ".join(
            f"{_NAMES.get(name, name)} {count:,}" for name, count in languages.items()
        )
        yield from wrapped(f"Languages, by files: {listed}.")
    if not languages.keys() & set(_FOLLOWED):
        names = ", ".join(_NAMES[each] for each in _FOLLOWED)
        yield from wrapped(
            f"No code was found in {repository.location}. Calls are followed in {names}; what "
            ".gitignore names is left out."
        )
    secrets = summary.get("secrets", {})
    if secrets.get("files"):
        yield from wrapped(
            f"Secrets were taken out of {_many(secrets['files'], 'file')}; have them replaced:"
        )
        for place in secrets["places"]:
            yield from wrapped(place)
    for each in summary.get("scip", []):
        yield from wrapped(each)
    yield from _reasons(summary.get("reasons", []))


def _reasons(reasons: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for skipped, said in ((True, "Skipped"), (False, "In the graph in part")):
        some = _alike([each for each in reasons if each["skipped"] is skipped])
        for example, files, reason in some[:_REASONS]:
            more = f" and {files - 1:,} more" if files > 1 else ""
            yield from wrapped(f"{said}: {example}{more}: {reason}")
        if len(some) > _REASONS:
            yield f"{said}: {len(some) - _REASONS} more reasons."
    if reasons:
        yield "Every such file: porch codegraph list --problems"


def _alike(reasons: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str]]:
    """Reasons as (example, number of files, reason), with all syntax errors as one."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for each in reasons:
        kind = "syntax errors" if _SYNTAX.fullmatch(each["reason"]) else each["reason"]
        kinds.setdefault(kind, []).append(each)
    return [
        (
            some[0]["example"],
            sum(each["files"] for each in some),
            kind if len(some) > 1 else some[0]["reason"],
        )
        for kind, some in kinds.items()
    ]


def checks(record: Mapping[str, Any] | None, layer: int | None) -> Iterator[str]:
    """What the SCIP indexers did, or why they did not run."""
    for each in notes(record, layer):
        yield from wrapped(each, "  ")


def problems(name: str, reports: Sequence[FileReport]) -> Iterator[str]:
    """Every file of a repository that is missing from the graph, wholly or partly, and why."""
    if not reports:
        yield f"{name}: every file is in the graph."
        return
    files = _many(len(reports), "file")
    yield f"{name}: {files} not, or only in part, in the graph:"
    for each in reports:
        state = "skipped" if each.skipped else "in part"
        # A line break in a name would look like a separate line.
        yield f"  {state}  {_printable(each.path)}: {each.problem}"


def _printable(path: str) -> str:
    return path if path.isprintable() else path.encode("unicode_escape").decode("ascii")


def removed(name: str, rows: int) -> Iterator[str]:
    """That a repository is removed, and what happens to its data.

    Args:
        name: the repository's name.
        rows: how many rows are deleted already.
    """
    deleted = f" {_many(rows, 'row')} of it deleted." if rows else ""
    yield from wrapped(
        f"{name} is removed: nobody sees it any more.{deleted} Its vectors, and what else is left, "
        "the portal deletes within 24 hours."
    )


def stopped(name: str) -> Iterator[str]:
    """What happens to a repository whose first index was interrupted."""
    yield from wrapped(
        f"Stopped. {name} stays added: a portal that runs indexes it, and so does `porch codegraph "
        f"index {name}`. `porch codegraph remove {name}` takes it away."
    )


def next_steps(
    repository: Repository, example: str, url: str, *, first: bool = False
) -> Iterator[str]:
    """What to do after adding a repository.

    Args:
        repository: the repository.
        example: a function to ask about, or "".
        url: the portal's address for clients.
        first: whether it is the only repository.
    """
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
    if first:
        yield from wrapped(
            "A portal that runs lists the tools for code within some seconds, and tells clients "
            "that are connected; if yours does not show them then, connect it again."
        )
    yield from wrapped(_audience(repository))


def _audience(repository: Repository) -> str:
    """Who sees it, unless that is everyone who reaches the portal."""
    if repository.local:
        return (
            "It is seen by whoever reaches this portal, as long as the portal is for this machine "
            "alone; later by members."
        )
    if repository.tier is Tier.OPEN and not repository.groups:
        return ""
    groups = f" in {' or '.join(repository.groups)}" if repository.groups else ""
    seen = f"It is seen by callers of the tier {repository.tier.value}{groups}; tiers.yaml says who"
    if repository.tier_given or repository.groups:
        return f"{seen} has which tier."
    return (
        f"{seen} has which tier. Removed, and added again with --tier open, it is seen by whoever "
        "reaches the portal."
    )


def table(repositories: Sequence[Repository]) -> Iterator[str]:
    """The repositories, one per line."""
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
        yield from wrapped(state, "  ")
        yield from checks(each.scip, each.layer)


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def wrapped(text: str, indent: str = "") -> list[str]:
    """A text as lines that fit the terminal, without breaking paths."""
    columns = shutil.get_terminal_size((MAX_WIDTH, 24)).columns
    return textwrap.wrap(
        text,
        max(min(columns, MAX_WIDTH), 20) - 1,
        initial_indent=indent,
        subsequent_indent=indent or "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
