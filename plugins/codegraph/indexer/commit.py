"""What Git says of the commit that is indexed."""

from __future__ import annotations

from plugins.codegraph.git.command import GitFailed, git
from plugins.codegraph.indexer.scan import Scan
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.store.layers import Stamp

MAX_SUBJECT, MAX_AUTHOR = 200, 100
"""The most characters of a commit's first line, and of its author's name."""


async def stamped(source: Source, scan: Scan) -> Stamp:
    """What a layer of the scanned files reflects, with the author and subject of the commit.

    They are text of the repository like any other: secrets are taken out.
    """
    author, subject = await _said(source, scan.commit) if scan.commit else ("", "")
    return Stamp(scan.commit, scan.branch, author=author, subject=subject)


async def _said(source: Source, commit: str) -> tuple[str, str]:
    try:
        data = await git(source.root, "cat-file", "commit", commit)
    except (GitFailed, OSError):
        return "", ""  # the index needs neither
    head, _, message = data.decode("utf-8", "replace").replace("\0", "").partition("\n\n")
    lines = head.split("\n")
    name = next((line[len("author ") :] for line in lines if line.startswith("author ")), "")
    author = name.partition(" <")[0].strip()[:MAX_AUTHOR]
    subject = next((line.strip() for line in message.split("\n") if line.strip()), "")
    cleaned, _ = source.scrub.text(subject)
    return author, cleaned[:MAX_SUBJECT]
