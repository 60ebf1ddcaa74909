"""The identifiers that occur in a file, with their lines, independent of what a language lowers.

This is not a parser: it removes comments and prose, and takes every identifier that is left. In
doubt it includes a name, since a missing name makes an answer look complete when it is not.
"""

from __future__ import annotations

import itertools
import keyword
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.composed_names import composed

Words = Mapping[str, list[int]]
"""Names, each with the line of every occurrence, in order."""

MAX_FILE_CHARACTERS = 512 * 1024
"""Files of settings or data larger than this are not searched for names."""
_RARE = 0x30000
"""The first of many letters that hardly any text has (CJK Unified Ideographs Extension G)."""
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]+")
_PATH = re.compile(r"[^\W\d]\w*(?:[.:/#\\-]+[^\W\d]\w*)+")
_ONE = re.compile(r"[./@]*[^\W\d][\w$]*(?:[.:/#-]+[^\W\d][\w$]*)*(?:\(\))?")
_CODE = re.compile(r"[({<$]")
_LISTED = re.compile(r"(?:^|[\"'])[ \t]*[^\W\d]\w*(?:[.:]\w+)+[ \t]*(?:$|[\"'])", re.MULTILINE)
"""A line of a text that is a dotted name and nothing else."""
_RUN = re.compile(r"\b(?:eval|exec|compile|Function|setTimeout|setInterval)\(\s*$")
"""What stands before a string that is run as a program."""
_TAKEN_APART = re.compile(
    r"\{([^{}]*)\}[\s}]*(?:=(?![=>])(?!\s*(?:await\s+)?(?:require|import)\s*\()|of\b)"
)
_SHORT = re.compile(r"(?:^|,)\s*([^\W\d][\w$]*)\s*(?=$|,|=)")
"""A pattern that takes an object apart, and the members in it that name a variable too."""
_TYPE_AS_NAME = re.compile(r"(?<![\w$.])type(?=\s*(?:[:,})\].;?]|[=!]==))")
"""The word of TypeScript that is a name more often than not."""
_PLAIN = r'"(?:[^"\\\n]|\\.)*"'
_SINGLE = r"'(?:[^'\\\n]|\\.)*'"
_CHARACTER = r"'(?:[^'\\\n]|\\.)'"
_SLASHES = r"(?P<comment>(?<!:)//[^\n]*|/\*.*?\*/)"
_SKIPPED = {
    "python": r"(?P<comment>\#[^\n]*)"
    r"|(?<![fF])(?P<text>[rRbBuU]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''))"
    r"|(?P<exported>^__all__[^=\n]*=\s*[\[(][^\])]*[\])])"
    r"|(?P<again>\b(?P<name>[^\W\d]\w*)[ \t]+as[ \t]+(?P=name)\b)"
    rf"|(?<![fF])(?P<string>{_PLAIN}|{_SINGLE})",
    "script": rf"(?P<string>{_PLAIN}|{_SINGLE})|{_SLASHES}"
    r"|(?P<exported>^export\s*\{(?:(?!\bas\b)[^}])*\}(?!\s*from)"
    r"|^export\s+default\s+[\w$]+\s*;?$"
    r"|^module\.exports\s*=\s*(?:\{[\w$\s,]*\}|[\w$]+)\s*;?$"
    r"|^(?:module\.)?exports\.(?P<same>[\w$]+)\s*=\s*(?P=same)\s*;?$)",
    "go": rf"(?P<string>{_PLAIN}|{_CHARACTER})|{_SLASHES}",
    "java": rf"(?P<text>\"\"\".*?\"\"\")|(?P<string>{_PLAIN}|{_CHARACTER})|{_SLASHES}",
    "rust": rf"(?P<string>\"(?:[^\"\\]|\\.)*\"|{_CHARACTER})|{_SLASHES}",
}
_READ_BY = {"typescript": "script", "javascript": "script"}
_RESERVED = {
    "python": frozenset(keyword.kwlist) | {"self", "cls"},
    "script": frozenset(
        """
        async await break case catch class const continue default delete do else export extends
        false finally for function if import in instanceof interface let new null of return static
        super switch this throw true try type typeof undefined var void while yield
        """.split()  # noqa: SIM905
    ),
    "go": frozenset(
        """
        break case chan const continue default defer else err error fallthrough false for func go
        goto if import int interface map nil package range return select string struct switch true
        type var
        """.split()  # noqa: SIM905
    ),
    "java": frozenset(
        """
        boolean break case catch class continue else extends false final finally for if implements
        import int interface long new null package private protected public return static super
        switch this throw throws true try void while String Override
        """.split()  # noqa: SIM905
    ),
    "rust": frozenset(
        """
        as break const continue crate else enum false fn for if impl in let loop match mod move mut
        pub ref return self Self static struct super trait true type unsafe use where while Some
        None Ok Err
        """.split()  # noqa: SIM905
    ),
}
_PROSE = frozenset({"markdown", "restructuredtext", "text", "asciidoc", "csv", ""})
_SETTINGS = frozenset(
    {"json", "yaml", "toml", "ini", "xml", "html", "css", "dockerfile", "make", "shell", "sql"}
    | {"hcl", "graphql", "protobuf"}
)

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(dict[str, list[int]])


