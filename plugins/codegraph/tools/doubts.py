"""Why something that nothing in the graph uses may be used nevertheless."""

from __future__ import annotations

import builtins
import io
import re
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from plugins.codegraph.linker.mentions import as_asked
from plugins.codegraph.model import EdgeKind, Entity, EntityKind, Strategy
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.entity_detail import INHERITS
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES, Found
from plugins.codegraph.tools.hidden_uses import hidden_uses
from plugins.codegraph.tools.notes import Completeness
from plugins.codegraph.tools.overrides import overridden, overriding
from plugins.codegraph.tools.uses import USES

_RUN_BY_NAME = re.compile(
    r"__\w+__|main|init|(?:async)?(?:setUp|tearDown|SetUp|TearDown)(?:Class|Module)?"
    r"|(?:setup|teardown)(?:_(?:class|function|method|module))?|(?:test|pytest|visit|do|on)_\w+"
    r"|collect_ignore(?:_glob)?|_(?:repr|ipython)_\w+_|[pt]_\w+"
    r"|to(?:Locale)?String|toJSON|valueOf|then|equals|hashCode|compareTo|(?:dis)?connectedCallback"
    r"|(?:attributeChanged|adopted)Callback|ng(?:On|Do|After)[A-Z]\w+"
)
"""Names that something outside of the repository may ask for: special methods, entry points, tests,
what notebooks show, what parser generators read, and what scripts and Java ask every object for."""
_READS_NAMES = re.compile(
    r"\b(?:globals|locals|vars|dir)\(|__subclasses__|__init_subclass__|getmembers|metaclass="
)
_REGISTERS = re.compile(r"__subclasses__|__init_subclass__|metaclass=|\(type\):")
"""What says in a file that its classes know those below them."""
_READS_MEMBERS = re.compile(
    r"\b[gs]etattr\(\s*(?:self|cls)\s*,\s*[^\"'\s]|\bthis\[(?![\"'`\d])|\bvars\(self\)|__dict__"
)
"""What says in a file that its classes look up members by names made at run time."""
_DECORATES = ("@", "#[")
_COMMENTS = ("//", "*", "/*", "# ")
_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_HARMLESS = re.compile(
    r"@(?:abc\.|typing\.|functools\.|\w+\.(?=setter|getter|deleter))*"
    r"(?:(?:cached_)?property|(?:static|class|abstract|partial|singledispatch)method|(?:lru_)?cache"
    r"|setter|getter|deleter|overload|override|final|wraps|contextmanager|dataclass|Override|Deprecated|SuppressWarnings|SafeVarargs"
    r"|FunctionalInterface|Nullable|NonNull|NotNull)\b"
    r"|#\[(?:inline|must_use|allow|expect|cfg|doc|deprecated|cold|track_caller)\b"
)
"""What decorates something in a class without telling anybody of it."""
_STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
BY_PATH = frozenset({"python", "typescript", "javascript"})
"""Languages in which a file can be loaded that no other file imports."""
_WORD = re.compile(r"[^\W\d]\w*")
_HEAD_WORDS = frozenset(
    {"class", "interface", "struct", "enum", "record", "trait", "type", "extends", "implements"}
    | {"abstract", "final", "public", "private", "protected", "static", "export", "default"}
    | {"declare", "sealed", "pub", "crate", "object", "Object", "Generic", "Protocol", "ABC"}
    | {"func", "any", "typing", "abc"}
)
"""What the head of a class may say without having a base that is not here."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be deleted.

    Attributes:
        graph: where it is.
        found: the entity.
        within: the keys of it and of everything in it.
        lines: the lines of its file.
    """

    graph: Graph
    found: Found
    within: frozenset[int]
    lines: Sequence[str]

    @property
    def entity(self) -> Entity:
        """The entity itself."""
        return self.found.entity


