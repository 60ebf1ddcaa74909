"""Solves questions that depend on each other, each once; the order of asking does not matter.

A question is solved by a function that may ask further questions. A question that depends on
itself is answered with its current assumption (nothing, at first), and the outermost question of
the cycle is solved again until nothing changes. Where answers only ever grow, that is the least
fixed point. Some rules accept a value only if there is no other, which is not monotonic, so a
cycle is always iterated from the same one of its questions, whichever was asked first: the
answers are the same for every order of questions.

Each answer is stored with its dependencies, for later questions that use it. They include what
earlier passes over a cycle looked at: the last pass starts from the result of the one before,
and may not look there again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from plugins.codegraph.linker.values import NOTHING

MAX_PASSES = 8
"""How many times a cycle is solved again at most."""
MAX_DEPTH = 1_500
"""How many questions may be open at once; beyond that, a question stays unanswered."""

Key = Hashable
Answer = Any
_Asked = tuple[Key, Callable[..., Answer], tuple[Any, ...]]
"""A question, and the function and arguments that solve it."""


class _Frame:
    """One open question."""

    __slots__ = ("changed", "deps", "head", "index", "low", "members")

    def __init__(self, index: int) -> None:
        self.index = index
        self.low = index
        self.deps: set[str] = set()
        self.members: list[_Asked] = []
        self.head = False
        self.changed = False


class Solver:
    """Answers questions and caches the answers."""

    def __init__(self) -> None:
        self._done: dict[Key, tuple[Answer, frozenset[str]]] = {}
        self._open: dict[Key, _Frame] = {}
        self._partial: dict[Key, tuple[Answer, int]] = {}
        self._assumed: dict[Key, Answer] = {}
        self._roots: set[Key] = set()
        self._before: dict[Key, set[str]] = {}
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        self._stack: list[_Frame] = [_Frame(0)]
        self.top = self._stack[0]

    @property
    def idle(self) -> bool:
        """Whether no question is open except for the outermost."""
        return len(self._stack) == 1

    @property
    def circular(self) -> bool:
        """Whether the question being solved is known to depend on itself."""
        return self.top.head or self.top.low < self.top.index

    def begin(self) -> None:
        """Start a new set of recorded dependencies."""
        self._stack = [_Frame(0)]
        self.top = self._stack[0]
        self._open.clear()
        self._partial.clear()
        self._assumed.clear()
        self._roots.clear()
        self._before.clear()

    def noted(self) -> frozenset[str]:
        """The dependencies of everything asked since :meth:`begin`."""
        return frozenset(self._stack[0].deps)

    def note(self, dependency: str) -> None:
        """Record a dependency."""
        self.top.deps.add(dependency)

    def solve(self, key: Key, work: Callable[..., Answer], *args: Any) -> Answer:
        """The answer to a question.

        Args:
            key: identifies the question.
            work: computes the answer from ``args``. The answer must not be mutated afterwards.
        """
        done = self._done.get(key)
        if done is not None:
            if done[1]:
                self.top.deps |= done[1]
            return done[0]
        partial = self._partial.get(key)
        if partial is not None:
            if partial[1] < self.top.low:
                self.top.low = partial[1]
            return partial[0]
        running = self._open.get(key)
        if running is not None:
            running.head = True
            if running.index < self.top.low:
                self.top.low = running.index
            return self._assumed.get(key, NOTHING)
        if len(self._stack) > MAX_DEPTH:
            return NOTHING
        return self._work(key, work, args)

    def _work(self, key: Key, work: Callable[..., Answer], args: tuple[Any, ...]) -> Answer:
        parent = self.top
        before = self._before.pop(key, set())
        for attempt in range(1, MAX_PASSES + 1):
            frame = _Frame(len(self._stack))
            frame.deps = before
            self._stack.append(frame)
            self.top = frame
            self._open[key] = frame
            answer = work(*args)
            del self._open[key]
            self._stack.pop()
            self.top = parent
            parent.deps |= frame.deps
            if frame.head and self._assumed.get(key, NOTHING) != answer:
                self._assumed[key] = answer
                frame.changed = True
            if frame.low < frame.index:
                self._postpone((key, work, args), answer, frame, parent)
                return answer
            first = self._first(key, frame)
            if first is not None:
                self._before[first[0]] = set(frame.deps)
                return self._from(first, (key, work, args))
            if not frame.changed or attempt == MAX_PASSES:
                break
            for member in frame.members:
                self._partial.pop(member[0], None)
        self._finish(key, answer, frame)
        return answer

    def _first(self, key: Key, frame: _Frame) -> _Asked | None:
        """The question that this cycle is to be iterated from, unless it is this one."""
        if not frame.members or key in self._roots:
            return None
        first = min(frame.members, key=lambda member: repr(member[0]))
        if repr(first[0]) >= repr(key):
            return None
        for member in frame.members:
            self._partial.pop(member[0], None)
            self._assumed.pop(member[0], None)
        self._assumed.pop(key, None)
        return first

    def _from(self, first: _Asked, asked: _Asked) -> Answer:
        """Solve a cycle from its first question, then answer the one that was asked."""
        self._roots.add(first[0])
        self.solve(first[0], first[1], *first[2])
        self._roots.discard(first[0])
        self._roots.add(asked[0])
        answer = self.solve(asked[0], asked[1], *asked[2])
        self._roots.discard(asked[0])
        return answer

    def _postpone(self, asked: _Asked, answer: Answer, frame: _Frame, parent: _Frame) -> None:
        """Part of a cycle that began further out: the answer is provisional until that one is
        final."""
        self._partial[asked[0]] = (answer, frame.low)
        parent.low = min(parent.low, frame.low)
        parent.members += frame.members
        parent.members.append(asked)
        parent.changed = parent.changed or frame.changed

    def _finish(self, key: Key, answer: Answer, frame: _Frame) -> None:
        deps = frozenset(frame.deps)
        deps = self._sets.setdefault(deps, deps)
        self._done[key] = (answer, deps)
        if not frame.head and not frame.members:
            return
        self._assumed.pop(key, None)
        for member, _, _ in frame.members:
            self._assumed.pop(member, None)
            kept = self._partial.pop(member, None)
            if kept is not None:
                self._done[member] = (kept[0], deps)
