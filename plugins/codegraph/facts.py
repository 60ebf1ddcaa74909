"""What one file says, as plain data: the form that every language is lowered to.

A language module (``languages/``) reads a syntax tree once and writes down definitions, and for
each scope what it binds, returns and calls. The linker (``linker/``) evaluates these facts,
file by file, and never sees a syntax tree. Facts depend on the file's bytes alone, so they are
cached by content hash; they are msgspec structs, encoded as MessagePack arrays.

Expressions are evaluated to their possible values. An expression that no rule covers is None:
unknown. That loses only edges that would have been guesses.
"""

from __future__ import annotations

from typing import Union

import msgspec

from plugins.codegraph.model import EntityKind


class Name(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="n"):
    """A bare name, looked up in the enclosing scopes."""

    id: str


class Attr(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="a"):
    """A member access: ``of.name``, ``of::name``, ``of->name``. ``line`` is the line of the name,
    in languages where reading a member may run a function; else 0."""

    of: Expr | None
    name: str
    line: int = 0


class Arg(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One argument of a call; ``name`` if it is a keyword argument, ``spread`` for ``*x``."""

    value: Expr | None
    name: str = ""
    spread: bool = False


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="c"):
    """A call. ``new`` where the syntax says that it constructs an object (``new X()``)."""

    of: Expr | None
    args: tuple[Arg, ...]
    line: int
    new: bool = False


class Item(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="i"):
    """A subscript. ``key`` is a literal string or number as text, or None for any other.

    In a type it applies type arguments, which are then ``args``: ``list[Foo]``, ``Box<Foo>``.
    """

    of: Expr | None
    key: str | None = None
    args: tuple[Expr | None, ...] = ()


class ParameterOf(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="p"):
    """The argument that a function or function type ``of`` takes as its parameter number ``place``:
    the contextual type of an untyped parameter of an inline function."""

    of: Expr
    place: int


class GuardedBy(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="y"):
    """The argument of a type guard ``of`` where the guard holds: ``isFoo(x)``."""

    of: Expr


class Element(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="e"):
    """What iterating over ``of`` gives; with ``pair``, its keys (0) or its values (1)."""

    of: Expr | None
    pair: int = -1


class Unwrapped(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="w"):
    """The wrapped value: of ``await x``, ``x?``, ``*x``, or what a ``with`` binds."""

    of: Expr | None
    how: str = "await"
    """``await``, ``with``, ``async with``, ``try`` (Rust's ``?``), ``deref``."""


class Group(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="g"):
    """A list, tuple, set or array literal; ``kind`` is the first letter: l, t, s."""

    kind: str
    items: tuple[Expr | None, ...]


class Table(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="m"):
    """A mapping or object literal: literal keys as text, None for any other."""

    items: tuple[tuple[str | None, Expr | None], ...]


class OneOf(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="o"):
    """Any of several alternatives: ``a if c else b``, ``a or b``, a match; in a type, a union."""

    choices: tuple[Expr | None, ...]


class Inner(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="f"):
    """A function or class that is defined inline (a lambda, a closure): its scope's number."""

    scope: int


class Literal(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="l"):
    """A literal of a built-in type, by the language's name for it: ``str``, ``int`` ..."""

    kind: str


class Typed(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="t"):
    """A value of a declared type: a cast, a composite literal ``Foo{...}``.

    ``of`` is evaluated as a type; ``value`` is what was cast, whose own calls still count.
    """

    of: Expr | None
    value: Expr | None = None


class Super(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="s"):
    """The enclosing object, seen as one of its base classes."""


class Many(msgspec.Struct, frozen=True, array_like=True, gc=False, tag="x"):
    """Expressions that only matter for their calls: the operands of ``a + b``, an f-string."""

    items: tuple[Expr | None, ...]
    kind: str = ""
    """The built-in type of the result, if it is certain."""


Expr = Union[  # noqa: UP007
    Name,
    Attr,
    Call,
    Item,
    ParameterOf,
    GuardedBy,
    Element,
    Unwrapped,
    Group,
    Table,
    OneOf,
    Inner,
    Literal,
    Typed,
    Super,
    Many,
]


class Bind(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An assignment of any form: also a loop variable, a field's declaration.

    Attributes:
        target: a ``Name``, an ``Attr`` (``self.x``, ``a.b.c``), an ``Item`` (``d["k"]``), or a
            ``Group`` of these (destructuring; by key in a ``Table``).
        value: what is assigned, or None where that is unknown or absent.
        type: the declared type, or None.
        line: from 1.
    """

    target: Expr
    value: Expr | None
    type: Expr | None = None
    line: int = 0


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One imported name.

    Attributes:
        alias: the local name that it is bound to; "" where nothing is bound (``import "x"``, a
            re-export, ``*``).
        module: what it is imported from, as written, without leading dots in Python.
        symbol: the name imported from the module; "" for the module itself, ``*`` for all.
        level: the number of leading dots in Python.
        exported: the name under which it is re-exported, "" for not, ``*`` for all of them.
        type_only: whether it is imported for type checking alone; it still resolves.
        line: from 1.
    """

    alias: str
    module: str
    symbol: str = ""
    level: int = 0
    exported: str = ""
    type_only: bool = False
    line: int = 0


class Param(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One parameter; ``kind`` is "" (ordinary), ``*`` (rest), ``**`` (rest by keyword) or ``k``
    (keyword only). ``default`` is its default value's expression."""

    name: str
    type: Expr | None = None
    default: Expr | None = None
    kind: str = ""


PLAIN, CALLED, AS_TYPE, TARGET, KEYWORD = "", "c", "t", "w", "k"
RAISED, DECORATOR, IN_MACRO, BASE, MADE = "r", "d", "m", "b", "n"
"""What the syntax around a name says of its use."""


class Use(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An occurrence of a name that is no local variable.

    Attributes:
        of: the name, or the member access that ends with it.
        line: of the name, from 1.
        how: :data:`PLAIN`, :data:`CALLED` (it is what a call calls), :data:`AS_TYPE`,
            :data:`TARGET` (of an assignment), :data:`KEYWORD` (of an argument, as a member of what
            is called), :data:`RAISED` (or caught), :data:`DECORATOR`, :data:`IN_MACRO` (or a
            template), :data:`BASE` (of a class), :data:`MADE` (an object of it is constructed).
        head: whether it stands before the body, where the scope around the definition counts.
    """

    of: Expr
    line: int
    how: str = PLAIN
    head: bool = False


class Scope(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A body in which names are bound: the file (always number 0), a class, a function.

    Attributes:
        kind: ``file``, ``class`` (also an interface, enum, struct, trait, impl) or ``function``
            (also a lambda).
        definition: the number of its definition, or -1 (a lambda, the file, a Rust ``impl``).
        parent: the number of the enclosing scope; -1 for the file.
        name: its own name, "" where it has none.
        params: a function's parameters, the receiver (``self``) first where one is declared.
        returns: a function's declared result type, or None.
        receiver: the type that it is a member of, if that is declared apart from the nesting
            (Go's receiver, Rust's ``impl Foo``), or None.
        bases: a class's base classes, traits or interfaces, in order, except for those in
            ``implements``.
        implements: the interfaces that a class declares to implement, where the language
            distinguishes these from bases.
        decorators: decorators or annotations, outermost first.
        modifiers: of ``static``, ``classmethod``, ``property``, ``async``, ``generator``,
            ``abstract``, ``constructor``, ``interface``, ``enum``, ``global:NAME``,
            ``nonlocal:NAME``, ``local:NAME`` (a declared variable), ``repeated:NAME`` (a member
            that a loop assigns), ``typevar:NAME`` (a type parameter), and a language's own words.
        imports: names imported in it.
        binds: in the order of the text.
        results: the expressions that it returns.
        yields: the expressions that it yields.
        calls: other expressions of the body that contain calls.
        uses: the names that occur in it, where they may be names of entities.
    """

    kind: str
    definition: int
    parent: int
    name: str = ""
    params: tuple[Param, ...] = ()
    returns: Expr | None = None
    receiver: Expr | None = None
    bases: tuple[Expr | None, ...] = ()
    implements: tuple[Expr | None, ...] = ()
    decorators: tuple[Expr | None, ...] = ()
    modifiers: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    binds: tuple[Bind, ...] = ()
    results: tuple[Expr | None, ...] = ()
    yields: tuple[Expr | None, ...] = ()
    calls: tuple[Expr | None, ...] = ()
    uses: tuple[Use, ...] = ()


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entity that the file defines, without its key (which needs the repository).

    Attributes:
        kind: function, method, class, interface or variable.
        name: its own name.
        qualified: its name within the file: ``Outer.method``.
        line, end_line: the first and the last line, from 1.
        start, end: byte offsets of its text, including decorators and doc comment.
        signature: one line.
        doc: its docstring or doc comment, cleaned, at most 2,000 characters.
        exported: whether other files may use it.
        parent: the number of the definition that contains it, or -1 for the file.
        test: whether it is a test, by the language's own conventions.
    """

    kind: EntityKind
    name: str
    qualified: str
    line: int
    end_line: int
    start: int
    end: int
    signature: str = ""
    doc: str = ""
    exported: bool = True
    parent: int = -1
    test: bool = False


class UrlPath(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL or path that is written out as an argument of a call, a decorator or an annotation:
    ``call`` is the last name of what takes it (``get`` of ``app.get("/users")``), ``line`` that of
    the name, ``path`` and ``host`` as ``languages/url_templates.py`` spells them, ``methods`` the
    HTTP methods that the call says, ``decorates`` the definition it stands before, or -1."""

    call: str
    line: int
    path: str
    host: str = ""
    methods: tuple[str, ...] = ()
    decorates: int = -1


class FileFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All facts of one file.

    Attributes:
        language: the language's name.
        lines: the number of lines.
        package: the package that it declares (Go, Java), or "".
        doc: the file's own docstring or header comment, at most 2,000 characters.
        definitions: in the order of the text; a parent comes before what it contains.
        scopes: the file's first; a scope comes after the one that encloses it.
        problem: what could not be read, with lines ("2 syntax errors, the first in line 12").
        generated: whether its text says that it is generated, or it is minified.
        words: the identifiers that occur in it, packed (``languages/identifiers.py``); once the
            file is parsed, without ``locals``.
        locals: the occurrences of names that certainly are local variables, each with its line;
            empty once ``words`` is there.
        url_paths: the URLs and paths in it, by line (``languages/url_paths.py``).
    """

    language: str
    lines: int
    package: str = ""
    doc: str = ""
    definitions: tuple[Definition, ...] = ()
    scopes: tuple[Scope, ...] = ()
    problem: str = ""
    generated: bool = False
    words: bytes = b""
    locals: tuple[tuple[str, int], ...] = ()
    url_paths: tuple[UrlPath, ...] = ()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(FileFacts)

FACTS_VERSION = 14
"""Raised whenever a language module or this file changes what facts mean; facts of other versions
are dropped."""


def encoded(facts: FileFacts) -> bytes:
    """The facts as MessagePack."""
    return _encoder.encode(facts)


def decoded(data: bytes) -> FileFacts:
    """The facts that :func:`encoded` wrote.

    Raises:
        msgspec.DecodeError: the data is something else, or of another version.
    """
    return _decoder.decode(data)


def last_name(expr: Expr | None) -> str:
    """The last part of a dotted name; for a call or a subscript, of what is called or subscripted;
    "" for anything else."""
    while expr is not None:
        if type(expr) is Name:
            return expr.id
        if type(expr) is Attr:
            return expr.name
        if isinstance(expr, Item | Call | ParameterOf | GuardedBy):
            expr = expr.of
        else:
            return ""
    return ""