async def doubts_of(case: Case, complete: Completeness) -> list[str]:
    """Why something that nothing uses may be used nevertheless."""
    doubts = [] if complete.state == "complete" else [complete.why or "Its uses are not known."]
    entity = case.entity
    if entity.kind is EntityKind.FILE:
        doubts.append("It is a whole file: ask for what is in it, and for get_imports.")
    if entity.test or any(each.test for each in case.found.all):
        doubts.append("It is a test: the test runner calls it.")
    if is_run_by_name(entity.name):
        doubts.append(f"The name {entity.name} may be called by convention, from outside.")
    doubts += await _of_members(case)
    doubts += await _of_class(case)
    doubts += await _of_names(case)
    doubts += await _of_file(case)
    doubts += await hidden_uses(case.graph, entity, case.within, case.lines)
    if _decorated(case.lines, entity):
        doubts.append("What decorates or annotates it may register it.")
    elif inner := await _decorated_within(case):
        doubts.append(f"What decorates {inner} in it may register it.")
    if entity.kind is EntityKind.VARIABLE and "(" in _own_text(case):
        doubts.append("Its value is computed by a call, which may do more than that.")
    return doubts


def is_run_by_name(name: str) -> bool:
    """Whether something outside of the repository may ask for a name by convention."""
    return _RUN_BY_NAME.fullmatch(name) is not None


async def _of_names(case: Case) -> list[str]:
    """The doubts that other code may come to it by its name, though no place is unread."""
    entity, found = case.entity, []
    if _says(_READS_NAMES, await _text(case.graph, entity)):
        found.append("Its file reads names as data (globals, dir, subclasses): it may be found so.")
    if entity.kind in CALLABLE and entity.name in _of_builtins():
        found.append("What looks like a list, a mapping or a file is asked for a method so named.")
    if entity.kind is not EntityKind.METHOD:
        return found
    same = [each.key for each in await case.graph.find(entity.name, None, (EntityKind.METHOD,))]
    walk = await case.graph.uses(set(same) - case.within, USES)
    guessed = [each for each in walk.reached if each.strategy is Strategy.INFERRED]
    if guessed:
        where = f"{guessed[0].path}:{guessed[0].line}"
        found.append(f"A call at {where} leads to a method of that name by inference, or to it.")
    return found


@cache
def _of_builtins() -> frozenset[str]:
    """The methods of what Python and its library take for granted of an object."""
    kinds = (list, dict, set, str, bytes, io.TextIOWrapper, io.BytesIO, Generator, Mapping)
    return frozenset(name for kind in kinds for name in dir(kind))


async def _of_file(case: Case) -> list[str]:
    """The doubts about anything in a file that is a stub, or that no other file imports."""
    entity = case.entity
    if entity.path.endswith(_STUBS):
        return ["It is declared for type checkers alone: see what it declares."]
    if entity.language not in BY_PATH or entity.path.endswith("__init__.py"):
        return []
    whole = [each for each in await case.graph.in_file(entity.path) if each.parent is None]
    keys = {each.key for each in whole}
    if entity.kind is EntityKind.FILE or entity.parent not in keys:
        return []
    inside = {each.key for each in await case.graph.in_file(entity.path)}
    walk = await case.graph.uses(inside, (EdgeKind.IMPORTS, EdgeKind.REFERENCES))
    if any(each.entity.path != entity.path for each in walk.reached):
        return []
    return ["Nothing imports its file: what loads it by its path may read its names."]


async def _of_class(case: Case) -> list[str]:
    """The doubts about a class: its bases may know it."""
    if case.entity.kind is not EntityKind.CLASS:
        return []
    owners = await _and_bases(case.graph, case.entity)
    known = {each.name for each in owners} | set(dir(builtins))
    if any([await _has_other_bases(case.graph, each, known) for each in owners]):
        return ["A base of it is outside of the repository, and may know its subclasses."]
    above = [each for each in owners if each.key not in case.within]
    if any([_says(_REGISTERS, await _text(case.graph, each)) for each in above]):
        return ["A base of it knows its subclasses, and may find it so."]
    return []


async def _and_bases(graph: Graph, owner: Entity) -> tuple[Entity, ...]:
    bases = await graph.walk([owner.key], INHERITS, False, depth=5)
    return owner, *(each.entity for each in bases.reached)


async def _text(graph: Graph, entity: Entity) -> str:
    """The text of the file that an entity is in."""
    return (await graph.source(entity.path) or b"").decode("utf-8", "replace")


