"""How far a command is on one repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.toolkit.progress_bar import progress_bar
from plugins.codegraph.repositories.build import Progress

_COUNTS = re.compile(r"\s*\d[\d,]* of \d[\d,]*( files)?")
"""What an indexer's message says of counts, which stand beside the bar."""


@contextmanager
def shown(name: str, echo: Callable[[str], None] | None) -> Iterator[Progress]:
    """Show the progress on one repository, for as long as the block lasts.

    Args:
        name: the repository's name.
        echo: where lines go if standard error is no terminal; None for nowhere.
    """
    with progress_bar(echo, unit="files") as tell:

        def progress(done: int, total: int, message: str) -> None:
            phase = _COUNTS.sub("", message).strip()
            tell(f"{name}: {phase}" if phase else "", done, total)

        yield progress
