"""Days and months with their year, as languages write them: ``10. April 2024``, ``2024年4月``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from gateway.toolkit.words import unmarked

_NAMES = """
    january february march april may june july august september october november december
    januar februar märz april mai juni juli august september oktober november dezember
    januari februari maart april mei juni juli augustus september oktober november december
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре
"""
"""Months in the forms in which dates have them, a language in each line."""
_MONTHS = {
    unmarked(name): number
    for line in _NAMES.split("\n")
    for number, name in enumerate(line.split(), 1)
}
_NAMED = rf"\b(?P<name>{'|'.join(_MONTHS)})\b"
_MAY_HAVE_YEAR = re.compile(r"(?:19|20)[0-9]{2}|[^\x00-\x7f]")
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_DAY = r"(?<!\d)(?P<day>\d\d?)"
_AFTER = r"(?:st|nd|rd|th|er|\.)?"
_KOREAN = {sign: unmarked(sign) for sign in "년월일"}
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?:{_DAY}{_AFTER} ?(?:of |de )?)?{_NAMED},? ?(?:of |de |del )?{_YEAR}",
        rf"{_NAMED} {_DAY}{_AFTER},? {_YEAR}",
        rf"{_DAY}\. ?(?P<month>\d\d?)\. ?{_YEAR}",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sign>[-_.]?)(?P<month>\d\d)(?P=sign)(?P<day>\d\d)(?!\d)",
        rf"(?<![\d-]){_YEAR}-(?P<month>\d\d)(?P<day>)(?![\d-])",
        rf"{_YEAR} ?(?:年|{_KOREAN['년']}) ?(?P<month>\d\d?) ?(?:月|{_KOREAN['월']})"
        rf"(?: ?(?P<day>\d\d?) ?(?:日|{_KOREAN['일']}))?",
    )
)


def written_days(text: str) -> Iterator[str]:
    """The days of a text, as ``2024-04-10``, and its months without a day, as ``2024-04``."""
    if not _MAY_HAVE_YEAR.search(text):  # quick, and nearly always the answer
        return
    said = unmarked(text)
    for form in _FORMS:
        yield from filter(None, map(_day, form.finditer(said)))


def written_day(text: str) -> str | None:
    """The day that a text is, and nothing else."""
    said = unmarked(text.strip())
    found = filter(None, (form.fullmatch(said) for form in _FORMS))
    return next((day for each in found if each["day"] and (day := _day(each))), None)


def _day(found: re.Match[str]) -> str | None:
    """The day or month of a match; None where the calendar has none such."""
    fields = found.groupdict()
    month = _MONTHS[fields["name"]] if fields.get("name") else int(fields["month"])
    day = fields.get("day")
    try:
        when = date(int(fields["year"]), month, int(day or 1)).isoformat()
    except ValueError:
        return None
    return when if day else month_of(when)


def month_of(day: str) -> str:
    """The month of a day, both in these forms."""
    return day[: len("2024-04")]
