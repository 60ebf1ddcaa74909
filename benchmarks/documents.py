"""Writes what one run measured into ``docs/benchmarks.md``, and eight figures into the README."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.table import Row, Unmeasurable, machine, markdown

ROOT = Path(__file__).parents[1]
TABLE, README = Path("docs/benchmarks.md"), Path("README.md")
FIGURES = (
    "Porch, everything on, modern at 32",
    "Porch's calls/s over bare mcp server's, modern at 32",
    "Porch's calls/s over bare mcp server's, legacy at 32",
    "what the portal's own access token (JWT) adds to a call, p50",
    "from spawn to the first right answer, warm, civic-kb",
    "memory after a warm start and 100 searches",
    "search_knowledge at 10,000 documents, p50",
    "push of one changed note, searchable",
)
"""The rows that the README shows, in its order."""
BEGIN = "<!-- measured: written by `make bench ARGS=--readme` -->\n"
END = "<!-- /measured -->"


def write(rows: Sequence[Row], left_out: Sequence[str] = (), root: Path = ROOT) -> None:
    """Put the rows of one whole run into both documents.

    Args:
        rows: what was measured.
        left_out: the sections that gave none, which the page names.
        root: the checkout whose documents are written.

    Raises:
        Unmeasurable: a figure of the README is not among them; nothing is written.
        ValueError: two rows have the name of one of them.
    """
    measured = {row.what: row for row in rows}
    counts = Counter(row.what for row in rows)
    if twice := [what for what in FIGURES if counts[what] > 1]:
        raise ValueError(f"Two rows have one name: {twice}")
    if missing := [what for what in FIGURES if what not in measured]:
        raise Unmeasurable(f"The documents stay as they are, as this was not measured: {missing}")
    where = f"Measured in one run on {machine()}, at commit {_commit(root)}."
    if left_out:
        where += f" Not measured in it: {', '.join(left_out)}."
    headlines = [row for row in rows if row.headline]
    _replace(root / TABLE, f"{markdown(headlines)}\n\n{where}\n")
    _replace(root / README, f"{markdown([measured[what] for what in FIGURES])}\n")


def _replace(path: Path, text: str) -> None:
    before, _, rest = path.read_text().partition(BEGIN)
    path.write_text(before + BEGIN + text + END + rest.partition(END)[2])


def _commit(root: Path) -> str:
    told = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(told, cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