@lru_cache(maxsize=64)
def _says(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a file says something; remembered, since many entities of one file are asked for."""
    return pattern.search(text) is not None


async def _of_members(case: Case) -> list[str]:
    """The doubts about a member: what its class inherits, overrides and shows."""
    graph, entity = case.graph, case.entity
    parents = await graph.entities([] if entity.parent is None else [entity.parent])
    around = next(iter(parents.values()), None)
    if around is None or around.kind not in TYPES:
        return []
    found = [
        f"It overrides {each.qualified} ({each.path}:{each.line})."
        for each in (await overridden(graph, case.found.all)).methods[:1]
    ]
    found += [
        f"{each.qualified} ({each.path}:{each.line}) overrides it."
        for each in (await overriding(graph, case.found.all))[:1]
    ]
    owners = await _and_bases(graph, around)
    below = await graph.walk([around.key], INHERITS, True, depth=5)
    family = (*owners, *(each.entity for each in below.reached))
    texts = {each.path: await _text(graph, each) for each in family}
    if any(_says(_READS_MEMBERS, text) for text in texts.values()):
        found.append("Its class, or one above or below, looks up members by computed names.")
    known = {each.name for each in owners}
    if any([await _has_other_bases(graph, owner, known) for owner in owners]):
        found.append("Its class has a base outside of the repository, which may use it.")
    if any(each.test for each in await graph.in_file(entity.path)):
        found.append("Its class stands among tests: what it stands in for may be asked for it.")
    for each in (await graph.mentions([as_asked(entity.name)]))[:1]:
        where = f"{each.path}:{each.line}"
        found.append(f"What seems to be outside of the repository is asked for it at {where}.")
    return found + _of_kind(case, around)


def _of_kind(case: Case, around: Entity) -> list[str]:
    """The doubts about a member by what it and its class are."""
    entity = case.entity
    method = entity.kind in CALLABLE
    asked = (
        (
            around.kind is EntityKind.INTERFACE,
            "It belongs to an interface, for others.",
        ),
        (not method and _decorated(case.lines, around), "What decorates its class may use fields."),
        (method and _of_trait(case.lines, entity), "It implements a trait, which others call."),
        (
            entity.language == "go" and entity.exported,
            "An interface outside of the repository may ask for a method of its name.",
        ),
    )
    return [doubt for holds, doubt in asked if holds]


async def _has_other_bases(graph: Graph, owner: Entity, known: Collection[str]) -> bool:
    """Whether the head of a class names something that is not a base in the graph."""
    lines = (await _text(graph, owner)).split("\n")[owner.line - 1 : owner.end_line]
    head = ""
    for line in lines[:12]:
        head += line + " "
        if line.rstrip().endswith((":", "{")) or "{" in line:
            break
    head = head.partition("{")[0]
    words = set(_WORD.findall(re.sub(r"<[^>]*>|\[[^\]]*\]", "", head))) - _HEAD_WORDS
    return bool(words - set(known) - {owner.name})


async def _decorated_within(case: Case) -> str:
    """What is in it and is decorated by something that may register it, or ""."""
    inner = await case.graph.entities(case.within - set(case.found.keys))
    for each in inner.values():
        above = _decorators(case.lines, each)
        if any(not _HARMLESS.match(line) for line in above):
            return each.name
    return ""


def _decorated(lines: Sequence[str], entity: Entity) -> bool:
    """Whether a decorator, an annotation or an attribute stands directly above."""
    return bool(_decorators(lines, entity))


def _decorators(lines: Sequence[str], entity: Entity) -> list[str]:
    """The first lines of the decorators, annotations or attributes directly above."""
    at, open_ = entity.line - 1, 0
    found: list[str] = []
    if at < len(lines) and lines[at].lstrip().startswith(_DECORATES):
        found.append(lines[at].lstrip())
    while at > 0 and (open_ > 0 or lines[at - 1].strip()):
        at -= 1
        above = lines[at].lstrip()
        code = "" if above.startswith(_COMMENTS) else _STRING.sub("", above)
        open_ += sum(map(code.count, ")]}")) - sum(map(code.count, "([{"))
        if above.startswith(_DECORATES):
            found.append(above)
            open_ = 0
        elif open_ < 1 and not above.startswith(_COMMENTS):
            break
    return found


def _of_trait(lines: Sequence[str], entity: Entity) -> bool:
    """Whether a Rust method stands in the ``impl`` of a trait."""
    if entity.language != "rust":
        return False
    for line in reversed(lines[: entity.line - 1]):
        if line.lstrip().startswith("impl"):
            return " for " in line
    return False


def _own_text(case: Case) -> str:
    return "\n".join(case.lines[case.entity.line - 1 : case.entity.end_line])
