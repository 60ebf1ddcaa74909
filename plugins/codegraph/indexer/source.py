"""The input and the result of an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gateway.contract import ContentScrub
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph


@dataclass(frozen=True, slots=True)
class Source:
    """A repository, and where its files are.

    Attributes:
        org, repo: its organisation, and its id.
        root: the directory with its files.
        scrub: removes secrets from texts before anything is stored.
    """

    org: str
    repo: str
    root: Path
    scrub: ContentScrub = field(default_factory=ContentScrub)

    @property
    def owner(self) -> Owner:
        """The owner of its rows."""
        return Owner(self.org, self.repo)


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of an index.

    Attributes:
        layer: the layer that is served now, or the overlay's.
        full: whether a new layer was built, rather than the served one changed.
        files, lines: how many the change concerned; all, for a full index.
        parsed: how many files were read.
        linked: how many files were linked.
        skipped: files that are not in the graph.
        problems: files that are only partly in it.
        gone: files that no longer exist.
    """

    layer: int
    full: bool
    files: int = 0
    lines: int = 0
    parsed: int = 0
    linked: int = 0
    skipped: int = 0
    problems: int = 0
    gone: int = 0


def counted(
    layer: int, files: Iterable[FileGraph], *, parsed: int, linked: int, full: bool = True
) -> Summary:
    """A summary over some files."""
    reports = [each.report for each in files]
    shown = [each for each in reports if not each.skipped]
    return Summary(
        layer=layer,
        full=full,
        files=len(shown),
        lines=sum(each.lines for each in shown),
        parsed=parsed,
        linked=linked,
        skipped=len(reports) - len(shown),
        problems=sum(bool(each.problem) for each in shown),
    )
