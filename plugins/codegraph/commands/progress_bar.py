"""A progress bar for a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.toolkit.progress_bar import progress_bar
from plugins.codegraph.repositories.build import Progress

_COUNTS = re.compile(r"\s*\d[\d,]* of \d[\d,]*( files)?")
"""The counts in an indexer's message, which the bar shows already."""


@contextmanager
def shown(name: str, echo: Callable[[str], None] | None) -> Iterator[Progress]:
    """Show the progress on one repository for the duration of the block.

    Args:
        name: the repository's name.
        echo: writes lines if standard error is not a terminal; None to write nothing.
    """
    with progress_bar(echo, unit="files") as tell:

        def progress(done: int, total: int, message: str) -> None:
            phase = _COUNTS.sub("", message).strip()
            tell(f"{name}: {phase}" if phase else "", done, total)

        yield progress
