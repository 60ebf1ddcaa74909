"""Whether a speaker means what a sentence says, or denies, reports, doubts or imagines it.

"They said we agreed to pay" has the words of a decision and tells of none. No grammar is parsed:
what governs a clause are words that stand before it in its sentence, and some that take it back
behind it. Where it cannot be told, a sentence stays in its turn: a decision that is missed is found
there, and one that nobody took would be believed.
"""

from __future__ import annotations

import re

_SUBJECT = r"(?:that|I|we|you|he|she|it|they|the|a|an|my|our|your|his|her|their|this|there)\b"
_COMPLEMENT = (
    r"(?:\s+(?:me|us|you|him|her|them|(?:every|some)(?:one|body)))?"
    rf"(?:\s*[:,]|\s+{_SUBJECT}|\s+(?-i:[A-Z]))"
)
_PEOPLE_SAY = (
    r"say(?:s|ing)?|said|tell(?:s|ing)?|told|claim(?:ed|ing)|den(?:y|ies|ied|ying)|assert(?:s|ed)"
    r"|insist(?:s|ed)?|promise[sd]?|promising|swears?|swore|argue[sd]?"
    r"|mention(?:s|ed)?|joke[sd]?|joking|lied|lying"
    r"|asked|suggest(?:s|ed)?|propose[sd]?|pretend(?:s|ed|ing)?|according to"
    r"|believ(?:e[sd]?|ing)|think(?:s|ing)?|thought|suppos(?:e[sd]?|ing)|assume[sd]?|assuming"
    r"|imagine[sd]?|imagining|reckons?|suspect(?:s|ed)?|wonder(?:s|ed|ing)?|dream(?:s|ed|t|ing)"
    r"|fear(?:s|ed)|heard|overheard|misheard|convinced|refuse[sd]? to"
)
_MAY_SAY = r"claims?|hopes?|hoped|hoping|wish(?:es|ed)?|hears?|expects?|guess(?:es|ed)?|dream"
"""These are things as well: "the claim is 900 euros"."""
_TELLS = r"reads?|writes?|wrote|reports?|reported|states?|stated|myth|lie|idea|notion|belief"
"""These have things as objects as well: "Ben writes the newsletter"."""
_SAYS = re.compile(
    rf"\b(?:{_PEOPLE_SAY})\b|\b(?:{_MAY_SAY})\b(?={_COMPLEMENT})"
    r"|\b(?:" + _TELLS + r")\b(?=\s*:|,? (?:that|I|we|you|he|she|they|there)\b)",
    re.IGNORECASE,
)
"""Words that make what follows somebody's words, belief or fancy."""
_AFFIRMS = re.compile(
    r"\bas (?:I|we|you|(?-i:[A-Z])\w+)(?:'ve| have|'d| had)? (?:just |already )?"
    r"(?:said|mentioned|told you|told them|suggested|proposed)\b"
    r"|\b(?:must|have to|got to|can|let me) (?:say|tell you)\b|\bgoes without saying\b"
    r"|\bthat said\b|\b(?:please|to) tell\b|\b(?:think|thinks|thinking|thought) (?:about|of|over)\b"
    r"|\bthan (?:I|we|you) (?:had )?(?:thought|feared|hoped|expected|said)\b",
    re.IGNORECASE,
)
"""Some of these words report, and yet the speaker means it: "As I said, we agreed"."""
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|I guess|(?:not|n't) (?:so |that |quite |entirely )?(?:sure|certain)"
    r"|unsure|uncertain|unclear|unlikely|doubt\w*|if|whether|unless|would be nice|in case"
    r"|probably|possibly|presumably|supposedly|supposed to|allegedly|apparently|reportedly"
    r"|seemingly|hypothetical\w*|rumou?rs?|rumou?red|gossip|hearsay|what-if"
    r"|as far as I (?:know|remember|recall|can tell)|afaik|iirc|imagine|suppose|supposing"
    r"|sounds? (?:like|as)|story goes|legend has it|I bet|under the impression"
    r"|(?:may|could) (?:be|have been)|just kidding|only kidding)\b"
    r"|\bin (?:my|the|this|that|a|his|her|your|our) (?:\w+ )?"
    r"(?:dream|nightmare|fantasy|novel|story|tale|film|movie|joke|scenario|daydream)s?\b",
    re.IGNORECASE,
)
"""Words that leave open what a sentence says, or make it part of a story."""
_BACK = r"(?:false|wrong|untrue|a lie|lies|lying|nonsense|rubbish|a joke|a myth|a rumou?r|made up)"
_DENIED = re.compile(
    rf"\b(?:that|which|this|it|they)(?:'s|'re| is| was| are| were)"
    rf" (?:all |just |simply |completely |of course |only )?{_BACK}(?!\s+\w*\s*(?:of|number))"
    r"|(?:\bnot|n't) (?:\w+ )?(?:true|the case|correct|what (?:happened|I said))\b"
    rf"|\b{_BACK} (?:that|to say)\b|\bnever happened\b|[-\u2013\u2014.,]\s*not\s*[.!]*$",
    re.IGNORECASE,
)
"""Words that take back what their sentence says."""
_TAKES_BACK = re.compile(
    r"^(?:(?:no|lol|ha(?:ha)*|oh|well)\b[,.!]?\s*)?(?:(?:(?:I'm|I am|I was) )?(?:just |only )?"
    rf"(?:kidding|joking)\b|just a joke\b|(?:not|nope|nah|as if)\s*[.!]*$|not really\b|jk\b"
    rf"|(?:that|this|it)(?:'s| is| was) (?:all |just |of course )?{_BACK}"
    r"|(?:that|this|it)(?:'s| is| was) not true\b|(?:that|this|it) (?:isn't|wasn't) true\b)",
    re.IGNORECASE,
)
"""How a sentence begins that takes back the one before it."""
_MENDS = re.compile(
    r"^(?:(?:oh|ah|um|uh|hm+|oops)\b[,.!]*\s*)?(?:"
    r"(?:no|nope|sorry)[,.!]*\s+"
    r"(?:wait|hang on|hold on|sorry|scratch that|make (?:that|it)|I meant?)"
    r"|(?:wait|hang on|hold on)[,.!]*\s+(?:no|sorry|I meant?)|correction|or rather"
    r"|(?:scratch|strike|forget) (?:that|it)|I take (?:that|it) back|I meant|actually,? no"
    r"|make (?:that|it)(?= an?\b| \d| \w+day\b))\b(?! (?:to|it|that)\b)[,.:!\s\u2013\u2014-]*",
    re.IGNORECASE,
)
"""How a sentence begins that puts something else in place of the one before it."""
_MENDED = re.compile(
    r"(?:[,;(\u2013\u2014]|\s-)\s*"
    r"(?:no,? wait|wait,? no|no,? sorry|sorry,? (?:no|I meant?|make that)"
    r"|I meant(?! to\b)|or rather|(?:scratch|strike) that|make that (?=\d))\b",
    re.IGNORECASE,
)
"""Words by which a sentence puts something else in place of what it began with."""
_LAUGH = r"(?:lol|lmao|rofl|jk|(?:ha|he|ho){2,}h?)"
_TAIL = re.compile(
    rf"[,;(\u2013\u2014-]\s*(?:{_LAUGH}\b[,.!]*\s*)*(?:well,? )?"
    r"(?:no|nope|nah|not really|not exactly|jk|as if|I wish|yeah,? right)\s*[.!)]*$"
    r"|,\s*(?:or so )?(?:I|we) (?:hope|guess|expect|fear|bet|presume)\s*[.!]*$"
    r"|,\s*(?:(?:is|was|are|were|do|does|did|has|have|had|can|could|would|should)(?:n't)?|won't"
    r"|ain't) (?:it|he|she|they|we|you|I|there|that)\s*[.!]*$"
    r"|,\s*(?:right|innit|eh|huh)\s*[.!]*$",
    re.IGNORECASE,
)
"""How a sentence ends that is a joke, a hope or a question: "(not really)", ", isn't it"."""
_ASIDE = re.compile(
    r"^(?:oh,? (?:sure|of course)\b|(?:yeah|yes|sure),? (?:right|sure)\b|as if\b|say,"
    r"|let's say\b|for (?:example|instance)\b|e\.g\."
    r"|guess (?:what|who|whose|where|when|which|how)\b(?!\s*[,:!.\u2013\u2014-]))"
    r"|\b(?:in theory|theoretically)\b"
    r"|\band I(?:'m| am) the (?:queen|king|pope|emperor|president|tooth fairy)\b",
    re.IGNORECASE,
)
"""What makes a sentence a taunt, an example or a riddle: "Oh sure, the rent is 5,000 euros"."""
_NEGATION = re.compile(
    r"\b(?:not|no|never|nobody|no-?one|none|nothing|neither|nor|hardly|cannot)\b|n't\b",
    re.IGNORECASE,
)
_NEW_CLAUSE = re.compile(
    r"[,;:\u2013\u2014]|\s-\s|\b(?:but|so(?! that)|and|or|yet|because)\b", re.I
)
"""What a negation does not reach over."""
_NEW_MATTER = re.compile(
    r"[;\u2013\u2014]|\s-\s|\bbut\b|,\s*(?:and|so|then|yet)\b(?! that)|\bso (?=we\b|I\b|it\b)",
    re.IGNORECASE,
)
"""What a word that reports does not reach over: "Ben said it broke, so we decided"."""
_NOT_YET = re.compile(
    r"\b(?:once|before|after|until|till|when(?:ever)?|unless|as soon as|by the time|lest|while"
    r"|provided|providing|assuming|given|the (?:moment|minute|day|event)|which"
    r"|(?<!is )(?<!was )what|whatever|how|why|where|who|had|have|has|did|do|should|were)"
    r"\s+(?:that |all |both )?$",
    re.IGNORECASE,
)
"""What a clause is only the time, condition or object of, right before it: "before we agreed"."""
_REPORTED_BEHIND = re.compile(
    r"[,\u2013\u2014\"]\s*(?:as |or so |at least )?"
    r"(?!(?:and|but|so|which|that|because|since|who|then)\b)(?:[\w']+ ){1,3}?"
    r"(?:says?|said|claims?|claimed|told (?:me|us)|thinks?|thought|believes?|wrote|writes"
    r"|hears?|heard|suppose|assume|reckons?|guess|hopes?)\b"
    r"|[,\u2013\u2014\"]\s*(?:said|says|claims|claimed|wrote|according to) \w+",
    re.IGNORECASE,
)
"""Who says it, told behind it: ", Ben said"."""
_OPEN_LEAD = re.compile(
    r"^(?:once (?!a\b|an\b|every\b|per\b|in\b|upon\b)|as soon as |provided |assuming "
    r"|(?:should|had|were) (?:the|a|my|our|it|he|she|they|we|I)\b)",
    re.IGNORECASE,
)
"""How a sentence begins that states nothing yet: "Once the rent is 900 euros, I move"."""
_WOULD = re.compile(r"\bwould\b|\b(?:he|she|it|they|there)'d\b", re.IGNORECASE)


