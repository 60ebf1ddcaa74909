"""What a pattern cannot say of a secret: whether it looks like one, or like a word or a hash.

Every check takes the bytes around a match and the span of the secret, and says whether it is one.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections import Counter
from collections.abc import Callable, Mapping
from math import log2

Check = Callable[[bytes, int, int, int], bool]
"""``check(data, match start, secret start, secret end)``."""

_ENTROPY_SAMPLE_BYTES = 256
"""Bytes of a value that its entropy is measured on."""
_REFERENCES = (
    *(b"$", b"{", b"<", b"%", b"./", b"../", b"~/", b"env:", b"file:", b"arn:", b"op://"),
    *(b"vault:", b"ssm:", b"ref+", b"projects/", b"http://", b"https://", b"process.env"),
)
_DUMMY = re.compile(
    rb"(?i)\[redacted|\*{3}|x{4}|\.{3}|your[_-]|example|placeholder|change_?-?me"
    rb"|\$\{|\{\{|\[\^|\]\+|\\[dws]"  # a template, or a pattern
)
_WORD = re.compile(rb"[A-Za-z]+|[0-9]{1,4}|v[0-9]+")
_NUMBERED = re.compile(rb"[A-Za-z]+[0-9]{0,3}|[0-9]{1,4}|[0-9][A-Za-z]{1,3}")
_SPLIT = re.compile(rb"[-_./:@#\\]+")
_DIGIT = re.compile(rb"[0-9]")
_LETTER = re.compile(rb"[A-Za-z]")
_UNUSUAL = re.compile(rb"[0-9!@#$%^&*+=~?\x80-\xff]")
_OTHER_NAME = re.compile(
    rb"(?i)(?:page|next|prev|continuation|sync|cursor|csrf|xsrf|public|publishable|design|cancel"
    rb"|request|change|idempotency)"
    rb"[_.-]?$"
    rb"|\?alt=media&(?:amp;)?$"  # a picture's address, whose token everybody gets who sees the page
)
_PUBLIC = re.compile(rb"0x[0-9a-fA-F]{40}|[\^~<>=v]*[0-9]+(?:\.[0-9x*]+)+(?:[-+][a-z0-9.-]+)?")
"""An address, or a version as dependencies name it."""
_LONG_WORDS = re.compile(rb"[A-Za-z]?[a-z]{3,}")
_HASH_NAME = re.compile(
    rb"(?i)(?:sha-?\d*|hash|integrity|checksum|digest|etag|fingerprint|nonce|commit|rev|cid|address"
    rb"|public_?-?key|site_?-?key|(?:next|page|continuation)_?token|cursor)[\"'\]]{0,2}\s*(?::|=>|={1,3})\s*[\[(]?$"
)
_NO_SECRET = re.compile(
    rb"sha(?:1|224|256|384|512)[-_]|pk_(?:live|test)_|npub1|bc1|addr1|Qm[1-9A-Za-z]{44}$|baf[a-z2-7]{50,}$"
    # Public keys.
    rb"|MII[BC]IjANBg|MIGfMA0G|MFkwEwYH|MCowBQYD"
    # The first bytes of images, fonts, archives and programs, in Base64.
    rb"|iVBORw0KGgo|/9j/|R0lGOD|UklGR|PHN2Zy|Qk0|AAABAA|JVBERi|UEsDB|H4sI|d09G|AAEAAAA|T1RUTw|AGFzbQ"
)
_SEQUENCES = (b"ABCDEFGH", b"abcdefgh", b"01234567", b"12345678", b"QWERTY", b"useandom")


def entropy(value: bytes) -> float:
    """Shannon's entropy in bits per byte, of the first bytes of a long value."""
    value = value[:_ENTROPY_SAMPLE_BYTES]
    size = len(value)
    if not size:
        return 0.0
    return -sum(n / size * log2(n / size) for n in Counter(value).values())


def given(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether a value stands there, rather than a variable or dots in its place."""
    value = data[start:end]
    return not value.startswith(_REFERENCES) and _DUMMY.search(value) is None


def password(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether a quoted value may be a password: given, and no plain words."""
    value = data[start:end]
    return (
        given(data, begin, start, end)
        and _UNUSUAL.search(value) is not None
        and len(set(value)) > 3
        and not _words(value, _WORD)
        and not _PUBLIC.fullmatch(value)
        and _OTHER_NAME.search(data, max(0, begin - 24), begin) is None
    )


def plain(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether an unquoted value may be a password: a setting's, not an expression of code."""
    if data[end : end + 1] in (b"(", b"[", b"{", b".", b"<", b":"):
        return False
    value = data[start:end]
    if not password(data, begin, start, end) or not _LETTER.search(value):
        return False
    name = data[begin:start].rstrip(b"= :\t")
    setting = data[start - 1 : start] == b"=" and name == name.upper()
    if setting:
        return True
    return _varied(value) and not _words(value, _NUMBERED) and entropy(value) >= 3.0


def random(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether a token looks as if no person had thought of it."""
    value = data[start:end]
    varied = given(data, begin, start, end) and _varied(value)
    return varied and not _words(value, _NUMBERED) and entropy(value) >= 3.0


def wordless(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether a token is given, and is no words in a row: ``md-primary-fg-color--dark`` is CSS."""
    return given(data, begin, start, end) and not _words(data[start:end], _NUMBERED)


def basic(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether Base64 holds a name, a colon and a password (RFC 7617)."""
    value = data[start:end].rstrip(b"=")
    try:
        held = b64decode(value + b"=" * (-len(value) % 4), validate=True).decode()
    except (Error, ValueError):
        return False
    return ":" in held and held.isprintable()


def unknown(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether a quoted text of high entropy is a secret, not a hash, an image or words."""
    value = data[start:end]
    if _NO_SECRET.match(value) or not _DIGIT.search(value[:_ENTROPY_SAMPLE_BYTES]):
        return False
    if any(each in value for each in _SEQUENCES):
        return False
    if _HASH_NAME.search(data, max(0, begin - 48), begin):
        return False
    worded = sum(len(each) for each in _LONG_WORDS.findall(value[:_ENTROPY_SAMPLE_BYTES]))
    return worded * 2 < min(len(value), _ENTROPY_SAMPLE_BYTES)


def _varied(value: bytes) -> bool:
    return len(_DIGIT.findall(value)) > 1 and _LETTER.search(value) is not None


def _words(value: bytes, word: re.Pattern[bytes]) -> bool:
    return all(word.fullmatch(each) for each in _SPLIT.split(value) if each)


CHECKS: Mapping[str, Check] = {
    "given": given,
    "password": password,
    "plain": plain,
    "random": random,
    "wordless": wordless,
    "basic": basic,
    "entropy": unknown,
}
"""The checks by the names that rules give them."""
