"""What several sources have found as one list: by reciprocal rank, each thing once.

Scores of different servers do not compare; places in their lists do (Cormack, Clarke and Büttcher,
"Reciprocal Rank Fusion", SIGIR 2009).
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from plugins.upstreams.commons.hits import Hit
from plugins.upstreams.commons.sources import Source

_K = 60
"""How little the first place of one source counts beside being found by several."""
_EVERYWHERE = frozenset({"http", "https", "doi", "urn", "ipfs", "ar"})
"""Schemes whose addresses name the same thing whoever says them."""
_MIN_ALIKE_CHARACTERS = 40
"""Characters of a text from which on two that are the same are one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source has something.

    Attributes:
        source: which source.
        rank: its place there, from 1 on.
        hit: what the source says of it.
    """

    source: Source
    rank: int
    hit: Hit


@dataclass(slots=True)
class Found:
    """Something that one source or several have found.

    Attributes:
        places: where, the best place of each source.
        score: the sum of its reciprocal ranks.
    """

    places: list[Place] = field(default_factory=list)
    _keys: set[Hashable] = field(default_factory=set)

    @property
    def score(self) -> float:
        """What it is sorted by: higher is better."""
        return sum(1 / (_K + each.rank) for each in self.places)

    def take(self, places: Iterable[Place], keys: Iterable[Hashable]) -> None:
        """Count these places too."""
        best = {each.source.name: each for each in self.places}
        for each in places:
            known = best.setdefault(each.source.name, each)
            if each.rank < known.rank:
                best[each.source.name] = each
        self.places = sorted(best.values(), key=lambda each: each.rank)
        self._keys.update(keys)

    @property
    def keys(self) -> Sequence[Hashable]:
        """What it is known by."""
        return tuple(self._keys)


def merged(answers: Iterable[tuple[Source, Sequence[Hit]]]) -> list[Found]:
    """What all sources have found, best first; one address or one text is one thing.

    Args:
        answers: the sources and what they have found, best first. Of things that are as good as
            each other, that of the first source comes first.
    """
    known: dict[Hashable, Found] = {}
    for source, hits in answers:
        for rank, hit in enumerate(hits, 1):
            found, keys = Found(), tuple(_keys(source, hit))
            for each in [known[key] for key in keys if key in known]:
                found.take(each.places, each.keys)
            found.take([Place(source, rank, hit)], keys)
            known |= dict.fromkeys(found.keys, found)
    every = {id(each): each for each in known.values()}.values()
    return sorted(every, key=lambda each: (-each.score, each.places[0].rank))


def _keys(source: Source, hit: Hit) -> Iterator[Hashable]:
    """What a hit is known by: where it is, and what it says."""
    own = (hit.uri and _everywhere(hit.uri)) or (source.name, hit.uri or hit.id, hit.title)
    if hit.uri or hit.id:
        yield own
    words = " ".join(f"{hit.title} {hit.text}".casefold().split())
    if len(words) >= _MIN_ALIKE_CHARACTERS or not (hit.uri or hit.id):
        yield hashlib.sha256(words.encode()).digest()


def _everywhere(uri: str) -> str:
    """An address in the one way to write it; nothing where only its own server knows it."""
    try:
        parts = urlsplit(uri.strip())
    except ValueError:
        return ""
    if parts.scheme.lower() not in _EVERYWHERE:
        return ""
    plain = parts._replace(
        scheme="https" if parts.scheme.lower() == "http" else parts.scheme.lower(),
        netloc=parts.netloc.lower(),
        path=parts.path.rstrip("/"),
        fragment="",
    )
    return plain.geturl()
