"""How far a command is: a bar on a terminal, a line for each part of the work elsewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from plugins.codegraph.repositories.making import Progress

_ROOM = 70
"""The least columns for a bar with its counts and the time."""
_COUNTS = re.compile(r"\s*\d[\d,]* of \d[\d,]*( files)?")


@contextmanager
def shown(name: str, echo: Callable[[str], None] | None) -> Iterator[Progress]:
    """Show the progress on one repository, for as long as the block lasts.

    Args:
        name: the repository's name.
        echo: where lines go if standard error is no terminal; None for nowhere.
    """
    if not sys.stderr.isatty():
        yield _lines(name, echo)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    beside = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Where there is no room for all of them, how many are done says the most.
    columns = beside if console.width >= _ROOM else beside[1:2]
    with Bar(TextColumn("{task.description}"), *columns, console=console, transient=True) as bar:
        task = bar.add_task(escape(name), total=None)

        def tell(done: int, total: int, message: str) -> None:
            said = escape(f"{name}: {_phase(message)}")
            bar.update(task, completed=done, total=total or None, description=said)

        yield tell


def _lines(name: str, echo: Callable[[str], None] | None) -> Progress:
    last = ""

    def tell(done: int, total: int, message: str) -> None:
        nonlocal last
        phase = _phase(message)
        if phase != last and phase and echo is not None:
            last = phase
            echo(f"{name}: {phase}" + (f" ({total:,} files)" if total else ""))

    return tell


def _phase(message: str) -> str:
    """What is done, without the counts that stand beside the bar."""
    return _COUNTS.sub("", message).strip()
