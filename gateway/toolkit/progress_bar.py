"""How far a command is: a bar on a terminal, a line for each part of the work elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

_MIN_COLUMNS = 70
"""The least columns for a bar with its counts and the time."""


class Tell(Protocol):
    """Says how far the work is."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show it.

        Args:
            what: what is done just now.
            done: how much of it.
            total: how much there is of it; 0 where that is not known.
        """
        ...


@contextmanager
def progress_bar(
    echo: Callable[[str], None] | None = None, *, unit: str = "", least: int = 0
) -> Iterator[Tell]:
    """Show how far the work is, on standard error, for as long as the block lasts.

    Args:
        echo: where a line for each part of the work goes if standard error is no terminal; None
            for nowhere.
        unit: what is counted, such as ``files``.
        least: from how much work on the bar is shown.
    """
    if not sys.stderr.isatty():
        yield _lines(echo, f" {unit}".rstrip())
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    counts = TextColumn("{task.fields[counts]}")
    # Where there is no room for all of them, how many are done says the most.
    beside = (
        (BarColumn(), counts, TimeElapsedColumn()) if console.width >= _MIN_COLUMNS else (counts,)
    )
    columns = (TextColumn("{task.description}"), *beside)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, visible=not least, counts="")

        def tell(what: str, done: int, total: int) -> None:
            counted = f"{done}/{total}" if total else f"{done} {unit}".rstrip()
            bar.update(
                task,
                completed=done,
                total=total or None,
                description=escape(what),
                visible=not least or total >= least,
                counts=counted,
            )

        yield tell


def _lines(echo: Callable[[str], None] | None, unit: str) -> Tell:
    last = ""

    def tell(what: str, done: int, total: int) -> None:
        nonlocal last
        if what and what != last and echo is not None:
            last = what
            echo(f"{what} ({total:,}{unit})" if total else what)

    return tell
