"""Renames local variables to versions, one per assignment (similar to SSA form).

The linker merges all values that are ever assigned to a name. So within a function each
reassignment gets a name of its own here (``x#2``), and where branches join, another name that
may be any of theirs. So ``x = A(); x = B(); x.m()`` is ``B.m`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from plugins.codegraph.facts import Bind, Expr, Name, Typed

State = tuple[dict[str, str], set[str]]


class Flow:
    """The current versions of one function's variables.

    Args:
        plain: whether names are not versioned: in files and classes, whose names others see, and
            in functions whose inner functions assign to them.
        outer: the enclosing function, class or file; none around a file.
        count: returns a new number each time.
    """

    def __init__(self, plain: bool, outer: Flow | None, count: Callable[[], int]) -> None:
        self.plain = plain
        self.names: dict[str, str] = dict(outer.names) if outer else {}
        self.assigned: set[str] = set()
        self.fixed: set[str] = set()
        self.narrowed: dict[str, str] = {}
        self.defined: set[str] = set()
        self._outer = outer
        self._shared: dict[str, bool] = {}
        self._count = count

    def inner(self, plain: bool) -> Flow:
        """The variables of a function or class within this one, none yet."""
        return Flow(plain, self, self._count)

    def define(self, name: str) -> None:
        """A function or class of this name is defined here: from now on the name may be its own,
        whatever other branches assign to it."""
        self.defined.add(name)
        self.assigned.add(name)
        self.names.pop(name, None)

    def is_local(self, name: str) -> bool:
        """Whether a name certainly is a variable of this function, or of one around it."""
        return name in self.names and name not in self.defined and not self._is_shared(name)

    def _is_shared(self, name: str) -> bool:
        """Whether a name may be one that is defined outside this function."""
        # Asked of the outer ones each time: a copy for each of 50,000 functions takes minutes.
        if name in self._shared or self._outer is None:
            return self._shared.get(name, False)
        return name in self._outer.defined or self._outer._is_shared(name)

    def fresh(self, name: str) -> str:
        """A name for a new version."""
        return f"{name}#{self._count()}"

    def assign(self, name: str) -> str:
        """The versioned name for an assignment at this point."""
        if self.plain or name in self.fixed:
            return name
        self._shared[name] = False
        if name not in self.assigned:
            self.assigned.add(name)
            self.names[name] = name
            return name
        made = self.fresh(name)
        self.names[name] = made
        return made

    @contextmanager
    def comprehension(self) -> Iterator[None]:
        """What is assigned within is gone afterwards."""
        names, shared = dict(self.names), dict(self._shared)
        yield
        self.names, self._shared = names, shared

    def renew(self, name: str) -> None:
        """Declare a variable of a comprehension."""
        self.names[name] = self.fresh(name)
        self._shared[name] = False

    def own(self, names: Iterable[str]) -> None:
        """Declare the function's parameters."""
        for name in names:
            self.assigned.add(name)
            self.names[name] = name
            self._shared[name] = False

    def fix(self, name: str) -> None:
        """Declare a name as ``global`` or ``nonlocal``."""
        self.fixed.add(name)
        self.names.pop(name, None)

    def narrow(self, name: str, to: Expr) -> Bind:
        """Start a version of a name that has a tested type; returns its binding."""
        before = self.names.get(name, name)
        if name not in self.names:
            self._shared[name] = True
        made = self.fresh(name)
        self.narrowed[made] = before
        self.names[name] = made
        return Bind(Name(made), Typed(to, Name(before)))

    def save(self) -> State:
        """A snapshot of the current versions."""
        return dict(self.names), set(self.assigned)

    def restore(self, state: State) -> None:
        """Return to a snapshot, for another branch."""
        self.names = dict(state[0])
        self.assigned = set(state[1])

    def _unnarrowed(self, version: str) -> str:
        while version in self.narrowed:
            version = self.narrowed[version]
        return version

    def meet(self, before: State, branches: list[State]) -> list[Bind]:
        """Join several branches.

        Args:
            before: the state before the branches; where it is itself one of the joined states, it
                must be listed in ``branches`` too.
            branches: the states at the end of each branch that completes.

        Returns:
            Bindings of the new versions to those they are joined from.
        """
        if self.plain:
            return []
        if len(branches) == 1:
            self.restore(branches[0])
            return []
        binds: list[Bind] = []
        if not branches:
            self.restore(before)
            return binds
        names = dict(before[0])
        assigned = set(before[1]).union(*(branch[1] for branch in branches))
        for name in sorted({name for branch in branches for name in branch[0]}):
            ends = {self._unnarrowed(branch[0].get(name, name)) for branch in branches}
            if len(ends) == 1:
                (names[name],) = ends
                continue
            made = self.fresh(name)
            binds += [Bind(Name(made), Name(end)) for end in sorted(ends)]
            names[name] = made
        self.names = names
        self.assigned = assigned
        return binds

    def loop(self, before: State, after: State) -> list[Bind]:
        """Join the end of a loop's body with its start: values assigned in it may be seen there."""
        if self.plain:
            return []
        binds = []
        for name, version in sorted(after[0].items()):
            start = before[0].get(name)
            end = self._unnarrowed(version)
            if start is not None and end != self._unnarrowed(start):
                binds.append(Bind(Name(self._unnarrowed(start)), Name(end)))
        return binds
