"""Document ids and the keys of the canonical store (specification, sections 4.1 and 4.2)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePosixPath

MAX_ID_BYTES = 235
"""A document is an object called by its id and ``.json``, and such a part has 240 at most."""
MAX_PATH_BYTES = 1000
"""A key has at most 1,024 bytes, with the prefix that the plugin's share of the store has."""
MAX_PART_BYTES = 240
"""What lies between two slashes of a key has at most so many bytes, as a file's name has."""
MANIFEST_KEY = "metadata/manifest.json"
CONTENT_PREFIX = "content/"
RAW_PREFIX = "raw/"
_ESCAPED = re.compile(r"%([0-9A-F]{2})")


class InvalidId(ValueError):
    """An id that cannot name a document; the text says why."""


def check_id(id: str) -> str:
    """Return the id if it can name a document.

    Raises:
        InvalidId: it is empty, longer than 235 bytes in UTF-8, or could leave its folder.
    """
    if not id or id.strip(" .") == "":
        raise InvalidId(f"the id {id!r} has no letters")
    if "/" in id or "\\" in id:
        raise InvalidId(f"the id {id[:80]!r} holds a path separator")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in id):
        raise InvalidId(f"the id {id[:80]!r} holds a control character")
    size = len(id.encode())
    if size > MAX_ID_BYTES:
        raise InvalidId(f"the id {id[:80]!r} is {size} bytes long; {MAX_ID_BYTES} is the limit")
    return id


def generate_id(path: str) -> str:
    """The id of the note at ``path``: its stem, or, for an index.md, its folder's name.

    Args:
        path: relative to the source, with ``/`` between its parts.

    Raises:
        InvalidId: the stem cannot be an id.
    """
    note = PurePosixPath(path)
    stem = note.stem
    if stem.lower() == "index" and note.parent.name:
        stem = note.parent.name
    return check_id(unicodedata.normalize("NFC", stem))


def path_id(path: str) -> str:
    """The id of a note by its whole path, for trees in which names come twice.

    ``guides/setup/index.md`` is ``guides.setup.index``. Where that is too long, its end stands
    for all of it, behind a digest.

    Args:
        path: relative to the source, with ``/`` between its parts.

    Raises:
        InvalidId: the path cannot be an id.
    """
    plain = unicodedata.normalize("NFC", str(PurePosixPath(path).with_suffix("")))
    whole = plain.replace("/", ".")
    if len(whole.encode()) <= MAX_ID_BYTES:
        return check_id(whole)
    digest = hashlib.blake2b(plain.encode(), digest_size=8).hexdigest()
    room = MAX_ID_BYTES - len(digest) - 1
    return check_id(f"{digest}.{whole.encode()[-room:].decode(errors='ignore')}")


def content_key(document: str) -> str:
    """The object key of a document, from its ``contentType/id``."""
    return f"{CONTENT_PREFIX}{document}.json"


def document_key(key: str) -> str:
    """A document's ``contentType/id``, from its object key."""
    return key.removeprefix(CONTENT_PREFIX).removesuffix(".json")


def raw_key(path: str) -> str:
    """The object key of a note's original markdown.

    Signs that an object store refuses in a key are written as ``%`` and their code.

    Raises:
        InvalidId: the path is longer than a key may be.
    """
    key = RAW_PREFIX + "".join(_escaped(character) for character in path)
    longest = max(len(part.encode()) for part in key.split("/"))
    if len(key.encode()) > MAX_PATH_BYTES or longest > MAX_PART_BYTES:
        raise InvalidId(
            f"the path is longer than {MAX_PATH_BYTES} bytes, or a part of it than {MAX_PART_BYTES}"
        )
    return key


def raw_path(key: str) -> str:
    """The path of the note whose original has an object key; what :func:`raw_key` has escaped."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), key.removeprefix(RAW_PREFIX))


def _escaped(character: str) -> str:
    special = character in "#%" or unicodedata.category(character) == "Cc"
    return f"%{ord(character):02X}" if special else character
