"""Which language a text is in, as far as a stemmer has to know.

By its script where that decides; else by the words that every sentence of a language has. A text
of which neither says anything counts as English, as does one in a language without a stemmer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

DEFAULT = "en"

STEMMERS: Mapping[str, str] = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""The Snowball stemmer of each language, by its code in ISO 639-1."""

SAMPLE_CHARACTERS = 4000
"""Characters of a text's beginning that are looked at."""
_MIN_SHARE = 0.1
"""The share of a text's words that has to be common words of a language."""

_SCRIPTS = (
    ("ar", re.compile("[\u0620-\u064a]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
)
_COMMON: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "da": "og i jeg det at en den til er som p\u00e5 de med han af for ikke der var mig",
        "de": "der die und in den von zu das mit sich des auf f\u00fcr ist im dem nicht ein eine",
        "en": "the of and to in a is that for it was on are as with be this by from you",
        "es": "de la que el en y a los del se las por un para con no una su al lo",
        "fi": "ja on ei se ett\u00e4 oli h\u00e4n mutta ovat kun niin my\u00f6s tai jos joka",
        "fr": "de la le et les des en un du une que est pour qui dans par plus pas au sur",
        "hu": "a az \u00e9s hogy nem is egy ez meg csak van volt mint de ha",
        "it": "di e il la che in a per un del non sono una con le si da i al dei",
        "nl": "de van het een en in is dat op te zijn met voor niet aan er die om ook als",
        "no": "og i jeg det at en den til er som p\u00e5 de med av for ikke der var meg seg",
        "pt": "de a o que e do da em um para com n\u00e3o uma os no se na por mais as",
        "ro": "de \u0219i \u00een a la cu pe care nu un o din este se pentru mai ce",
        "sv": "och i att det som en p\u00e5 \u00e4r av f\u00f6r med till den har de inte om ett",
        "tr": "ve bir bu da de i\u00e7in ile \u00e7ok ne daha gibi olarak var o ama",
    }.items()
}
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str, stated: object = None) -> str:
    """The code of a text's language, one of :data:`STEMMERS`.

    Args:
        text: the text; its beginning is looked at.
        stated: what its author says, such as ``es``, ``pt-BR`` or ``French``; anything that names
            no language here is as if nothing was said.
    """
    if isinstance(stated, str) and (code := _code(stated)):
        return code
    sample = text[:SAMPLE_CHARACTERS].lower()
    for code, script in _SCRIPTS:
        if len(script.findall(sample)) * 2 > len(_letters(sample)):
            return code
    words = _WORD.findall(sample)
    if not words:
        return DEFAULT
    # Of equals the first wins, and English before all.
    order = sorted(_COMMON, key=lambda code: code != DEFAULT)
    share, best = max(
        ((sum(word in _COMMON[code] for word in words) / len(words), code) for code in order),
        key=lambda one: one[0],
    )
    return best if share >= _MIN_SHARE else DEFAULT


def _code(stated: str) -> str | None:
    word = stated.strip().lower()
    named = {name: code for code, name in STEMMERS.items()}
    code = named.get(word, re.split(r"[-_]", word)[0])
    code = {"nb": "no", "nn": "no"}.get(code, code)
    return code if code in STEMMERS else None


def _letters(text: str) -> list[str]:
    return [one for one in text if one.isalpha()]
