"""Questions in another language than the model's.

An English model knows hardly a word of them: it finds all texts of such a language near, whatever
they are about. So what it says of these counts in full where a word stands in both. Of texts in
letters that it cannot read it says nothing at all, nor of any text where these are the question's.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.contract import Hit
from gateway.toolkit.function_words import FUNCTION_WORDS, told_language
from gateway.toolkit.languages import DEFAULT, language_of
from gateway.toolkit.words import STOP_WORDS, terms, unmarked
from plugins.knowledge.retrieval.readable import is_latin, reads_english_alone
from plugins.knowledge.retrieval.relevance import text_of

W_UNSHARED = 0.3
"""What a cosine counts between texts that share no word: too little to reach a floor."""
MIN_PART_CHARACTERS = 4
"""Characters of the shortest stem that may stand inside of a word, as in "Mitgliedsbeitrag"."""
NOTE = (
    "This portal's embedding model reads English alone. For English texts ask in English; a text "
    "in another language answers where it shares a word with the question."
)
_HAN = re.compile(r"[\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
_TWO_HAN = re.compile(rf"{_HAN.pattern}{{2}}")
_WORD = re.compile(r"[^\W_]+")


def stop_words_of(foreign: ForeignQuestion | None, unread: str = "") -> frozenset[str]:
    """The words of a question that tell nothing of what it is about.

    Args:
        foreign: the question, where it is in another language than the model's.
        unread: the question, where the model cannot read it, so that its words alone are compared.
    """
    if foreign is not None:
        return foreign.stop_words
    return STOP_WORDS | FUNCTION_WORDS[told_language(unread) or DEFAULT]


@dataclass(frozen=True, slots=True)
class ForeignQuestion:
    """A question in another language.

    Attributes:
        stop_words: the words that tell nothing of what it is about.
        parts: the other ones, without their endings, which may stand inside of a word.
        whole: those that are too short for that.
        is_read: whether the model can read its letters.
    """

    stop_words: frozenset[str]
    parts: frozenset[str]
    whole: frozenset[str]
    is_read: bool = True

    @classmethod
    def of(cls, model: str, question: str) -> ForeignQuestion | None:
        """The question, where it is one; None too where its language is not known.

        Args:
            model: the model's name.
            question: in natural language.
        """
        if not reads_english_alone(model):
            return None
        if not is_latin(question):
            return cls._in_other_letters(question)
        language = told_language(question)
        if language in (None, DEFAULT):
            return None
        stop_words = STOP_WORDS | FUNCTION_WORDS[language]
        found = set()
        for word in _WORD.findall(unicodedata.normalize("NFC", question)):
            stems = terms(word, stop_words, language=language)
            if stems and (len(word) > 1 or word.isdigit()):
                is_short = len(stems[0]) < MIN_PART_CHARACTERS
                found.add(_plain(word) if is_short else stems[0])
        parts = frozenset(one for one in found if len(one) >= MIN_PART_CHARACTERS)
        return cls(stop_words, parts, frozenset(found) - parts) if found else None

    @classmethod
    def _in_other_letters(cls, question: str) -> ForeignQuestion | None:
        """A question in letters that the model cannot read."""
        found = set(terms(question, language=language_of(question)))
        parts = {one for one in found if len(one) > 2 or _TWO_HAN.fullmatch(one)}
        # Kana mostly join words: with a character beside them they tell something of last resort.
        parts = parts or {one for one in found if len(one) == 2 and _HAN.search(one)}
        if not parts:
            return None
        return cls(STOP_WORDS, frozenset(map(_plain, parts)), frozenset(), is_read=False)

    def weight(self, text: str, language: str = DEFAULT) -> float:
        """How much of its cosine a text is worth, 0 to 1.

        Args:
            text: what it says.
            language: its own, as far as it is known to be another than English.
        """
        own = told_language(text) if language == DEFAULT else language
        is_english = own in (None, DEFAULT) and self.is_read and is_latin(text)
        return 1.0 if is_english or self._shares_word(text) else W_UNSHARED

    def weighed(self, near: Sequence[Hit], about: Callable[[str], str]) -> list[Hit]:
        """Heads and passages with what their cosines are worth, best first.

        Args:
            near: with their texts and languages.
            about: what a document says of itself, by its key.
        """
        said, languages = defaultdict(list), {}
        for hit in near:
            key = hit.payload["key"]
            said[key].append(text_of(hit))
            languages[key] = hit.payload.get("language") or DEFAULT
        worth = {
            key: self.weight("\n".join((about(key), *said[key])), own)
            for key, own in languages.items()
        }
        counted = [Hit(one.id, one.score * worth[one.payload["key"]], one.payload) for one in near]
        return sorted(counted, key=lambda one: -one.score)

    def _shares_word(self, text: str) -> bool:
        plain = _plain(text)
        if any(one in plain for one in self.parts):
            return True
        return bool(self.whole) and not self.whole.isdisjoint(_WORD.findall(plain))


def _plain(text: str) -> str:
    """A text without case and marks, as stems are."""
    return unmarked(text).replace("\u00df", "ss")
