"""PDF, DOCX, HTML and EPUB as Markdown, made in a child process.

What comes from outside may be made to harm: a few kilobytes that unpack to gigabytes, a page tree
that never ends. So a child with bounded memory and time reads it, and whatever becomes of the
child, the portal only has one document less.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO

from plugins.knowledge.notes.converter import program

SUFFIXES = tuple(program.MODULES)
"""How the names of the documents end that can be converted."""
_PAGES = (".html", ".htm")
KINDS = tuple(one[1:] for one in SUFFIXES if one != ".htm")
"""What an admin calls these; ``html`` is ``.htm``, too."""
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""The largest document that is converted."""
MAX_TEXT_BYTES = 5 * 1024 * 1024
"""The longest Markdown that may come of one."""
MEMORY_BYTES = 2 * 1024**3
"""How much address space a conversion may take; the libraries alone take about 1 GiB of it."""
CPU_S = 60
"""Seconds of processor time that a conversion may take."""
TIMEOUT_S = 600.0
"""Seconds after which it is ended, however little it computed, as on a machine that is busy."""

_KINDS = (
    (b"%PDF-", "a PDF", ".pdf"),
    (b"{\\rtf", "an RTF file", ""),
    *((sign, "a picture", "") for sign in (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")),
)
"""How files of each kind begin, what they are called, and their suffix if they are converted."""
_PACKED = (
    (b"word/document.xml", "a Word file", ".docx"),
    (b"META-INF/container.xml", "an EPUB", ".epub"),
    (b"xl/workbook.xml", "an Excel file", ""),
    (b"ppt/presentation.xml", "a PowerPoint file", ""),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file", ""),
)
"""What stands in archives of each kind, and the same of them."""
_PAGE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head)\b", re.IGNORECASE)
_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""How a text in UTF-16 begins, in which every other byte may be zero."""
_READ_BYTES = 64 * 1024
"""How much of what the converter says of a failure is read."""
_HEAD_BYTES = 64 * 1024
"""How much of a file tells what it is."""
_ARCHIVE = b"PK\3\4"
_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = ("PDFPasswordIncorrect", "PDFEncryptionError", "Encrypted(")
_TOO_MUCH = "needs more than {memory} MiB of memory or {cpu} s; it is not read. Export it anew."


class NotConverted(ValueError):
    """A document that gives no Markdown; the text says why, and what to do."""


def is_document(path: str) -> bool:
    """Whether a file is of a kind that is converted."""
    return PurePosixPath(path).suffix.lower() in SUFFIXES


def suffixes(asked: bool | Iterable[str]) -> tuple[str, ...]:
    """How the names of those documents end that a source has read.

    Args:
        asked: all or none, or some of :data:`KINDS`.
    """
    if isinstance(asked, bool):
        return SUFFIXES if asked else ()
    kinds = {*asked}
    return tuple(one for one in SUFFIXES if ("html" if one == ".htm" else one[1:]) in kinds)


def has_text(markdown: bytes) -> bool:
    """Whether a converted document says more than its title; a scan that nobody has read does not.

    Args:
        markdown: what :func:`convert` has made of it.
    """
    title, _, rest = markdown.partition(b"\n---\n")[2].strip().partition(b"\n")
    return bool(rest.strip()) or not (title == b"" or title.startswith(b"# "))


def is_available() -> bool:
    """Whether the converter is installed."""
    return find_spec("pdfplumber") is not None


def convert(data: bytes, path: str) -> bytes:
    """Make Markdown of a document; blocks, for seconds.

    Args:
        data: the document.
        path: its path, whose suffix says what it is.

    Raises:
        NotConverted: it cannot be read, is too much, or nothing is installed that reads it.
    """
    if not is_available():
        raise NotConverted(
            "needs a converter, which is not installed; run `make documents`, or install "
            "'porch[documents]'"
        )
    if not data:
        raise NotConverted("is empty; export it anew, or delete it")
    if _suffix(path) in _PAGES and (other := _other_kind(data, _suffix(path))):
        raise NotConverted(other)  # of a page everything is read as text
    limits = [str(each) for each in (MEMORY_BYTES, CPU_S, MAX_TEXT_BYTES)]
    command = [sys.executable, "-I", str(Path(program.__file__)), _suffix(path), *limits]
    # One thread: each further one would take address space of its own.
    environment = {"PATH": os.defpath, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # Of a pipe the portal would hold all that comes; the child may write so much to a file only.
    with tempfile.TemporaryFile() as said:
        try:
            done = subprocess.run(  # noqa: S603  (our own program)
                command,
                input=data,
                stdout=subprocess.PIPE,
                stderr=said,
                timeout=TIMEOUT_S,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotConverted(
                f"takes longer than {TIMEOUT_S:g} s to convert; it is not read. Split it"
            ) from None
        if done.returncode == 0:
            return done.stdout
        raise NotConverted(_reason(done.returncode, _end_of(said), data, _suffix(path)))


def _end_of(said: IO[bytes]) -> bytes:
    """The last that stands in a file."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - _READ_BYTES))
    return said.read()


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _reason(code: int, said: bytes, data: bytes, suffix: str) -> str:
    text = said.decode(errors="replace").strip()
    if code == program.TOO_LONG:
        return f"holds more than {MAX_TEXT_BYTES // 2**20} MiB of text; split it"
    if code in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGSEGV) or "MemoryError" in text:
        return _TOO_MUCH.format(memory=MEMORY_BYTES // 2**20, cpu=CPU_S)
    if any(sign in text for sign in _ENCRYPTED):
        return "is encrypted: save it without its password or copy protection"
    if other := _other_kind(data, suffix):
        return other
    last = text.splitlines()[-1] if text else f"the converter ended with {code}"
    return f"cannot be converted ({last[:200]}); export it anew"


def _other_kind(data: bytes, suffix: str) -> str:
    """What a file is that is not what its suffix says, or an empty text."""
    if data.startswith(_OLD_OFFICE):
        return "is encrypted, or of an old version of Word: save it anew as .docx without password"
    kind, named = _content_of(data, suffix)
    if not kind or suffix == named or (suffix in _PAGES and named in _PAGES):
        return ""
    what = f"rename it to {named}" if named else "export it as PDF, DOCX, HTML or EPUB"
    return f"is {kind} by its content: {what}"


def _content_of(data: bytes, suffix: str) -> tuple[str, str]:
    """What a file is by its content, and the suffix of such; empty texts where that is unclear."""
    if data.startswith(_ARCHIVE):
        unknown = ("", "") if suffix in (".docx", ".epub") else ("an archive", "")
        return next((each[1:] for each in _PACKED if each[0] in data), unknown)
    head = data[:_HEAD_BYTES].lstrip()
    if _PAGE.match(head):
        return "a web page", ".html"
    for sign, *kind in _KINDS:
        if head.startswith(sign):
            return kind[0], kind[1]
    is_binary = head.count(0) * 20 > len(head) and not head.startswith(_MARKS)
    return ("no text", "") if suffix in _PAGES and is_binary else ("", "")