def words_of(language: str, source: bytes) -> dict[str, list[int]]:
    """The names in a file.

    Args:
        language: the file's language.
        source: its bytes.
    """
    if language in _PROSE:
        return {}
    text = source.decode("utf-8", "replace")
    letters = {} if text.isascii() else _letters(text)
    if not letters:
        return _words(language, text)
    found = _words(language, text.translate(letters))
    marks = {letter: mark for mark, letter in letters.items()}
    return {name.translate(marks): lines for name, lines in found.items()}


def _letters(text: str) -> dict[int, int]:
    """For each combining mark of a text a letter that is not in it: an identifier may have such
    marks (UAX #31), which no pattern here takes for a part of a word."""
    marks = sorted(each for each in set(text) if unicodedata.category(each) in ("Mn", "Mc"))
    unused = (each for each in itertools.count(_RARE) if chr(each) not in text)
    return dict(zip(map(ord, marks), unused, strict=False))


def _words(language: str, text: str) -> dict[str, list[int]]:
    read_by = _READ_BY.get(language, language)
    if read_by in _SKIPPED:
        code = _skip(read_by).sub(_left, text)
        found = _names(code, _NAME, _RESERVED[read_by])
        for name, line in _members(code, read_by):
            found.setdefault(name, []).append(line)
        for name, line in composed(read_by, text):
            found.setdefault(name, []).append(line)
        return found
    if len(text) > MAX_FILE_CHARACTERS:
        return {}
    if language in _SETTINGS:  # only dotted paths, such as an entry point or a handler
        return _names(text, _PATH, frozenset(), whole=False)
    return _names(text, _NAME, frozenset())


def with_words(facts: FileFacts, source: bytes) -> FileFacts:
    """The facts of a file with the names in it that are no local variables.

    Args:
        facts: the facts that its language said.
        source: its bytes.
    """
    words = words_of(facts.language, source)
    for name, line in facts.locals:
        lines = words.get(name)
        if lines and line in lines:
            lines.remove(line)
    left = {name: lines for name, lines in words.items() if lines}
    return msgspec.structs.replace(facts, words=packed(left), locals=())


def packed(words: Words) -> bytes:
    """The names in their stored form (MessagePack)."""
    return _encoder.encode(words)


def unpacked(data: bytes) -> dict[str, list[int]]:
    """The names from their stored form; empty for b""."""
    return _decoder.decode(data) if data else {}


@cache
def _skip(read_by: str) -> re.Pattern[str]:
    return re.compile(_SKIPPED[read_by], re.DOTALL | re.MULTILINE)


def _left(found: re.Match[str]) -> str:
    """The replacement for a comment or string: its line breaks, and the names that it may refer
    to."""
    text = found[0]
    if found.lastgroup == "text" and _is_code(found):
        return text
    if found.lastgroup == "again":  # `x as x` names one thing, once (PEP 484, "Stub Files")
        return found["name"]
    if found.lastgroup == "string" and (
        _ONE.fullmatch(text[1:-1]) or _CODE.search(text) or _is_run(found)
    ):
        return text
    return '"' + "\n" * text.count("\n") + '"'


def _is_run(found: re.Match[str]) -> bool:
    """Whether a string is handed to what runs it as a program."""
    return _RUN.search(found.string[max(0, found.start() - 40) : found.start()]) is not None


def _is_code(found: re.Match[str]) -> bool:
    """Whether a string of several lines may be code or a template: it is assigned or passed, and
    does not stand alone as a docstring does."""
    before = found.string[max(0, found.start() - 200) : found.start()]
    is_value = before.rstrip()[-1:] in ("=", "(", ",", "[", "{", "+")
    if not is_value and before.rstrip(" \t")[-1:] != ":":  # of a mapping, on its line
        return False
    return _CODE.search(found[0]) is not None or _LISTED.search(found[0]) is not None


def _members(code: str, read_by: str) -> Iterator[tuple[str, int]]:
    """What else a file names, and on which line: words of the language that stand where only a name
    can (``x.type``), and members whose name is a variable's too (``const { field } = x``)."""
    if read_by == "script":
        yield from _on_lines(code, _taken_apart(code))
        yield from _on_lines(
            code, ((each[0], each.start()) for each in _TYPE_AS_NAME.finditer(code))
        )
    words = _reserved_as_name(read_by).finditer(code)
    yield from _on_lines(code, ((each[1], each.start()) for each in words))


def _taken_apart(code: str) -> Iterator[tuple[str, int]]:
    for found in _TAKEN_APART.finditer(code):
        for each in _SHORT.finditer(found[1]):
            yield each[1], found.start(1) + each.start(1)


def _on_lines(code: str, found: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Names with their lines in place of their places, which only grow."""
    line, seen = 1, 0
    for name, at in found:
        line += code.count("\n", seen, at)
        seen = at
        yield name, line


@cache
def _reserved_as_name(read_by: str) -> re.Pattern[str]:
    return re.compile(rf"\.({'|'.join(sorted(_RESERVED[read_by]))})(?![\w$])")


def _names(
    text: str, name: re.Pattern[str], reserved: frozenset[str], *, whole: bool = True
) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        each = name.findall(line)
        if not whole:
            each = [part for path in each for part in _NAME.findall(path)]
        for word in each:
            if word not in reserved:
                found.setdefault(word, []).append(number)
    return found
