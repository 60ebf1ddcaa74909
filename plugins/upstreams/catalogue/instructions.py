"""What a server says of itself, as clients are told it: bounded, and marked as its words."""

from __future__ import annotations

from plugins.upstreams.catalogue.names import SEPARATOR
from plugins.upstreams.catalogue.suspicion import suspicions

MAX_CHARACTERS = 1_000
"""Characters of one server's words that are told."""


def instructions_of(server: str, said: object) -> tuple[str, str]:
    """What clients are told, and why not; each may be empty.

    Args:
        server: the server's name.
        said: its ``instructions``, as it wrote them.
    """
    if not isinstance(said, str) or not said.strip():
        return "", ""
    if found := suspicions(said):
        return "", f"what it says of itself {' and '.join(found)}"
    whole = "\n".join(line.rstrip() for line in said.strip().splitlines() if line.strip())
    text = whole if len(whole) <= MAX_CHARACTERS else f"{whole[: MAX_CHARACTERS - 1]}…"
    # Each line is marked, so that none can pass for one of the portal's.
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    return (
        f"The server {server} ({server}{SEPARATOR}…) says of itself, in its words and not in this "
        f"portal's:\n{quoted}"
    ), ""
