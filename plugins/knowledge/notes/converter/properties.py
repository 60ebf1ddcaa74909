"""What a document says about itself beside its text, as the frontmatter of a note."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MAX_CHARACTERS = 300
"""The longest value that is taken."""

_SHOWN = {code: None for code in range(32) if chr(code) not in "\t\n\r"} | {
    code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)
}
"""Without signs that control something; those above ASCII were meant as Windows has them."""
_DAY = re.compile(r"(?:D:)?(\d{4})-?(\d{2})-?(\d{2})(?!\d{7})")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,2}")
_NO_TITLE = re.compile(
    r"untitled.*|unspecified|\(?anonymous\)?|microsoft word - .*|(?:word )?document ?\d*"
    r"|.*\.(?:docx?|odt|rtf|pdf|indd|tex|dvi|html?|pptx?|xlsx?)",
    re.IGNORECASE,
)
"""What programs write as a title where the author names none."""
_NO_AUTHORS = frozenset({"anonymous", "(anonymous)", "unspecified", "unknown", "python-docx"})


@dataclass(frozen=True, slots=True)
class Properties:
    """What a document says about itself, as it is written there.

    Attributes:
        title: its title.
        date: when it was published or last written, in a form that begins with the day.
        language: the code of its language.
        authors: who wrote it.
    """

    title: str = ""
    date: str = ""
    language: str = ""
    authors: Sequence[str] = ()

    def with_text(self, text: str) -> str:
        """The text below a frontmatter of all that is worth being told.

        There always is one, so that nothing in the text itself can be taken for it.
        """
        authors = [name for one in self.authors if (name := _authors(one))]
        said = {
            "title": _title(self.title),
            "date": _day(self.date),
            "lang": found[0] if (found := _LANGUAGE.fullmatch(self.language.strip())) else "",
            "author": authors[:20],
        }
        lines = [f"{name}: {_written(value)}" for name, value in said.items() if value]
        return "\n".join(["---", *lines, "---", "", text.translate(_SHOWN).strip(), ""])


def _title(written: str) -> str:
    title = _tidy(written)
    return "" if _NO_TITLE.fullmatch(title) else title


def _authors(written: str) -> str:
    name = _tidy(written)
    return "" if name.lower() in _NO_AUTHORS else name


def _tidy(written: str) -> str:
    return " ".join(written.translate(_SHOWN).split())[:MAX_CHARACTERS]


def _day(written: str) -> str:
    """The day that a date begins with, unless there is no such day yet."""
    if (found := _DAY.match(written.strip())) is None:
        return ""
    try:
        day = datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return ""
    return f"{day:%Y-%m-%d}" if day <= datetime.now(UTC) + timedelta(days=1) else ""


def _written(value: object) -> str:
    """A value in YAML, of which JSON is a part; all but ASCII that can be printed is escaped."""
    return json.dumps(value)
