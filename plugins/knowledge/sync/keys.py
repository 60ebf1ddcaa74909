"""Which file is served under which key, where several ask for the same one.

A key that is served stays with its file, as permalinks and links lead there. A new one goes to the
first source in the order of the configuration, and there to the first path. Within a source
Markdown comes before a document of another kind. Nobody can rename what lies in other people's
repositories, so what comes too late gets a longer id where one can be made: behind the name of its
source against a file of another one, with its suffix where it is a document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from plugins.knowledge.notes import conversion
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.ids import InvalidId, check_id


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a file asks to be served as.

    Attributes:
        path: the document's.
        key: the ``contentType/id`` that its type and its name or path give.
        source: the place of its source in the configuration.
        name: of its source, or an empty text.
        held: the key that it is served under already, or an empty text.
    """

    path: str
    key: str
    source: int = 0
    name: str = ""
    held: str = ""

    @property
    def is_document(self) -> bool:
        """Whether the file is one that is converted."""
        return conversion.is_document(self.path)

    @property
    def stem(self) -> str:
        """The path without its suffix."""
        return str(PurePosixPath(self.path).with_suffix(""))

    def form(self, *, named: bool, suffixed: bool) -> str | None:
        """The key in a longer form; None where there is none."""
        type, _, id = self.key.partition("/")
        if (named and not self.name) or (suffixed and not self.is_document):
            return None
        before = f"{self.name}." if named else ""
        after = PurePosixPath(self.path).suffix if suffixed else ""
        try:
            return f"{type}/{check_id(f'{before}{id}{after}')}"
        except InvalidId:
            return None

    def forms(self) -> Iterator[str]:
        """Every key under which the file may be served."""
        for named in (False, True):
            for suffixed in (False, True):
                if (key := self.form(named=named, suffixed=suffixed)) is not None:
                    yield key


@dataclass(slots=True)
class Keys:
    """Who is served as what.

    Attributes:
        served: the keys of the files that are served, by their paths.
        problems: why another is not, by its path.
    """

    served: dict[str, str] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)


def assigned(candidates: Mapping[str, Candidate]) -> Keys:
    """Give each file a key, as far as there are enough.

    Args:
        candidates: what they ask for, by their paths; complete in each key that one may get.
    """
    found, taken = Keys(), dict[str, Candidate]()
    marked = {(one.source, one.key) for one in candidates.values() if not one.is_document}
    written = {(one.key, one.stem): one for one in candidates.values() if not one.is_document}

    def holds(one: Candidate) -> bool:
        gives_way = one.is_document and one.held == one.key and (one.source, one.key) in marked
        return not gives_way and one.held in one.forms()

    def place(one: Candidate) -> tuple[bool, int, bool, str]:
        return not holds(one), one.source, one.is_document, one.path

    for one in sorted(candidates.values(), key=place):
        original = written.get((one.key, one.stem)) if one.is_document else None
        if original is not None:
            found.problems[one.path] = _same(one.path, original.path)
            continue
        key = one.held if holds(one) and one.held not in taken else _free(one, taken)
        if key is None:
            found.problems[one.path] = _collision(one, taken[one.key].path)
        else:
            found.served[one.path] = key
            taken[key] = one
    return found


def _free(one: Candidate, taken: Mapping[str, Candidate]) -> str | None:
    """The shortest key that nobody has and that tells the file from who has the shorter one."""
    named = suffixed = False
    key: str | None = one.key
    while key is not None and (rival := taken.get(key)) is not None:
        if rival.source != one.source and not named:
            named = True
        elif rival.source == one.source and not suffixed:
            suffixed = True
        else:
            return None
        key = one.form(named=named, suffixed=suffixed)
    return key


def _same(path: str, original: str) -> Problem:
    reason = (
        f"is not served, as {original} beside it is the same in Markdown; to have both served, "
        "give one of the two another name"
    )
    return Problem(path, 1, reason, "warning")


def _collision(one: Candidate, winner: str) -> Problem:
    reason = (
        f"{one.key} is also what {winner} is served as; give one of the two another name or type"
    )
    return Problem(one.path, 1, reason)
