"""Duplicate logic: functions whose bodies are nearly the same, by shingles and MinHash.

A body is a row of tokens without comments. Its shape is that row with each literal, and each name
that is bound in the function itself, in place of what it says; shingles are five tokens in a row.
MinHash (Broder 1997) finds the pairs that may be alike, and each pair is then compared exactly.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from plugins.codegraph.health.code_base import CALLABLE, CodeBase

MIN_TOKENS = 40
"""A shorter body is too small to be worth sharing."""
ALIKE = 0.85
"""The least similarity of two bodies' shapes (Jaccard, of their shingles) to be duplicates."""
_NAMES_ALIKE = 0.6
"""The least similarity of what two bodies name from outside of themselves: functions of the same
shape that do something with other things are no duplicates."""
_LITERALS_ALIKE = 0.3
_SHINGLE = 5
_BANDS, _ROWS = 16, 4
"""Pairs that are alike by 0.85 share one of 16 bands of 4 values all but never in vain."""
_MAX_BUCKET = 200
"""The most functions of one band's value that are compared with each other."""
_PRIME = (1 << 61) - 1

_HASH_COMMENTS = frozenset({"python"})
_WORD = (
    r"(?P<text>[rbuf]{0,2}\"\"\"(?:[^\\]|\\.)*?\"\"\"|[rbuf]{0,2}'''(?:[^\\]|\\.)*?'''"
    r"|[rbuf]{0,2}\"(?:[^\"\\\n]|\\.)*\"|[rbuf]{0,2}'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"
    r"|(?P<number>\d[\w.]*)|(?P<name>[^\W\d][\w$]*)|(?P<sign>[^\w\s])"
)
_WITH_HASH = re.compile(rf"(?P<comment>#[^\n]*)|{_WORD}", re.S)
_WITH_SLASHES = re.compile(rf"(?P<comment>//[^\n]*|/\*.*?\*/)|{_WORD}", re.S)
_RUNS = re.compile(r"= >|\b(?:function|func|fn|lambda|return)\b")
"""What a body has in it, in words apart, where it hands on code of its own."""
_BINDS = frozenset({"for", "as", "let", "const", "var", "mut"})


@dataclass(frozen=True, slots=True)
class Body:
    """The tokens of a function.

    Attributes:
        shape: its shingles, as numbers.
        names: what it names from outside of itself, each with how often.
        literals: its literals, likewise.
    """

    shape: frozenset[int]
    names: Counter[str]
    literals: Counter[str]

    @property
    def content(self) -> Hashable:
        """What two bodies share that are as good as copied."""
        return self.shape, frozenset(self.names.items()), frozenset(self.literals.items())


@dataclass(frozen=True, slots=True)
class Cluster:
    """Functions that are nearly the same.

    Attributes:
        members: the entities' numbers, by place.
        similarity: of the two least alike that were compared, from 0 to 1.
    """

    members: Sequence[int]
    similarity: float


def duplicates(code: CodeBase) -> tuple[list[Cluster], int]:
    """The clusters of a repository, those that repeat the most lines first, and how many functions
    are long enough to be in one. Tests are left out."""
    bodies = dict(_bodies(code))
    alike = _alike(bodies)
    found = [
        Cluster(sorted(members, key=code.place), min(alike[pair] for pair in pairs))
        for members, pairs in _joined(alike)
    ]
    found.sort(key=lambda each: (-repeated_lines(code, each), code.place(each.members[0])))
    return found, len(bodies)


def _alike(bodies: Mapping[int, Body]) -> dict[tuple[int, int], float]:
    """The pairs that are duplicates, with how alike they are.

    Copies are put together before anything is compared: where a tree holds another one many times,
    all pairs of copies would be most of the work.
    """
    copies: dict[Hashable, list[int]] = defaultdict(list)
    for at, each in bodies.items():
        copies[each.content].append(at)
    firsts = {members[0]: bodies[members[0]] for members in copies.values()}
    found = {(members[0], at): 1.0 for members in copies.values() for at in members[1:]}
    for one, other in _candidates(firsts):
        how = similarity(firsts[one], firsts[other])
        if how >= ALIKE:
            found[one, other] = how
    return found


def repeated_lines(code: CodeBase, cluster: Cluster) -> int:
    """How many lines a cluster has beyond those of one of its members."""
    lines = sorted(
        code.entities[at].end_line - code.entities[at].line + 1 for at in cluster.members
    )
    return sum(lines[:-1])


def body(language: str, text: str) -> Body | None:
    """The tokens of a function; None where it is too short, or only passes on.

    Args:
        language: its language.
        text: the function as it is written, its head included.
    """
    pattern = _WITH_HASH if language in _HASH_COMMENTS else _WITH_SLASHES
    tokens = _tokens(pattern, text)
    start = _end_of_head(tokens, ":" if language == "python" else "{")
    own = _own_names(tokens, start)
    inner = tokens[start:]
    if inner and language == "python" and inner[0][0] == "text":
        inner = inner[1:]  # a docstring
    if len(inner) < MIN_TOKENS or _passes_on([word for _, word in inner]):
        return None
    shape = [_shape(kind, word, own) for kind, word in inner]
    shingles = zip(*(shape[at:] for at in range(_SHINGLE)), strict=False)
    return Body(
        frozenset(crc32("\0".join(each).encode()) for each in shingles),
        Counter(
            word for kind, word in inner if kind == "member" or (kind == "name" and word not in own)
        ),
        Counter(word for kind, word in inner if kind in ("text", "number")),
    )


