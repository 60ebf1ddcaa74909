"""Numbers that documents go by: ``EIP-1559``, ``RFC 7519``, ``ADR 12``, and versions: ``3.12``.

Proposals, decisions and standards are asked for by their number, and are titled by what they say:
the number may stand in the name of their file alone, and its kind in that of the folder, as in
``decisions/0012-one-database.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.word_forms import singular

_FIGURE = re.compile(r"\d")
_FIGURES = r"0*(?P<number>\d{1,6})(?![^\W_]|[./-]\d)"
"""A number that no date and no version goes on: ``notes-2024-05-01``, ``release 1.2``."""
_NUMBER = re.compile(rf"(?<![^\W_])(?P<kind>[^\W\d_]{{2,12}})[ _#-]{{0,2}}{_FIGURES}")
_VERSION = re.compile(
    r"(?<![^\W_])(?<!\d\.)v?(?P<version>\d{1,4}(?:\.\d{1,4}){1,3})(?![^\W_]|\.\d)"
)
_BARE = re.compile(_FIGURES)
_ALSO = {"decision": "adr", "adr": "decision"}
"""Other names of a folder's documents: architecture decision records are called both."""


def numbers(text: str) -> set[str]:
    """The numbers that a text names, in the form for comparing.

    ``EIP-1559``, ``eip 1559`` and ``EIPs01559`` have one form, and so have ``3.12`` and ``v3.12``.
    """
    named = {_form(found["kind"], found["number"]) for found in _NUMBER.finditer(text)}
    return named.union(_versions(text))


def _versions(text: str) -> Iterator[str]:
    return (f"v {found['version']}" for found in _VERSION.finditer(text.lower()))


def numbers_of(entry: DocumentEntry) -> Iterator[str]:
    """The numbers that a document goes by: those with which a name of it or its file begins.

    A version counts wherever it stands in them: "What is new in 3.12".
    """
    names = (one_line(entry.title), *entry.aliases, file_name(entry.path))
    if not (called := [name for name in names if _FIGURE.search(name)]):
        return
    found = (_NUMBER.match(name.strip("# ")) for name in called)
    yield from (_form(each["kind"], each["number"]) for each in found if each)
    yield from _in_folder(entry.path)
    for name in called:
        yield from _versions(name)


def file_name(path: str) -> str:
    """The name of the file at a path, without its ending."""
    file = path.rpartition("/")[2]
    return file.rpartition(".")[0] or file


def _in_folder(path: str) -> Iterator[str]:
    """The number of a file that has its kind from the folder it is in."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    found, kind = _BARE.match(file_name(path)), singular(folder.casefold())
    if found and kind:
        yield _form(kind, found["number"])
        if kind in _ALSO:
            yield _form(_ALSO[kind], found["number"])


def _form(kind: str, number: str) -> str:
    return f"{singular(kind.casefold())} {number}"
