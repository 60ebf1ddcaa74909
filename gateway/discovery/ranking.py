"""Which tools fit a question: by the words of their names, descriptions and arguments (BM25), by
what is to be done, and by meaning, where the portal has an embedding model.

Rankings are made of what one caller may use, and of nothing else: how rare a word is, is told by
these tools alone, so that a hidden tool leaves no trace in an order either.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gateway.catalog.items import Item
from gateway.discovery.intents import Intents, agreement, intents_of
from gateway.toolkit.bm25 import rarity, text_weights
from gateway.toolkit.words import terms, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class Weights(NamedTuple):
    """How much what counts beside the meaning, whose likeness is from -1 to 1.

    Attributes:
        words: the words, of which the best tool has 1.
        intent: that a tool does what is asked for, and against it that it does something else.
        deed_in_words: the same among the words.
    """

    words: float
    intent: float
    deed_in_words: float = 0.05


WEIGHTS = Weights(words=0.08, intent=0.02)
_NAME, _GROUP, _FIRST, _REST, _ARGUMENT = 4, 2, 2, 1, 1
"""How much a word counts by where it stands."""
_AVERAGE_TERMS = 60
_MAX_DESCRIPTION_CHARACTERS = 4000
_MAX_EMBEDDED_CHARACTERS = 800
_LONGER = {
    "pr": "pull request",
    "mr": "merge request",
    "repo": "repository",
    "db": "database",
    "email": "mail message",
    "emails": "mail message",
    "mail": "message",
    "config": "configuration settings",
    "docs": "documents",
    "doc": "document",
    "app": "application",
    "k8s": "kubernetes",
    "mongo": "mongodb",
    "info": "information details",
}
"""What people cut short, and what authors of tools write."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")


class Words(NamedTuple):
    """What a tool says of itself, to be searched.

    Attributes:
        weights: how much each of its terms counts.
        texts: what is embedded of it, in views whose middle counts.
        intents: what its name says that it does.
    """

    weights: Mapping[int, float]
    texts: tuple[str, ...]
    intents: Intents = frozenset()


def group_of(item: Item) -> str:
    """The server or plugin that a tool is of: what a person would call its place."""
    return item.plugin if item.origin is None else item.origin.key.partition("/")[0]


def spoken(name: str) -> str:
    """A name as words: ``create_pullRequest`` is create pull Request."""
    return _HUMP.sub(" ", name).replace("_", " ").replace("-", " ")


def words_of(item: Item) -> Words:
    """What a tool says of itself."""
    entry = item.entry
    name, group = spoken(item.name.partition("__")[2] or item.name), spoken(group_of(item))
    title = str(entry.get("title") or "")
    text = str(entry.get("description") or "")[:_MAX_DESCRIPTION_CHARACTERS]
    first, rest = _parted(text)
    arguments = list(_arguments(entry.get("inputSchema")))
    counts: Counter[str] = Counter()
    for part, weight in (
        (f"{name} {title}", _NAME),
        (group, _GROUP),
        (first, _FIRST),
        (rest, _REST),
        (" ".join(arguments), _ARGUMENT),
    ):
        for term in terms(part):
            counts[term] += weight
    weights = text_weights(counts, _AVERAGE_TERMS)
    # Three views, since a long description drowns the name, and a name says little of its use.
    views = f"{group}: {name}. {first}", f"{group} {name}: {text}", text or name
    texts = tuple(each[:_MAX_EMBEDDED_CHARACTERS] for each in views)
    weighed = dict(zip(weights.indices, weights.values, strict=True))
    return Words(weighed, texts, intents_of(name))


class Ranking:
    """The order of some tools for a question.

    Args:
        items: the tools.
        said: what each of them says.
    """

    def __init__(self, items: Sequence[Item], said: Sequence[Words]) -> None:
        self.items = items
        self.texts = [each.texts for each in said]
        self._intents = [each.intents for each in said]
        self._names = {item.name.casefold(): place for place, item in enumerate(items)}
        self._having: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, each in enumerate(said):
            for term, weight in each.weights.items():
                self._having[term].append((place, weight))
        self._vectors: NDArray[np.float32] | None = None

    @property
    def knows_meaning(self) -> bool:
        """Whether there is a vector of each tool."""
        return self._vectors is not None

    def learn(self, vectors: Sequence[Vector]) -> None:
        """Take in the vector of each tool, in their order."""
        import numpy as np

        self._vectors = np.stack(vectors) if vectors else None

    def best(
        self, query: str, limit: int, vector: Vector | None = None, weights: Weights = WEIGHTS
    ) -> list[Item]:
        """The tools that fit best, the best first; those that do not fit at all are left out.

        Args:
            query: what is asked.
            limit: how many at most.
            vector: the question's own, where meaning is to count.
            weights: how much the words and the intent count beside it.
        """
        agreed = self._agreements(query)
        scores = self._by_words(query)
        highest = max(scores.values(), default=0.0) or 1.0
        scores = {
            place: each / highest + weights.deed_in_words * agreed[place]
            for place, each in scores.items()
        }
        if vector is not None and self._vectors is not None:
            rest = 1 - weights.words
            scores = {
                place: rest * likeness
                + weights.words * scores.get(place, 0.0)
                + weights.intent * agreed[place]
                for place, likeness in enumerate((self._vectors @ vector).tolist())
            }
        if (named := self._names.get(query.strip().casefold())) is not None:
            scores[named] = float("inf")
        order = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return [self.items[place] for place, score in order[:limit] if score > 0]

    def _agreements(self, query: str) -> list[int]:
        """Of each tool, whether it does what is asked for."""
        wanted, known = intents_of(query), dict[Intents, int]()
        for does in self._intents:
            if does not in known:
                known[does] = agreement(wanted, does)
        return [known[does] for does in self._intents]

    def _by_words(self, query: str) -> dict[int, float]:
        from gateway.toolkit.bm25 import term_id

        scores: dict[int, float] = {}
        for term in dict.fromkeys(map(term_id, asked(query))):
            having = self._having.get(term)
            if not having:
                continue
            tells = rarity(len(self.items), len(having))
            for place, weight in having:
                scores[place] = scores.get(place, 0.0) + tells * weight
        return scores


def asked(query: str) -> list[str]:
    """The terms of a question: of its words, with the long form of what people cut short."""
    text = query if " " in query.strip() else f"{query} {spoken(query)}"
    found = terms(text.replace("_", " "))
    longer = (_LONGER[word] for word in words(query) if word in _LONGER)
    return [*found, *(term for each in longer for term in terms(each))]


def in_full(query: str) -> str:
    """A question with the long form of what people cut short, to be embedded."""
    longer = dict.fromkeys(_LONGER[word] for word in words(query) if word in _LONGER)
    return " ".join([query, *longer])


def topics(items: Iterable[Item], most: int) -> list[str]:
    """The words that the names of some tools have most often, without that of their group."""
    counts: Counter[str] = Counter()
    for item in items:
        own = set(words(spoken(group_of(item))))
        name = item.name.partition("__")[2] or item.name
        counts.update(set(words(spoken(name))) - own)
    return [word for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))][:most]


def _parted(text: str) -> tuple[str, str]:
    """A description's first sentence, and what follows."""
    parts = _SENTENCE.split(text.strip(), maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def _arguments(schema: Any) -> Iterable[str]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        yield spoken(str(name))
        if isinstance(each, Mapping) and isinstance(text := each.get("description"), str):
            yield _parted(text)[0]
