"""Whether a turn of a conversation asks, and says nothing else: what comes after it answers it.

Where sentences end tells that in every language. What stands before a question, and is no more than
a greeting or a name, says nothing.
"""

from __future__ import annotations

import re

from plugins.knowledge.memory.algorithms.sentences import sentences

MAX_CHARACTERS = 300
"""Of a turn that may be only a question."""
_SPEAKER = re.compile(r"^\s*[^\s:][^:\n]{0,60}:\s+")
_ASKS = re.compile(r"[?\uff1f\u061f\u037e]!?[\"'\u201d\u00bb)\s]*$")
_MAX_GREETING = 3
"""Words of a sentence that is said before a question and says nothing: "Morning all." """
_STATES = re.compile(r"^(?=[^,]*\s[^,]*\s)([^,]{3,}),\s")
"""How a sentence begins that says something and then asks: "Ana moved out, did you hear?"."""
_OPENS = re.compile(
    r"^(?:and|but|so|or|ok(?:ay)?|well|then|hey|hi|by the way|btw|also)?[\s,]*"
    r"(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|am|do|does|did|can|could"
    r"|must|may|should|shall|has|have|had|will|would|if|after|before|for|in|on|at|with|to)\b",
    re.IGNORECASE,
)


def only_asks(turn: str) -> bool:
    """Whether a turn says nothing of its own, and asks something.

    Args:
        turn: as it is kept, with who speaks before it.
    """
    if len(turn) > MAX_CHARACTERS or not _ASKS.search(turn):
        return False
    said = sentences(_SPEAKER.sub("", turn))
    return all(_asks(each) or len(each.split()) <= _MAX_GREETING for each in said)


def _asks(sentence: str) -> bool:
    if not _ASKS.search(sentence):
        return False
    return _STATES.match(sentence) is None or _OPENS.match(sentence) is not None
