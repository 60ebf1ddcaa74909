"""Which value of a variable is meant at a place: a version of it for each assignment.

The linker takes everything that is ever given to a name together. Within a function, where a name
is given several values one after the other, each gets a name of its own here (``x#2``), and where
branches meet again, one that is any of theirs. So ``x = A(); x = B(); x.m()`` is ``B.m`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plugins.codegraph.facts import Bind, Expr, Name, Typed

State = tuple[dict[str, str], set[str]]


class Flow:
    """The versions of one function's variables that are current at the place being read.

    Args:
        plain: whether names keep their own name: in files and classes, where others see them,
            and in functions whose inner ones assign to them.
        outer: the versions that are current around the function.
        count: makes numbers.
    """

    def __init__(self, plain: bool, outer: dict[str, str], count: Callable[[], int]) -> None:
        self.plain = plain
        self.names = dict(outer)
        self.assigned: set[str] = set()
        self.fixed: set[str] = set()
        self.narrowed: dict[str, str] = {}
        self._count = count

    def fresh(self, name: str) -> str:
        """A new version's name."""
        return f"{name}#{self._count()}"

    def assign(self, name: str) -> str:
        """The name that an assignment here gives a value to."""
        if self.plain or name in self.fixed:
            return name
        if name not in self.assigned:
            self.assigned.add(name)
            self.names[name] = name
            return name
        made = self.fresh(name)
        self.names[name] = made
        return made

    def own(self, names: Iterable[str]) -> None:
        """These are the function's parameters."""
        for name in names:
            self.assigned.add(name)
            self.names[name] = name

    def fix(self, name: str) -> None:
        """A name that belongs to a scope around: ``global``, ``nonlocal``."""
        self.fixed.add(name)
        self.names.pop(name, None)

    def narrow(self, name: str, to: Expr) -> Bind:
        """From here on a name is of a type that was tested for."""
        before = self.names.get(name, name)
        made = self.fresh(name)
        self.narrowed[made] = before
        self.names[name] = made
        return Bind(Name(made), Typed(to, Name(before)))

    def save(self) -> State:
        """The versions now."""
        return dict(self.names), set(self.assigned)

    def restore(self, state: State) -> None:
        """Go back to those versions, for another branch."""
        self.names = dict(state[0])
        self.assigned = set(state[1])

    def _unnarrowed(self, version: str) -> str:
        while version in self.narrowed:
            version = self.narrowed[version]
        return version

    def meet(self, before: State, branches: list[State]) -> list[Bind]:
        """Several branches end here; ``before`` counts where it is one of them.

        Returns:
            What the new versions are made of.
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
        """A loop's body ends here and begins again: what it assigned may be seen at its start."""
        if self.plain:
            return []
        binds = []
        for name, version in sorted(after[0].items()):
            start = before[0].get(name)
            end = self._unnarrowed(version)
            if start is not None and end != self._unnarrowed(start):
                binds.append(Bind(Name(self._unnarrowed(start)), Name(end)))
        return binds
