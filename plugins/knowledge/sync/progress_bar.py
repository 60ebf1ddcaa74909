"""How far a sync has come with indexing: a bar on a terminal, lines in a log elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plugins.knowledge.sync.progress import Progress
from plugins.knowledge.sync.transfer import OnDocuments

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

LOG_INTERVAL_S = 5.0
MIN_DOCUMENTS = 10
"""No progress is shown for fewer documents: they are indexed before anybody could read it."""


@contextmanager
def progress_bar(log: FilteringBoundLogger, progress: Progress) -> Iterator[OnDocuments]:
    """Show the progress of one sync, for as long as the block lasts.

    Args:
        log: where lines go if standard error is no terminal.
        progress: is told of it too; where it shows it to somebody, nothing else does.
    """
    if progress.is_shown:
        yield lambda done, total: progress.at("Indexing", done, total)
        return
    if not sys.stderr.isatty():
        say = _log_lines(log)

        def noted(done: int, total: int) -> None:
            progress.at("Indexing", done, total)
            say(done, total)

        yield noted
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = ("Indexing", BarColumn(), MofNCompleteColumn(), "documents", TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=None, visible=False)

        def tell(done: int, total: int) -> None:
            progress.at("Indexing", done, total)
            bar.update(task, completed=done, total=total, visible=total > MIN_DOCUMENTS)

        yield tell


def _log_lines(log: FilteringBoundLogger) -> OnDocuments:
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if total > MIN_DOCUMENTS and (done == 0 or time.monotonic() - last > LOG_INTERVAL_S):
            last = time.monotonic()
            log.info("indexing", done=done, total=total)

    return tell
