"""The program that makes Markdown of one document, in a process of its own (``conversion.py``).

It reads the document from its standard input and writes the Markdown to its output. It bounds its
own memory, processor time and files before it looks at anything.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import resource
import sys

CONVERTERS = {
    ".pdf": "PdfConverter",
    ".docx": "DocxConverter",
    ".html": "HtmlConverter",
    ".htm": "HtmlConverter",
    ".epub": "EpubConverter",
}
"""What markitdown calls the converter of each kind of file."""


def main(suffix: str, memory_bytes: int, seconds: int, text_bytes: int) -> int:
    """Convert; 1 where the document cannot be read, 2 where the text is too long."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (text_bytes + 4096, text_bytes + 4096))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    data = io.BytesIO(sys.stdin.buffer.read())
    with contextlib.redirect_stdout(sys.stderr):
        library = importlib.import_module("markitdown")
        converters = importlib.import_module("markitdown.converters")
        about = library.StreamInfo(extension=suffix)
        try:
            made = getattr(converters, CONVERTERS[suffix])().convert(data, about)
        except MemoryError:
            raise
        except Exception as error:  # each kind of file has errors of its own
            sys.stderr.write(f"{type(error).__name__}: {error}"[:500])
            return 1
    title = " ".join((made.title or "").split())
    text = made.markdown.encode(errors="replace")
    if title and not text.lstrip().startswith(b"# "):
        text = f"# {title}\n\n".encode() + text
    if len(text) > text_bytes:
        return 2
    sys.stdout.buffer.write(text)
    return 0


if __name__ == "__main__":
    name, *limits = sys.argv[1:]
    sys.exit(main(name, *map(int, limits)))
