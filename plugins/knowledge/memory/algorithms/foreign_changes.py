"""Whether a text that is not English says that something has changed which an earlier one says.

No grammar is parsed here either. It takes a word of change ("jetzt", "ahora", "теперь"), and two
short texts that are one sentence but for a value: "Ich wohne in Hamburg" and "Ich wohne jetzt in
Berlin". What says it with other words is left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gateway.toolkit.function_words import FUNCTION_WORDS
from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.foreign import has_english

MAX_READ = 240
"""Characters of a text that is read; a longer one says several things."""
MIN_COSINE = 0.6
"""The cosine from which on two texts may be one sentence: a model for English finds all near."""
MIN_SHARED = 0.5
"""The share of the terms of the earlier text that the later one has to say again."""
MIN_DENIED = 0.6
"""The same where the later one says that it is so no longer."""
MIN_OF_ANOTHER = 2
"""Terms that entries of two people have to share: what each says of themselves is their own."""
MIN_PART = 3
"""Characters of a word that begins or ends a compound: "Torcode" and "Code"."""
_SELF, _US, _LIVES = "@self", "@us", "@lives"
_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")
_CHARACTER = re.compile(r"[\u3005-\u3007\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff]")
"""A character that is no kana but Katakana: these tell of a thing."""
_NUMBER = r"\d+|[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u4e07]+"
_POSSESSIVE = "\u7684\u306e"
"""What makes "I" "my" behind it."""
_KANA = re.compile(r"[\u3041-\u30ff]")


@dataclass(frozen=True, slots=True)
class _Language:
    """What tells a change in one language.

    Attributes:
        code: the language.
        change: words of change, which tell of no thing.
        ends: those of them that say that it is so no longer.
        moves: words that say that somebody lives elsewhere now.
        lives: words that say where somebody lives.
        plain: words that tell of no thing either.
        self: "I".
        us: "we".
        own: "my" and "our", and both of these.
    """

    code: str
    change: re.Pattern[str]
    ends: re.Pattern[str]
    moves: re.Pattern[str]
    lives: re.Pattern[str]
    plain: frozenset[str]
    self: frozenset[str]
    us: frozenset[str]
    own: frozenset[str]

    @property
    def is_spaced(self) -> bool:
        """Whether it writes spaces between words."""
        return self.code not in ("ja", "zh")


def _language(
    code: str, change: str, ends: str, moves: str, lives: str, *, plain: str = "", own: str = ""
) -> _Language:
    self, us, *more = (frozenset(each.split()) for each in own.split("|"))
    edge = "" if code in ("ja", "zh") else r"\b"

    def pattern(words: str) -> re.Pattern[str]:
        return re.compile(f"{edge}(?:{words}){edge}", re.IGNORECASE)

    return _Language(
        code,
        pattern(f"{ends}|{moves}|{change}"),
        pattern(ends),
        pattern(moves),
        pattern(lives),
        FUNCTION_WORDS.get(code, frozenset()).union(plain.split(), *more),
        self,
        us,
        self.union(us, *more),
    )


_LANGUAGES = (
    _language(
        "de",
        r"jetzt|nun|nunmehr|mittlerweile|inzwischen|neuerdings|künftig|ab sofort|von nun an|statt"
        r"|stattdessen|geändert|ändert sich|verschoben|verlegt|verlängert|erhöht|gesenkt"
        r"|steigt auf|sinkt auf|(?:ge)?wechselt(?: zu)?|ersetzt",
        r"nicht mehr|kein\w*(?=(?: \w+){0,3} mehr\b)",
        r"(?:um)?gezogen|ziehe um|zieht um|umziehe",
        r"wohn(?:e|t|en|te|ten)|leb(?:e|t|en|te|ten)",
        plain="bin ist sind hat habe haben wurde wird worden sich übrigens",
        own="ich mir mich|wir uns|mein meine meinem meinen meiner unser unsere unserem",
    ),
    _language(
        "es",
        r"ahora|actualmente|a partir de|en adelante|sube a|subió a|baja a|bajó a"
        r"|(?:se |ha |han )?cambi(?:ó|a|an|ado|aron)(?: a)?|aplazad[oa]|aplazó|pospuso"
        r"|traslad\w+|en lugar de|en vez de",
        r"ya no",
        r"(?:me |se |nos )?mud(?:é|ó|amos|ado)(?: a)?",
        r"viv(?:o|e|imos|en|ía)",
        plain="es son está están fue ha he se",
        own="yo|nosotros nosotras|mi mis me nuestra nuestro",
    ),
    _language(
        "fr",
        r"maintenant|désormais|dorénavant|à partir de|dès maintenant|pass(?:e|é|ée) à|au lieu de"
        r"|a changé|reportée?|repoussée?|déplacée?|augmentée?|remplacée?",
        r"n(?:e |['\u2019])(?:\w+ )?plus|plus (?=à\b|en\b|au\b)",
        r"(?:ai |a |avons )?(?:dé|em)ménagé(?: à)?",
        r"habit(?:e|es|ons|ent|ais)|vis|vit|vivons",
        plain="est sont a été j l d c s m qu",
        own="je j|nous|mon ma mes notre nos",
    ),
    _language(
        "it",
        r"ora|adesso|d['\u2019]ora in poi|da oggi|da ora|spostat[oa]|rinviat[oa]|passa a|sale a"
        r"|aumentat[oa]|cambiat[oa]|invece di|al posto di",
        r"non (?=\w+ più)|più|non più",
        r"trasferit[oaie]|traslocato",
        r"abit(?:o|a|iamo|ano)|viv(?:o|e|iamo|ono)",
        plain="è sono ho ha stata stato mi si",
        own="io|noi|mio mia miei nostra nostro",
    ),
    _language(
        "pt",
        r"agora|atualmente|a partir de|adiad[oa]|pass(?:a|ou) a|pass(?:a|ou) para|sobe para"
        r"|subiu para|aumentou|mudou para|em vez de|alterad[oa]",
        r"já não|não (?=\w+ mais)|mais$",
        r"(?:me )?mud(?:ei|ou|ámos|amos)(?: para| se)*",
        r"mor(?:o|a|amos|am)|viv(?:o|e|emos|em)",
        plain="é são foi está estão",
        own="eu|nós|meu minha nossa nosso",
    ),
    _language(
        "nl",
        r"nu|voortaan|vanaf nu|inmiddels|tegenwoordig|verzet|verplaatst|verhoogd|verlaagd"
        r"|veranderd|in plaats van|uitgesteld",
        r"niet meer|geen (?=\w+ meer)|meer$",
        r"verhuisd(?: naar)?",
        r"wo(?:on|ont|nen|onde)",
        plain="is zijn ben heb heeft wordt",
        own="ik|wij we|mijn ons onze",
    ),
    _language(
        "ru",
        r"теперь|сейчас|отныне|вместо|перенес\w+|перенос\w+|измен\w+|повы[сш]\w+|сни[зж]\w+|стал[аои]?",
        r"больше не|уже не",
        r"переехал[аи]?|переезжаю",
        r"жив(?:ут?|ет|ём|ем)|прожива\w+",
        plain="во на по до это был была было",
        own="я|мы|мой моя моё мне нам наш наша наше",
    ),
    _language(
        "ja",
        r"今は|今では|現在は?|今後は?|これから|もう|変更|変わり|変わった|変わって|移転|移り"
        r"|移った|延期|値上げ|値下げ|ではなく|になりました|になった",
        r"もう(?=.*(?:ない|ません))|なくなった|やめた|やめました",
        r"引っ?越し?|転居",
        r"住",
        own="私 僕 俺|私達 私たち 我々|",
    ),
    _language(
        "zh",
        r"现在|現在|如今|今后|从今以后|改为|改為|改成|改到|改在|变成|变为|變成|变更|推迟到?"
        r"|提前到?|涨到|涨价|降到|换成|換成",
        r"不再|已经不|已不",
        r"搬家|搬到|搬去|搬至|移居|迁到",
        r"住",
        plain="在 是 的 到 也 都 于 为 已 经 每 了",
        own="我|我们 我們 咱们|",
    ),
)


def change_in_words(new: str, old: str, cosine: float | None, *, one_owner: bool) -> str:
    """Why a text seems to replace an earlier one; "" where it does not.

    Args:
        new: the later text.
        old: the earlier one.
        cosine: of the two, or None where that is not known.
        one_owner: whether one person wrote both.
    """
    if max(len(new), len(old)) > MAX_READ or (cosine is not None and cosine < MIN_COSINE):
        return ""
    for language in _of_change(new):
        come, gone = _said(new, language), _said(old, language)
        if not come or not gone or has_english(old):
            continue
        shared = [term for term in gone if _is_among(term, come)]
        if not one_owner and not _may_be_of_one(new, old, shared, language):
            continue
        if language.ends.search(new) and not language.ends.search(old):
            if len(shared) >= MIN_DENIED * len(gone):
                return "one says what the other denies"
            continue
        if _is_one_sentence(come, gone, shared, language):
            return "it says that something changed"
    return ""


@lru_cache(maxsize=2_000)
def _of_change(text: str) -> tuple[_Language, ...]:
    """The languages of which a text has a word of change; none where it is English."""
    text = unicodedata.normalize("NFC", text)
    if text.rstrip().endswith(("?", "\uff1f")):
        return ()
    found = tuple(each for each in _LANGUAGES if each.change.search(text) and _is_in(text, each))
    return () if not found or has_english(text) else found


def _is_in(text: str, language: _Language) -> bool:
    """Whether a text may be in a language: of those in Chinese characters kana tell Japanese."""
    if language.code in ("ja", "zh"):
        return (_KANA.search(text) is not None) == (language.code == "ja")
    return True


def _may_be_of_one(new: str, old: str, shared: Sequence[str], language: _Language) -> bool:
    """Whether what two people say may be of one thing: nobody speaks of what is their own."""
    words = {*_WORD.findall(f"{new} {old}".lower()), *(new + old if not language.is_spaced else "")}
    return words.isdisjoint(language.own) and len(_things(shared)) >= MIN_OF_ANOTHER


def _is_one_sentence(
    come: Sequence[str], gone: Sequence[str], shared: Sequence[str], language: _Language
) -> bool:
    """Whether two texts are one but for a value: about the same, with something else behind it."""
    if not _is_among(gone[0], come) or not _is_among(come[0], gone):
        return False
    if not _things(shared) or len(shared) < MIN_SHARED * len(gone):
        return False
    lost = [term for term in gone if term not in shared]
    added = [term for term in come if not _is_among(term, gone)]
    if not lost or not added:
        return False
    numbers = [any(_is_number(term) for term in some) for some in (lost, added)]
    if any(numbers):
        return all(numbers)
    if language.code == "zh":  # what stands before its verb is whom it is about
        return come.index(added[0]) > min(
            come.index(each) for each in come if each in _things(shared)
        )
    of_two_things = len(lost) > 1 and len(added) > 1
    return not language.is_spaced or (lost[-1] == gone[-1] and not of_two_things)


def _is_number(term: str) -> bool:
    return re.fullmatch(rf"(?:{_NUMBER})\D*", term) is not None


def _things(found: Iterable[str]) -> list[str]:
    return [term for term in found if term not in (_SELF, _US)]


def _is_among(term: str, others: Collection[str]) -> bool:
    """Whether a term is one of others, or the beginning or end of a compound, or such a one."""
    if term in others:
        return True
    return any(_is_part(term, each) or _is_part(each, term) for each in others)


def _is_part(part: str, whole: str) -> bool:
    if len(part) < MIN_PART or len(whole) < len(part) + MIN_PART or not whole.isalpha():
        return False
    return whole.startswith(part) or whole.endswith(part)


@lru_cache(maxsize=2_000)
def _said(text: str, language: _Language) -> tuple[str, ...]:
    """The terms of what a text says, in their order, without its words of change."""
    text = unicodedata.normalize("NFC", text).replace("\u2019", "'")
    text = language.moves.sub(" @lives ", text)
    text = language.change.sub(" ", text)
    if language.code in ("ja", "zh"):
        return tuple(_characters(text, language))
    found: list[str] = []
    ends = -2
    for match in re.finditer(rf"{_LIVES}|{_WORD.pattern}", text):
        word, lowered = match[0], match[0].lower()
        if word == _LIVES or language.lives.fullmatch(word):
            found.append(_LIVES)
        elif lowered in language.self or lowered in language.us:
            found.append(_SELF if lowered in language.self else _US)
        elif lowered not in language.plain and (len(word) > 1 or word.isdigit()):
            term = next(iter(terms(word, language.plain, language=language.code)), lowered)
            if word[0].isupper() and match.start() == ends + 1:
                found[-1] += f" {term}"  # a name of several words is one
            else:
                found.append(term)
            ends = match.end() if word[0].isupper() else -2
    return tuple(dict.fromkeys(found))


def _characters(text: str, language: _Language) -> Iterable[str]:
    """The same of a text without spaces: its characters but for kana, and its numbers."""
    topic, particle, rest = text.partition("\u306f")
    if particle:  # of "the people of the meeting" the people
        text = topic.rpartition("\u306e")[2] + particle + rest
    own = "|".join(sorted(language.self | language.us, key=len, reverse=True))
    found: dict[str, None] = {}
    for match in re.finditer(rf"{_LIVES}|(?:{own})[{_POSSESSIVE}]?|{_NUMBER}|\w", text):
        said = match[0]
        if said == _LIVES or language.lives.fullmatch(said):
            found[_LIVES] = None
        elif said in language.own:
            found[_SELF if said in language.self else _US] = None
        elif _is_number(said) or (_CHARACTER.fullmatch(said) and said not in language.plain):
            found[said] = None
    return found
