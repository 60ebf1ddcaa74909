"""A form that comes back as it was sent: what somebody typed is not lost where a tool refuses it.

A page is drawn anew, as it is now, and the form on it that was sent is filled in again. The markup
is that of the portal's own templates, which escape everything, so that no text looks like a tag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from html.parser import HTMLParser

Attributes = list[tuple[str, str | None]]
_FORM = re.compile(r"<form\b[^>]*>.*?</form>", re.DOTALL)
_DETAILS = re.compile(r"<(/?)details\b([^>]*)>")
_TICKED = frozenset({"checkbox", "radio"})
_ALERT = '<div class="notice error" role="alert" tabindex="-1" autofocus><p>{}</p></div>'
"""Browsers go to it, wherever on the page the form stands."""


def refilled(html: str, sent: Mapping[str, Sequence[str]], about: str, refusal: str) -> str | None:
    """A page on which a form has what was typed into it, and why it was not done.

    Args:
        html: the page, as it is now.
        sent: the fields of the form, with what was typed.
        about: what the form was about, which its hidden field ``request`` says.
        refusal: why it was not done, as text.

    Returns:
        It; None where the page has no such form any more.
    """
    found = [(each, _Fields.of(each[0])) for each in _FORM.finditer(html)]
    alike = [
        (sum(sent.get(name) == [value] for name, value in known.hidden.items()), place)
        for place, known in found
        if known.hidden.get("request") == about and known.names.issuperset(sent)
    ]
    if not alike:
        return None
    _, place = max(alike, key=lambda each: each[0])
    form = _Filled(sent, _ALERT.format(escape(refusal))).of(place[0])
    return _opened(html[: place.start()]) + form + html[place.end() :]


def _opened(before: str) -> str:
    """What stands before a form, with the box open that the form is in."""
    tags = list(_DETAILS.finditer(before))
    if not tags or tags[-1][1] or re.search(r"\bopen\b", tags[-1][2]):
        return before
    at = tags[-1].start() + len("<details")
    return f"{before[:at]} open{before[at:]}"


class _Fields(HTMLParser):
    """The names of a form's fields, and the values of its hidden ones."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.hidden: dict[str, str] = {}

    @classmethod
    def of(cls, form: str) -> _Fields:
        """Those of a form."""
        made = cls()
        made.feed(form)
        return made

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        has = dict(attrs)
        if name := has.get("name"):
            self.names.add(name)
            if tag == "input" and has.get("type") == "hidden":
                self.hidden[name] = has.get("value") or ""


class _Filled(HTMLParser):
    """Writes a form anew, filled in; what is hidden stays as the page has it now."""

    def __init__(self, sent: Mapping[str, Sequence[str]], alert: str) -> None:
        super().__init__(convert_charrefs=False)
        self._sent = {name: list(values) for name, values in sent.items()}
        self._alert = alert
        self._made: list[str] = []
        self._select = ""
        self._drops = False  # what a text field held before

    def of(self, form: str) -> str:
        """A form with what was sent."""
        self.feed(form)
        self.close()
        return "".join(self._made)

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        has = dict(attrs)
        name = has.get("name") or ""
        written = self.get_starttag_text() or ""
        if tag == "form":
            written += self._alert
        elif tag == "input":
            written = self._input(name, attrs, written)
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._sent.get(self._select) and "value" in has:
            chosen = has["value"] in self._sent[self._select]
            written = _tag(tag, attrs, "selected", "" if chosen else None)
        self._made.append(written)
        if tag == "textarea" and self._sent.get(name):
            self._made.append("\n" + escape(self._sent[name].pop(0)))  # browsers drop the first \n
            self._drops = True

    def _input(self, name: str, attrs: Attributes, written: str) -> str:
        has = dict(attrs)
        kind = has.get("type") or "text"
        if kind in _TICKED:
            ticked = (has.get("value") or "on") in self._sent.get(name, ())
            return _tag("input", attrs, "checked", "" if ticked else None)
        if kind == "hidden" or not self._sent.get(name):
            return written
        return _tag("input", attrs, "value", self._sent[name].pop(0))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._drops = False
        elif tag == "select":
            self._select = ""
        self._made.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._drops:
            self._made.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")


def _tag(tag: str, attrs: Attributes, name: str, value: str | None) -> str:
    """A tag with an attribute set to another value, or without it where that is None."""
    kept = [(key, old or "") for key, old in attrs if key != name]
    kept += [] if value is None else [(name, value)]
    said = "".join(f' {key}="{escape(old)}"' for key, old in kept)
    return f"<{tag}{said}>"
