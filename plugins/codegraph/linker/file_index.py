"""One file's facts, indexed for lookups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from plugins.codegraph.facts import (
    Arg,
    Attr,
    Bind,
    Call,
    Expr,
    FileFacts,
    Group,
    Import,
    Inner,
    Item,
    Name,
    Scope,
    Table,
    last_name,
)
from plugins.codegraph.languages import effects
from plugins.codegraph.languages.rules import Rules
from plugins.codegraph.linker.entities import definition_keys
from plugins.codegraph.model import EntityKind
from plugins.codegraph.walk import calls_in

Step = tuple[str, str]
"""One step of destructuring: ``("i", "0")`` by position, ``("k", "name")`` by key, ``("*", "")``
for the rest."""


class Origin(NamedTuple):
    """One place that a name's value may come from.

    Attributes:
        how: ``scope`` (a function or class of that name: ``number`` is its scope), ``import``,
            ``bind``, ``param`` (``number`` is its position), ``typevar``, ``item`` (a value put
            into it by key), ``push`` (a value put into it by a method).
        scope: the number of the scope where it stands.
        number: see ``how``.
        of: the import, the bind or the call.
        steps: how the bound value is destructured.
    """

    how: str
    scope: int
    number: int = 0
    of: Import | Bind | Call | None = None
    steps: tuple[Step, ...] = ()


class Put(NamedTuple):
    """A value that is written to a member of a variable's value.

    Attributes:
        of: the variable.
        origin: the value, and where it is written.
    """

    of: str
    origin: Origin


Names = dict[str, list[Origin]]


class FileIndex:
    """The index of one file.

    Attributes:
        path, facts, rules: the file, its facts, and its language's rules.
        names: by scope, the origins of each name that is bound there.
        fields: by class scope, the origins of members that its methods set on the receiver.
        receivers: by function scope, its receiver's name and class scope, or None.
        inner: by scope, the classes and functions directly in it.
        extended: by a type's last name, the scopes that define members of it from outside.
        stars: by scope, its star imports.
        known: cached values of this file's calls, by the ``id`` of the call expression.
        puts: by member name, the values written to objects other than the receiver, where the
            language lets a program do so.
    """

    def __init__(self, path: str, facts: FileFacts, rules: Rules) -> None:
        self.path = path
        self.facts = facts
        self.rules = rules
        self.scopes: tuple[Scope, ...] = facts.scopes
        self.names: list[Names] = [{} for _ in self.scopes]
        self.fields: dict[int, Names] = {}
        self.receivers: list[tuple[str, int] | None] = [None] * len(self.scopes)
        self.extended: dict[str, list[int]] = {}
        self.stars: dict[int, list[Import]] = {}
        self.puts: dict[str, list[Put]] = {}
        self._calls: dict[str, list[tuple[int, Call]]] | None = None
        self._passed: dict[int, tuple[int, Call, int]] | None = None
        self.known: dict[int, Any] = {}
        self._keys: list[int] | None = None
        self._defined: dict[tuple[int, str], list[int]] | None = None
        self._properties: frozenset[int] | None = None
        for number, scope in enumerate(self.scopes):
            self._index(number, scope)

    def _index(self, number: int, scope: Scope) -> None:
        names = self.names[number]
        if number:
            self._child(number, scope)
            if scope.kind == "function":
                self.receivers[number] = self._receiver(scope, number)
        self._declared(number, scope, names)
        elsewhere = self._elsewhere(number, scope)
        for bind in scope.binds:
            self._bind(number, bind, bind.target, (), elsewhere)
        for call in scope.calls:
            if type(call) is Call:
                self._push(number, call, elsewhere)

    def _declared(self, number: int, scope: Scope, names: Names) -> None:
        """Index the names that the scope declares: parameters, type parameters, imports."""
        for place, param in enumerate(scope.params):
            names.setdefault(param.name, []).append(Origin("param", number, place))
        for word in scope.modifiers:
            if word.startswith("typevar:"):
                names.setdefault(word[8:], []).append(
                    Origin("typevar", number, steps=(("v", word[8:]),))
                )
        for each in scope.imports:
            if each.symbol == "*" and not each.alias:
                self.stars.setdefault(number, []).append(each)
            elif each.alias:
                names.setdefault(each.alias, []).append(Origin("import", number, of=each))

    def _child(self, number: int, scope: Scope) -> None:
        if scope.receiver is not None:
            name = last_name(scope.receiver)
            self.extended.setdefault(name, []).append(number)
        elif scope.name:
            around = self.names[scope.parent]
            around.setdefault(scope.name, []).append(Origin("scope", scope.parent, number))

    def _receiver(self, scope: Scope, number: int) -> tuple[str, int] | None:
        """The receiver's name in this scope, and the scope of its class."""
        parent = self.scopes[scope.parent]
        if parent.kind == "class":
            if self.rules.first_parameter:
                if "static" in scope.modifiers or not scope.params:
                    return None
                return (scope.params[0].name, scope.parent)
            return ("", scope.parent)
        if scope.receiver is not None and scope.params:
            return (scope.params[0].name, number)
        outer = self.receivers[scope.parent]
        if outer is None or any(each.name == outer[0] for each in scope.params):
            return None
        return outer

    def receiver_class(self, number: int, name: str) -> int:
        """The class scope whose object ``name`` means in a scope, or -1. For a method that is
        declared outside of its type (``Scope.receiver``) it is the method's own scope."""
        receiver = self.receivers[number]
        if receiver is None:
            return -1
        if name == receiver[0] or (name in self.rules.receivers and not self._hides(number, name)):
            return receiver[1]
        return -1

    def _hides(self, number: int, name: str) -> bool:
        return name in self.names[number] and self.scopes[number].receiver is not None

    def _elsewhere(self, number: int, scope: Scope) -> dict[str, int]:
        """The names that the scope assigns to and does not declare, with the scope that binds
        each."""
        found = self._undeclared(number, scope) if self.rules.member_writes else {}
        for word in scope.modifiers:
            if word.startswith("global:"):
                found[word[7:]] = 0
            elif word.startswith("nonlocal:"):
                found[word[9:]] = self.binder(scope.parent, word[9:])
        return found

    def _undeclared(self, number: int, scope: Scope) -> dict[str, int]:
        """The variables of enclosing scopes that a function assigns to, in a language where each
        variable is declared."""
        found: dict[str, int] = {}
        if not number or scope.kind != "function":
            return found
        for bind in scope.binds:
            if type(bind.target) is not Name or bind.target.id in found:
                continue
            name = bind.target.id
            if name in self.names[number] or f"local:{name}" in scope.modifiers:
                continue
            where = self.binder(scope.parent, name)
            if name in self.names[where]:
                found[name] = where
        return found

    def binder(self, number: int, name: str) -> int:
        """The nearest function scope, from here outward, that binds the name; else 0, the file."""
        while number > 0:
            scope = self.scopes[number]
            if scope.kind == "function" and name in self.names[number]:
                return number
            number = scope.parent
        return 0

    def _bind(
        self, number: int, bind: Bind, target: Expr, steps: tuple[Step, ...], to: dict[str, int]
    ) -> None:
        if isinstance(target, Name):
            names = self.names[to.get(target.id, number)]
            names.setdefault(target.id, []).append(Origin("bind", number, 0, bind, steps))
        elif isinstance(target, Attr):
            self._bind_attr(number, Origin("bind", number, 0, bind, steps), target)
        elif isinstance(target, Item):
            self._into(number, Origin("item", number, 0, bind, steps), target.of, to)
        else:
            for step, part in _taken_apart(target):
                self._bind(number, bind, part, (*steps, step), to)

    def _bind_attr(self, number: int, origin: Origin, target: Attr) -> None:
        if type(target.of) is Name:
            owner = self.receiver_class(number, target.of.id)
            if owner >= 0:
                fields = self.fields.setdefault(owner, {})
                fields.setdefault(target.name, []).append(origin)
                return
            if self.rules.member_writes:
                self.puts.setdefault(target.name, []).append(Put(target.of.id, origin))

    def _into(self, number: int, origin: Origin, of: Expr | None, to: dict[str, int]) -> None:
        """Index a value that is put into a container: a name, or a member of the receiver."""
        if type(of) is Name:
            where = to.get(of.id, number)
            while where > 0 and of.id not in self.names[where]:
                where = self.scopes[where].parent
            self.names[where].setdefault(of.id, []).append(origin)
        elif type(of) is Attr and type(of.of) is Name:
            owner = self.receiver_class(number, of.of.id)
            if owner >= 0:
                self.fields.setdefault(owner, {}).setdefault(of.name, []).append(origin)

    def _push(self, number: int, call: Call, to: dict[str, int]) -> None:
        of = call.of
        if type(of) is Attr and call.args and self.rules.methods.get(of.name) == effects.PUSH:
            self._into(number, Origin("push", number, 0, call), of.of, to)

    def keys(self, repo: str) -> list[int]:
        """The keys of the file's definitions, by definition number."""
        if self._keys is None:
            self._keys = definition_keys(repo, self.path, self.facts)
        return self._keys

    def defined(self, parent: int, name: str) -> list[int]:
        """The definitions of a name directly in another one, or in the file for -1."""
        if self._defined is None:
            self._defined = {}
            for number, each in enumerate(self.facts.definitions):
                self._defined.setdefault((each.parent, each.name), []).append(number)
        return self._defined.get((parent, name), [])

    def is_property(self, definition: int) -> bool:
        """Whether a definition is a property, or its setter: reading or assigning it is a call."""
        if self._properties is None:
            self._properties = frozenset(
                each.definition
                for each in self.scopes
                if "property" in each.modifiers or "setter" in each.modifiers
            )
        return definition in self._properties

    def calls_of(self, name: str) -> list[tuple[int, Call]]:
        """The calls in this file whose callee's last name is ``name``, each with its scope. "()"
        finds the decorators that are themselves the result of a call."""
        if self._calls is None:
            self._calls = self._all_calls()
        return self._calls.get(name, [])

    def _all_calls(self) -> dict[str, list[tuple[int, Call]]]:
        found: dict[str, list[tuple[int, Call]]] = defaultdict(list)
        for number, scope in enumerate(self.scopes):
            for each in calls_in(scope):
                found[last_name(each.of)].append((number, each))
            for decorator in scope.decorators:
                made = Call(decorator, (Arg(Inner(number)),), 0)
                name = "()" if type(decorator) is Call else last_name(decorator)
                found[name].append((scope.parent, made))
        return found

    def passed(self, number: int) -> tuple[int, Call, int] | None:
        """The call that an inline function is an argument of: the call's scope, the call, and the
        argument's position, which is -1 where the function itself is called."""
        if self._passed is None:
            self._passed = {}
            for where, scope in enumerate(self.scopes):
                for call in calls_in(scope):
                    if type(call.of) is Inner:
                        self._passed[call.of.scope] = (where, call, -1)
                    for place, arg in enumerate(call.args):
                        if type(arg.value) is Inner:
                            self._passed[arg.value.scope] = (where, call, place)
        return self._passed.get(number)

    def owner(self, number: int) -> int:
        """The number of the definition that a scope's calls are attributed to; -1 for the file."""
        while number > 0:
            scope = self.scopes[number]
            found = scope.definition
            if found >= 0 and self.facts.definitions[found].kind is not EntityKind.VARIABLE:
                return found
            number = scope.parent
        return -1


def _taken_apart(target: Expr) -> Iterator[tuple[Step, Expr]]:
    """The parts of a destructuring target, each with the step that leads to it."""
    if isinstance(target, Group):
        for place, part in enumerate(target.items):
            if part is not None:
                yield ("i", str(place)), part
    elif isinstance(target, Table):
        for key, part in target.items:
            if part is not None:
                yield ("*", "") if key is None else ("k", key), part
