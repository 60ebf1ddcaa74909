"""Tables as CSV (RFC 4180) that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet runs (OWASP, "CSV Injection")."""


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as the lines of a CSV file: times in ISO 8601, what is missing as an empty cell."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows([_cell(each) for each in row] for row in rows)
    return buffer.getvalue()


def _cell(value: object) -> str:
    """A cell that no spreadsheet takes for a formula; a number stays one."""
    if isinstance(value, datetime):
        return value.isoformat()
    text = "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text
