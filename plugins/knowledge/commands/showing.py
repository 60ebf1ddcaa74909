"""How far a command is: a bar on a terminal, a line for each part of the work elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str, int, int], None]
"""``tell(what is done, done, total)``; a total of 0 is not known."""

_ROOM = 70
"""The least columns for a bar with its counts and the time."""


@contextmanager
def shown(echo: Callable[[str], None] | None) -> Iterator[Tell]:
    """Show the progress for as long as the block lasts.

    Args:
        echo: where lines go if standard error is no terminal; None for nowhere.
    """
    if not sys.stderr.isatty():
        yield _lines(echo)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    beside = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = beside if console.width >= _ROOM else beside[1:2]
    with Bar(TextColumn("{task.description}"), *columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None, description=escape(what))

        yield tell


def _lines(echo: Callable[[str], None] | None) -> Tell:
    last = ""

    def tell(what: str, done: int, total: int) -> None:
        nonlocal last
        if what != last and what and echo is not None:
            last = what
            echo(f"{what} ({total:,})" if total else what)

    return tell