def _passes_on(words: Sequence[str]) -> bool:
    """Whether a body is one call without code of its own in it: the others share its logic by
    that."""
    inner = list(words[:-1] if words[-1] == "}" else words)
    while inner and inner[0] in ("return", "await"):
        inner.pop(0)
    if inner and inner[-1] == ";":
        inner.pop()
    if "(" not in inner or inner[-1] != ")" or _RUNS.search(" ".join(inner)):
        return False
    depth = 0
    for at, word in enumerate(inner):
        depth += (word == "(") - (word == ")")
        if depth == 0 and (word == ")" or not (word == "." or word.isidentifier())):
            return word == ")" and at == len(inner) - 1
    return False


def _tokens(pattern: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    """Each token with its kind; a name after a dot is a member, whatever is bound to that name."""
    found: list[tuple[str, str]] = []
    for each in pattern.finditer(text):
        kind = each.lastgroup or ""
        if kind == "name" and found and found[-1][1] == ".":
            kind = "member"
        if kind != "comment":
            found.append((kind, each[0]))
    return found


def similarity(one: Body, other: Body) -> float:
    """How alike two bodies are, from :data:`ALIKE` to 1; 0 where they are less so, or do the same
    with other things."""
    shared = len(one.shape & other.shape)
    shape = shared / max(1, len(one.shape) + len(other.shape) - shared)
    if shape < ALIKE:  # the rest costs more
        return 0.0
    names = _shared(one.names, other.names)
    literals = _shared(one.literals, other.literals)
    if names < _NAMES_ALIKE or (literals < _LITERALS_ALIKE and names < ALIKE):
        return 0.0
    return shape


def _shared(one: Counter[str], other: Counter[str]) -> float:
    total = (one | other).total()
    return (one & other).total() / total if total else 1.0


def _shape(kind: str, word: str, own: frozenset[str]) -> str:
    if kind == "name":
        return "own" if word in own else word
    return kind if kind in ("text", "number") else word


def _end_of_head(tokens: Sequence[tuple[str, str]], opens: str) -> int:
    """Where the body of a function begins: after its parameters and the colon or brace."""
    depth = 0
    for at, (_, word) in enumerate(tokens):
        if word in ("(", "["):
            depth += 1
        elif word in (")", "]"):
            depth -= 1
        elif depth == 0 and word == opens:
            return at + 1
    return 0


def _own_names(tokens: Sequence[tuple[str, str]], start: int) -> frozenset[str]:
    """The names that a function binds: its own, its parameters, and what it assigns."""
    found = {word for kind, word in tokens[:start] if kind == "name"}
    depth = 0
    for (kind, word), (_, after) in pairwise(tokens[start:]):
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if kind == "name" and after in ("=", ":") and depth == 0:
            found.add(word)  # within parentheses it is the name of an argument
        elif word in _BINDS:
            found.add(after)
    return frozenset(found - {"self", "this", "cls", "return", "await", "async"})


def _bodies(code: CodeBase) -> Iterator[tuple[int, Body]]:
    for path, numbers in code.by_path.items():
        some = [
            at for at in numbers if code.entities[at].kind in CALLABLE and not code.is_aside[at]
        ]
        if not some or not code.is_code(code.entities[some[0]]):
            continue
        lines = code.text(path).decode("utf-8", "replace").split("\n")
        for at in some:
            entity = code.entities[at]
            text = "\n".join(lines[entity.line - 1 : entity.end_line])
            found = body(entity.language, text)
            if found is not None:
                yield at, found


def _candidates(bodies: Mapping[int, Body]) -> set[tuple[int, int]]:
    """The pairs that share a band of their MinHash values."""
    random = np.random.default_rng(1)
    factors = random.integers(1, 1 << 31, (2, _BANDS * _ROWS), dtype=np.uint64)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for at, each in bodies.items():
        values = _minhash(each.shape, factors).reshape(_BANDS, _ROWS)
        for band in range(_BANDS):
            buckets[band, values[band].tobytes()].append(at)
    return {
        (one, other)
        for some in buckets.values()
        for index, one in enumerate(some[:_MAX_BUCKET])
        for other in some[index + 1 : _MAX_BUCKET]
    }


def _minhash(shape: Iterable[int], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The least value of each hash function over the shingles."""
    values = np.fromiter(shape, np.uint64)
    hashed = (values[:, None] * factors[0] + factors[1]) % np.uint64(_PRIME)
    return hashed.min(axis=0)  # type: ignore[no-any-return]


def _joined(
    pairs: Iterable[tuple[int, int]],
) -> list[tuple[set[int], list[tuple[int, int]]]]:
    """The groups that pairs join, each with its pairs."""
    group: dict[int, tuple[set[int], list[tuple[int, int]]]] = {}
    for one, other in sorted(pairs):
        mine = group.setdefault(one, ({one}, []))
        theirs = group.setdefault(other, ({other}, []))
        if mine is not theirs:
            mine[0].update(theirs[0])
            mine[1].extend(theirs[1])
            group.update(dict.fromkeys(theirs[0], mine))
        mine[1].append((one, other))
    unique = {id(each): each for each in group.values()}
    return list(unique.values())
