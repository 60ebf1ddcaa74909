"""What was written just before: after ``d.x = b``, ``d.x()`` calls ``b`` alone; after ``d = b``,
``d()`` does.

The linker joins everything that is ever written to a member or variable. Between a write and the
next thing that might change it again, a member that is read or a variable that is called is a
variable of its own here (``x@2``), which holds what was written. That ends with the statement list,
and with any call, as another function may write too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plugins.codegraph.facts import Attr, Bind, Expr, Inner, Name
from plugins.codegraph.languages.typescript.builder import ScopeBuilder

RENAMED = "@"
"""Separates the original name and the number in a renamed name."""

RUNS_OTHERS = frozenset(
    {"call_expression", "new_expression", "await_expression", "yield_expression"}
)
"""Expressions after which other code may have run."""
SOMETIMES = frozenset({"binary_expression", "ternary_expression"})
"""Expressions whose parts may not run, or are lowered in another order than they run in."""


class WrittenMembers:
    """The members and variables that certainly hold what was last written to them.

    Args:
        fresh: makes a name that is unique in the file.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self._fresh = fresh
        self._objects: set[tuple[int, str]] = set()
        self._held: dict[tuple[int, str, str], str] = {}
        self._variables: dict[tuple[int, str], Name | Inner] = {}
        self._list = -1

    def declare(self, scope: ScopeBuilder, name: str) -> None:
        """Declare a variable that holds a plain object, whose members have no accessors."""
        self._objects.add((scope.number, name))

    def forget(self) -> None:
        """Anything may have changed."""
        if self._held:
            self._held.clear()
        if self._variables:
            self._variables.clear()

    def within(self, statements: int) -> None:
        """The next statement is one of this list; one of another list may not have run."""
        if statements != self._list:
            self._list = statements
            self.forget()

    def assigned(self, target: Expr | None) -> None:
        """Something was assigned: what this may change is forgotten."""
        if self._variables and type(target) is not Attr:
            self._variables.clear()
        if not self._held:
            return
        if type(target) is Attr:
            self._keep(lambda key: key[2] != target.name)
        elif type(target) is Name:
            self._keep(lambda key: key[1] != target.id)
        else:
            self.forget()

    def _keep(self, kept: Callable[[tuple[int, str, str]], bool]) -> None:
        self._held = {key: own for key, own in self._held.items() if kept(key)}

    def statement(self, scope: ScopeBuilder, binds: Sequence[Bind], to: str) -> None:
        """A statement was lowered that assigns to a member of ``to``.

        Args:
            scope: where it stands.
            binds: what it binds.
            to: the object as written.
        """
        bind = binds[0] if len(binds) == 1 else None
        if bind is None or type(bind.target) is not Attr:
            return
        of, value = bind.target.of, bind.value
        if type(of) is not Name or not isinstance(value, Name | Inner):
            return
        if (scope.number, of.id) in self._objects and of.id.partition(RENAMED)[0] == to:
            made = self._fresh(bind.target.name)
            scope.binds.append(Bind(Name(made), value, None, bind.line))
            self._held[scope.number, of.id, bind.target.name] = made

    def variable(self, scope: ScopeBuilder, binds: Sequence[Bind]) -> None:
        """A statement was lowered that assigns to a variable, or declares one.

        Args:
            scope: where it stands.
            binds: what it binds.
        """
        bind = binds[0] if len(binds) == 1 else None
        if bind is not None and bind.type is None and type(bind.target) is Name:
            self._variables.pop((scope.number, bind.target.id), None)
            if isinstance(bind.value, Name | Inner):
                self._variables[scope.number, bind.target.id] = bind.value

    def called(self, scope: ScopeBuilder, of: Expr | None) -> Expr | None:
        """What is called: of a variable what was written to it, if that is certain."""
        if not self._variables or type(of) is not Name:
            return of
        value = self._variables.get((scope.number, of.id))
        if value is None:
            return of
        made = Name(self._fresh(of.id.partition(RENAMED)[0]))
        scope.binds.append(Bind(made, value, None, 0))
        return made

    def read(self, scope: ScopeBuilder, member: Attr) -> Expr:
        """A member that is read: what was written to it, if that is certain."""
        if not self._held or type(member.of) is not Name:
            return member
        made = self._held.get((scope.number, member.of.id, member.name))
        return member if made is None else Name(made)
