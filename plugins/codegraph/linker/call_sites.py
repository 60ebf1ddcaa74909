"""Collects the call sites of a file and what each one calls."""

from __future__ import annotations

from plugins.codegraph.facts import (
    Attr,
    Call,
    Element,
    Expr,
    Item,
    Name,
    Scope,
    Super,
    Unwrapped,
    last_name,
)
from plugins.codegraph.languages import effects
from plugins.codegraph.linker import classes, evaluate, mro, overloads
from plugins.codegraph.linker.call_targets import CallTargets
from plugins.codegraph.linker.entities import file_key
from plugins.codegraph.linker.results import of_method
from plugins.codegraph.linker.values import (
    INFERRED,
    Class,
    External,
    Func,
    Instance,
    Method,
    Rank,
    Thing,
    Values,
)
from plugins.codegraph.walk import parts_of

_CALLS_ARGUMENT = {effects.RESULTS, effects.EACH, effects.FIRST, effects.RESULT, effects.CALLED}


class CallSites(CallTargets):
    """Finds the calls of one file."""

    def collect(self) -> None:
        """Visit every expression of the file and record the edges of its calls."""
        index = self._index
        keys = index.keys(self._repo)
        whole = file_key(self._repo, index.path)
        sources = []
        for number in range(len(index.scopes)):
            owner = index.owner(number)
            sources.append(keys[owner] if owner >= 0 else whole)
        for number, scope in enumerate(index.scopes):
            if number:
                self._head(number, scope, sources[scope.parent])
            self._source = sources[number]
            self._scope = number
            self._begin(scope)
            self._body(scope)

    def _head(self, number: int, scope: Scope, around: int) -> None:
        """Decorators, bases and default values run in the scope that encloses the definition."""
        self._source = around
        self._scope = scope.parent
        self._begin(scope)
        for decorator in scope.decorators:
            self._visit(decorator)
            values = evaluate.evaluate(self._engine, self._index, scope.parent, decorator)
            if type(decorator) is Call:
                self._targets(values, "")
            else:
                self._targets(values, last_name(decorator))
        for base in scope.bases:
            self._visit(base)
        if scope.kind == "class" and scope.bases and self._index.rules.subclassed:
            self._subclassed(number)
        for param in scope.params:
            if param.default is not None:
                self._visit(param.default)

    def _begin(self, scope: Scope) -> None:
        """Calls that have no line of their own are placed at the start of the definition."""
        if scope.definition >= 0:
            self._line = self._index.facts.definitions[scope.definition].line

    def _subclassed(self, number: int) -> None:
        """Defining a class calls a method of its bases (``__init_subclass__``)."""
        engine, index = self._engine, self._index
        above = mro.order(engine, index.path, number)[1:]
        if any(isinstance(each, Class) for each in above):
            defined, _, _ = classes.search(engine, above, index.rules.subclassed)
            for path, scope in defined:
                self._edge(Func(path, scope), INFERRED)

    def _body(self, scope: Scope) -> None:
        for bind in scope.binds:
            self._line = bind.line or self._line
            target = bind.target
            if type(target) is Attr:
                self._visit(target.of)
                self._assigned(target)
            elif type(target) is Item:
                self._visit_parts(target)
                if self._index.rules.stores:
                    self._objects(target.of, self._index.rules.stores)
            elif type(target) is not Name:
                self._visit_parts(target)
            self._visit(bind.value)
        for exprs in (scope.results, scope.yields, scope.calls):
            for expr in exprs:
                self._visit(expr)

    def _assigned(self, target: Attr) -> None:
        """Assigning to a property calls its setter."""
        engine = self._engine
        if type(target.of) is Super:
            return
        for value, rank in evaluate.evaluate(engine, self._index, self._scope, target.of).items():
            if isinstance(value, Instance):
                found = classes.setter(engine, value, target.name)
                if found is not None:
                    self._edge(Func(*found), rank)

    def _objects(self, expr: Expr | None, name: str) -> None:
        """Record a call of the method ``name`` on each object that an expression may be."""
        for value, rank in evaluate.evaluate(self._engine, self._index, self._scope, expr).items():
            if isinstance(value, Instance):
                self._method(value, rank, name)

    def _visit_parts(self, expr: Expr) -> None:
        for part in parts_of(expr):
            self._visit(part)

    def _visit(self, expr: Expr | None) -> None:
        todo: list[Expr | None] = [expr]
        while todo:
            each = todo.pop()
            kind = type(each)
            if each is None or kind is Name:
                continue
            if kind is Call:
                self._call(each)  # type: ignore[arg-type]
                of = each.of  # type: ignore[union-attr]
                todo.append(of.of if type(of) is Attr else of)
                todo += [arg.value for arg in each.args]  # type: ignore[union-attr]
                continue
            if kind is Attr:
                self._read(each)  # type: ignore[arg-type]
            elif kind is Unwrapped or kind is Element or kind is Item:
                self._implied(each)  # type: ignore[arg-type]
            todo += parts_of(each)

    def _call(self, call: Call) -> None:
        self._line = call.line or self._line
        values = evaluate.evaluate(self._engine, self._index, self._scope, call.of)
        values = overloads.chosen(self._engine, self._index, self._scope, values, call)
        self._now = call
        of = call.of
        name = of.id if type(of) is Name else of.name if type(of) is Attr else ""
        if type(of) is Super:
            self._constructed(values)
            return
        self._targets(values, name, call if name else None)
        if not values and type(of) is Attr:
            self._missing(of)
        for value in values:
            if isinstance(value, External | Method) and call.args:
                self._passed(value, call)
                if isinstance(value, External) and value.name in self._index.rules.runs:
                    self._objects(call.args[0].value, self._index.rules.runs[value.name])

    def _missing(self, of: Attr) -> None:
        """Looking up a member that a class lacks calls its fallback method (``__getattr__``), if it
        has one."""
        if not self._index.rules.missing or type(of.of) is Super:
            return
        found = evaluate.evaluate(self._engine, self._index, self._scope, of.of)
        for value, rank in found.items():
            if isinstance(value, Instance):
                self._absent(value, rank, of.name)

    def _absent(self, value: Instance, rank: Rank, name: str) -> None:
        """Only where the object's construction was seen (rank ``INFERRED``): a value of a declared
        type may be of a subclass that has the member."""
        engine = self._engine
        if rank == INFERRED and classes.find(engine, value.path, value.scope, name)[2] is None:
            self._method(value, rank, self._index.rules.missing)

    def _constructed(self, values: Values) -> None:
        """``super(...)`` in languages where that calls the base's constructor."""
        if self._index.rules.first_parameter:
            return
        self._targets(values, "super")

    def _passed(self, value: External | Method, call: Call) -> None:
        """A well-known function calls the functions that are passed to it."""
        if isinstance(value, Method):
            word = value.word
        else:
            word = self._index.rules.functions.get(value.name, "")
        if word == effects.SORTED:
            funcs = [arg.value for arg in call.args if arg.name == "key"]
            if isinstance(value, Method) and not funcs:
                funcs = [call.args[0].value]
        elif word in _CALLS_ARGUMENT:
            funcs = [call.args[0].value]
        else:
            return
        for func in funcs:
            found = evaluate.evaluate(self._engine, self._index, self._scope, func)
            some: Values = {v: r for v, r in found.items() if not isinstance(v, Thing)}
            self._targets(some, "")

    def _read(self, expr: Attr) -> None:
        """Reading a property calls its getter."""
        engine = self._engine
        if type(expr.of) is Super:
            return
        self._line = expr.line or self._line
        for value, rank in evaluate.evaluate(engine, self._index, self._scope, expr.of).items():
            if isinstance(value, Instance):
                defined, _, owner = classes.find(engine, value.path, value.scope, expr.name)
                if owner is None and self._index.rules.missing:
                    self._absent(value, rank, expr.name)
                for path, number in defined:
                    if "property" in engine.there(path).scopes[number].modifiers:
                        self._edge(Func(path, number), rank)

    def _implied(self, expr: Unwrapped | Element | Item) -> None:
        """Methods of the repository's objects that iteration, subscripts and ``with`` call
        implicitly."""
        rules = self._index.rules
        if type(expr) is Unwrapped:
            enter = rules.enters.get(expr.how)
            wanted: tuple[str, ...] = (enter, enter.replace("enter", "exit")) if enter else ()
        elif type(expr) is Element:
            wanted = tuple(first for first, _ in rules.iterates)
        else:
            key = expr.key if type(expr) is Item else None
            sliced = key is not None and ":" in key
            wanted = (rules.subscript,) if rules.subscript and not sliced else ()
        if not wanted:
            return
        found = evaluate.evaluate(self._engine, self._index, self._scope, expr.of)
        for value, rank in found.items():
            if isinstance(value, Instance):
                for name in wanted:
                    self._method(value, rank, name)
                if type(expr) is Element:
                    self._advance(value, rank)

    def _advance(self, value: Instance, rank: Rank) -> None:
        """Iterating over an iterator defined in the repository also calls its "next" method."""
        for first, then in self._index.rules.iterates:
            made = of_method(self._engine, self._index, value, rank, first)
            for each, own in made.items():
                if isinstance(each, Instance):
                    self._method(each, own, then)