_OPEN = (_UNSURE, _DENIED, _MENDED, _TAIL, _ASIDE)


def is_open(sentence: str) -> bool:
    """Whether a whole sentence is left open, imagined, or taken back by its own words.

    Args:
        sentence: the speaker's own words.
    """
    return any(each.search(sentence) for each in _OPEN)


def takes_back(sentence: str) -> bool:
    """Whether a sentence says that the one before it was not meant: "Just kidding."

    Args:
        sentence: what follows.
    """
    return _TAKES_BACK.search(sentence) is not None


def mended(sentence: str) -> str | None:
    """What a sentence puts in place of the one before it: "Monday." of "No, wait, Monday."

    Args:
        sentence: what follows.

    Returns:
        The rest of it, or None where it puts nothing in place of anything.
    """
    match = _MENDS.match(sentence)
    return None if match is None else sentence[match.end() :]


def is_meant(sentence: str, begin: int, end: int) -> bool:
    """Whether the speaker means a clause of a sentence that is not open as a whole.

    Args:
        sentence: the speaker's own words.
        begin: where the clause begins, with its subject.
        end: where its verb ends.
    """
    before = _AFFIRMS.sub(" ", sentence[:begin])
    if _NOT_YET.search(before) or _NEGATION.search(_behind(_NEW_CLAUSE, before)):
        return False
    # Some words report only where a clause follows them, so they are looked for with this one.
    if _SAYS.search(_behind(_NEW_MATTER, before) + sentence[begin:end]):
        return False
    return _REPORTED_BEHIND.search(sentence, end) is None


def states(sentence: str) -> bool:
    """Whether a sentence that is not open as a whole states what it says, and nobody else does.

    A denial of its own is a statement: "The rent is not 900 euros."

    Args:
        sentence: the speaker's own words.
    """
    if _OPEN_LEAD.search(sentence) or _WOULD.search(sentence):
        return False
    return _SAYS.search(_AFFIRMS.sub(" ", sentence)) is None


def _behind(border: re.Pattern[str], text: str) -> str:
    """What stands behind the last border in a text."""
    last = 0
    for match in border.finditer(text):
        last = match.end()
    return text[last:]
