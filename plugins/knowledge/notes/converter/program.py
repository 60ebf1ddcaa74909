"""The program: it reads a document from its standard input and writes Markdown to its output.

It bounds its own memory, processor time and files before it looks at anything.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import resource
import sys
from collections.abc import Callable
from pathlib import Path

MODULES = {".pdf": "pdf", ".docx": "word", ".html": "web", ".htm": "web", ".epub": "books"}
"""The module that reads each kind of file."""
UNREADABLE, TOO_LONG = 1, 2
"""What the program ends with where it has no Markdown to give."""


def main(suffix: str, memory_bytes: int, seconds: int, text_bytes: int) -> int:
    """Convert; ends with one of the numbers above where the document gives no Markdown."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (text_bytes + 4096, text_bytes + 4096))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable(logging.CRITICAL)  # libraries warn of each fault, which may be millions
    data = sys.stdin.buffer.read()
    sys.path.append(str(Path(__file__).parents[4]))
    with contextlib.redirect_stdout(sys.stderr):
        module = importlib.import_module(f"plugins.knowledge.notes.converter.{MODULES[suffix]}")
        convert: Callable[[bytes], str] = module.convert
        try:
            text = convert(data).encode(errors="replace")
        except MemoryError:
            raise
        except Exception as error:  # each kind of file has errors of its own
            sys.stderr.write(f"{error!r:.500}\n{' '.join(str(error).split()):.200}")
            return UNREADABLE
    if len(text) > text_bytes:
        return TOO_LONG
    sys.stdout.buffer.write(text)
    return 0


if __name__ == "__main__":
    name, *limits = sys.argv[1:]
    sys.exit(main(name, *map(int, limits)))
