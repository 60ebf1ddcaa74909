"""The ways in which the languages name an entity, and programs that name it in some of them.

Each way names one entity of its language's library, on lines of its own, and says what the graph
has to say of it: the sort of a reference, a kind of edge, or that it is unresolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent


@dataclass(frozen=True)
class Way:
    """One way to name an entity.

    Attributes:
        language: the language.
        what: what it is, for people.
        text: the lines.
        sort: what the graph says of it: a reference's sort, an edge's kind, or ``unresolved``.
        entity: the entity's name.
    """

    language: str
    what: str
    text: str
    sort: str
    entity: str = "target"


@dataclass(frozen=True)
class Languages:
    """All ways of all languages."""

    ways: tuple[Way, ...]

    @property
    def names(self) -> list[str]:
        """The languages."""
        return list(dict.fromkeys(way.language for way in self.ways))


def _of(language: str, entity: str, ways: Mapping[str, tuple[str, str]]) -> list[Way]:
    return [Way(language, f"{entity} {what}", *way, entity) for what, way in ways.items()]


PYTHON = [
    *_of(
        "python",
        "target",
        {
            "called": ("target()", "calls"),
            "passed": ("register(target)", "value"),
            "by keyword": ("register(key=target)", "value"),
            "stored": ("x = target", "value"),
            "in a table": ("TABLE['x'] = target", "value"),
            "in a list": ("x = [1, target]", "value"),
            "in a dict": ("x = {'a': target}", "value"),
            "compared": ("if x is target: ...", "value"),
            "returned": ("def g():\n    return target", "value"),
            "yielded": ("def g():\n    yield target", "value"),
            "awaited": ("async def g():\n    await run(target)", "value"),
            "default": ("def g(x=target): ...", "value"),
            "lambda": ("x = lambda: target", "value"),
            "comprehension": ("x = [target for _ in y]", "value"),
            "starred": ("register(*target)", "value"),
            "formatted": ("x = f'{target!r}'", "value"),
            "conditional": ("x = target if y else None", "value"),
            "either": ("x = y or target", "value"),
            "subscripted": ("x = target[0]", "value"),
            "thread": ("import threading\nthreading.Thread(target=target).start()", "value"),
            "partial": ("x = functools.partial(target, 1)", "value"),
            "wildcard context": ("with target:\n    pass", "value"),
            "asserted": ("assert target", "value"),
            "deleted": ("del target.x", "value"),
            "decorator": ("@target\ndef g(): ...", "decorated"),
            "decorator factory": ("@target(1)\ndef g(): ...", "decorated"),
            "by module": ("import lib\nregister(lib.target)", "value"),
            "by alias": ("from lib import target as other\nregister(other)", "value"),
            "attribute written": ("target.x = 1", "value"),
            "string": ("getattr(mod, 'target')", "unresolved"),
            "path in a string": ("import_string('lib.target')", "unresolved"),
            "globals": ("globals()['target']()", "unresolved"),
            "eval": ("eval('target()')", "unresolved"),
            "code in a text": ('exec("""\ntarget()\n""")', "unresolved"),
            "unknown receiver": ("x.target", "unresolved"),
            "unknown call": ("x.target()", "unresolved"),
        },
    ),
    *_of(
        "python",
        "Kind",
        {
            "constructed": ("Kind()", "constructed"),
            "annotated": ("def g(x: Kind): ...", "type"),
            "result": ("def g() -> Kind: ...", "type"),
            "variable": ("x: Kind", "type"),
            "quoted": ("x: 'Kind'", "type"),
            "argument": ("x: list[Kind] | None", "type"),
            "cast": ("x = cast(Kind, y)", "type"),
            "checked": ("isinstance(x, Kind)", "type"),
            "one of the checked": ("isinstance(x, (int, Kind))", "type"),
            "base": ("class Sub(Kind): ...", "extends"),
            "raised": ("raise Kind", "raised"),
            "raised made": ("raise Kind('x')", "raised"),
            "caught": ("try: ...\nexcept Kind as error: ...", "raised"),
            "one of the caught": ("try: ...\nexcept (ValueError, Kind): ...", "raised"),
            "matched": ("match x:\n    case Kind(): ...", "type"),
            "passed": ("register(Kind)", "value"),
            "member": ("x = Kind.CONSTANT", "value"),
        },
    ),
    *_of(
        "python",
        "LIMIT",
        {
            "read": ("print(LIMIT)", "read"),
            "added": ("x = LIMIT + 1", "read"),
            "by module": ("import lib\nprint(lib.LIMIT)", "read"),
            "base": ("class Sub(LIMIT): ...", "read"),
            "written": ("import lib\nlib.LIMIT = 2", "written"),
            "called": ("LIMIT()", "read"),
        },
    ),
    *_of(
        "python",
        "field",
        {
            "read": ("def g(x: Kind): return x.field", "read"),
            "written": ("def g(x: Kind): x.field = 1", "written"),
            "by keyword": ("Kind(field=1)", "written"),
            "matched": ("match x:\n    case Kind(field=y): ...", "written"),
            "of something": ("x.field", "unresolved"),
        },
    ),
]
SCRIPT = [
    *_of(
        "typescript",
        "target",
        {
            "called": ("target();", "calls"),
            "passed": ("register(target);", "value"),
            "stored": ("const t = target;", "value"),
            "in a table": ("const t = { x: target };", "value"),
            "shorthand": ("const t = { target };", "value"),
            "in an array": ("const t = [target, 1];", "value"),
            "element written": ("table['x'] = target;", "value"),
            "assigned": ("Object.assign(x, { y: target });", "value"),
            "spread": ("const t = { ...target };", "value"),
            "returned": ("return target;", "value"),
            "default": ("function g(x = target) {}", "value"),
            "arrow": ("const t = () => target;", "value"),
            "template": ("const s = `don't ${target}`;", "value"),
            "tagged": ("target`x`;", "calls"),
            "after a quote": ('const s = "it\'s", u = target;', "value"),
            "conditional": ("const t = x ? target : null;", "value"),
            "either": ("const t = x ?? target;", "value"),
            "awaited": ("const t = run(await target);", "value"),
            "type of": ("let t: typeof target;", "type"),
            "called with a this": ("target.call(null);", "calls"),
            "applied": ("target.apply(null, []);", "calls"),
            "reflected": ("Reflect.apply(target, null, []);", "value"),
            "bound": ("const t = target.bind(x);", "value"),
            "handler of a router": ("router.get('/', target);", "value"),
            "handler of an event": ("emitter.on('x', target);", "value"),
            "timer": ("setTimeout(target, 1);", "value"),
            "property of JSX": ("const t = <Row onClick={target} />;", "value"),
            "string": ("x['target'];", "unresolved"),
            "member of something": ("x.target;", "unresolved"),
            "call of something": ("x.target();", "unresolved"),
        },
    ),
    *_of(
        "typescript",
        "Kind",
        {
            "constructed": ("new Kind();", "constructed"),
            "annotated": ("let t: Kind;", "type"),
            "parameter": ("function g(x: Kind) {}", "type"),
            "result": ("function g(): Kind | null { return null; }", "type"),
            "argument of a type": ("let t: Map<string, Kind[]>;", "type"),
            "argument of a call": ("register<Kind>();", "type"),
            "cast": ("const t = x as Kind;", "type"),
            "asserted": ("const t = x satisfies Kind;", "type"),
            "checked": ("if (x instanceof Kind) {}", "type"),
            "conditional type": ("type T = X extends Kind ? 1 : 2;", "type"),
            "base": ("class Sub extends Kind {}", "extends"),
            "thrown": ("throw new Kind();", "raised"),
            "passed": ("register(Kind);", "value"),
            "component": ("const t = <Kind />;", "constructed"),
        },
    ),
    *_of(
        "typescript",
        "LIMIT",
        {
            "read": ("const t = LIMIT + 1;", "read"),
            "compared": ("if (x > LIMIT) {}", "read"),
        },
    ),
    *_of(
        "typescript",
        "field",
        {
            "read": ("function g(x: Kind) { return x.field; }", "read"),
            "written": ("function g(x: Kind) { x.field = 1; }", "written"),
            "of something": ("x.field;", "unresolved"),
        },
    ),
]
GO = [
    *_of(
        "go",
        "target",
        {
            "called": ("target()", "calls"),
            "passed": ("register(target)", "value"),
            "stored": ("x := target; _ = x", "value"),
            "declared": ("var x func() = target; _ = x", "value"),
            "deferred": ("defer target()", "calls"),
            "handed to a deferred": ("defer register(target)", "value"),
            "goroutine": ("go target()", "calls"),
            "mapped": ('m := map[string]func(){"a": target}; _ = m', "value"),
            "listed": ("m := []func(){target}; _ = m", "value"),
            "in a literal": ("m := Table{Run: target}; _ = m", "value"),
            "returned": ("return target", "value"),
            "closed over": ("x := func() { register(target) }; x()", "value"),
            "sent": ("ch <- target", "value"),
            "handler": ('http.HandleFunc("/", target)', "value"),
            "member of something": ("x.target = 1", "unresolved"),
            "named in a string": ('reflect.ValueOf(x).MethodByName("target")', "unresolved"),
        },
    ),
    *_of(
        "go",
        "Kind",
        {
            "literal": ("_ = Kind{}", "constructed"),
            "pointer to a literal": ("_ = &Kind{}", "constructed"),
            "elided literal": ("_ = []Kind{{}}", "constructed"),
            "new": ("_ = new(Kind)", "constructed"),
            "variable": ("var x Kind; _ = x", "type"),
            "parameter": ("x := func(k *Kind) {}; _ = x", "type"),
            "made": ("_ = make(map[string]Kind)", "type"),
            "asserted": ("_ = x.(*Kind)", "type"),
            "switched": ("switch x.(type) { case *Kind, error: }", "type"),
            "converted": ("_ = Kind(x)", "type"),
            "argument": ("register[Kind]()", "value"),
            "nested": ("var x struct { k Kind }; _ = x", "type"),
        },
    ),
    *_of(
        "go",
        "Limit",
        {
            "read": ("x := Limit + 1; _ = x", "read"),
            "written": ("Limit = 2", "written"),
            "increased": ("Limit++", "read"),
            "referred to": ("x := &Limit; _ = x", "read"),
        },
    ),
    *_of(
        "go",
        "Field",
        {
            "literal": ("_ = Kind{Field: 1}", "written"),
            "read": ("x := func(k *Kind) int { return k.Field }; _ = x", "read"),
            "written": ("x := func(k *Kind) { k.Field = 1 }; _ = x", "written"),
            "of something": ("x.Field = 1", "unresolved"),
        },
    ),
]
JAVA = [
    *_of(
        "java",
        "target",
        {
            "called": ("target();", "calls"),
            "called by its class": ("Lib.target();", "calls"),
            "passed": ("register(Lib::target);", "value"),
            "stored": ("Runnable r = Lib::target;", "value"),
            "returned": ("Supplier<Runnable> r = () -> Lib::target;", "value"),
            "reflected": ('Lib.class.getMethod("target");', "unresolved"),
            "of something": ("x.target();", "unresolved"),
        },
    ),
    *_of(
        "java",
        "Kind",
        {
            "constructed": ("new Kind();", "constructed"),
            "constructed anonymously": ("new Kind() { };", "constructed"),
            "constructor": ("Supplier<Object> s = Kind::new;", "constructed"),
            "variable": ("Kind k;", "type"),
            "array": ("Object k = new Kind[1];", "type"),
            "argument": ("List<Kind> k;", "type"),
            "wildcard": ("List<? extends Kind> k;", "type"),
            "cast": ("Object k = (Kind) x;", "type"),
            "checked": ("boolean b = x instanceof Kind;", "type"),
            "matched": ("boolean b = x instanceof Kind k;", "type"),
            "class": ("Object k = Kind.class;", "type"),
            "local base": ("class Sub extends Kind { }", "extends"),
            "loop": ("for (Kind k : xs) { }", "type"),
            "lambda": ("register((Kind k) -> 1);", "type"),
        },
    ),
    *_of(
        "java",
        "Failure",
        {
            "thrown": ("throw new Failure();", "raised"),
            "caught": ("try { } catch (Failure e) { }", "raised"),
            "one of the caught": ("try { } catch (IOException | Failure e) { }", "raised"),
            "declared": ("class Sub { void g() throws Failure { } }", "raised"),
        },
    ),
    *_of(
        "java",
        "Mark",
        {
            "annotation": ("class Sub { @Mark void g() { } }", "decorated"),
            "annotation of a field": ("class Sub { @Mark(1) int g; }", "decorated"),
            "annotation of a local": ("@Mark int g = 1;", "decorated"),
            "annotation of a class": ("@Mark class Sub { }", "decorated"),
        },
    ),
    *_of(
        "java",
        "LIMIT",
        {
            "read": ("int x = LIMIT + 1;", "read"),
            "by its class": ("int x = Lib.LIMIT;", "read"),
            "written": ("LIMIT = 2;", "written"),
        },
    ),
    *_of(
        "java",
        "field",
        {
            "read": ("int x = new Kind().field;", "read"),
            "written": ("new Kind().field = 1;", "written"),
            "of something": ("x.field = 1;", "unresolved"),
        },
    ),
]
RUST = [
    *_of(
        "rust",
        "target",
        {
            "called": ("target();", "calls"),
            "passed": ("register(target);", "value"),
            "stored": ("let x = target;", "value"),
            "mapped": ("xs.iter().map(target);", "value"),
            "after a text of two lines": ('let s = "two\nlines"; register(target);', "value"),
            "by path": ("register(crate::target);", "value"),
            "by self": ("register(self::target);", "value"),
            "in a struct": ("let x = Table { run: target };", "value"),
            "in a tuple": ("let x = (target, 1);", "value"),
            "thread": ("std::thread::spawn(target);", "value"),
            "closed over": ("let x = || register(target);", "value"),
            "given to a macro": ('println!("{:?}", target);', "macro"),
            "called in a macro": ('println!("{:?}", target());', "calls"),
            "tokens of a macro": ("route!(get => target);", "macro"),
            "macro of a macro": ("a!(b!(c => target));", "macro"),
            "macro rules": ("macro_rules! m { () => { target() }; }", "unresolved"),
            "method of something": ("x.target();", "unresolved"),
        },
    ),
    *_of(
        "rust",
        "Kind",
        {
            "literal": ("let x = Kind { field: 1 };", "constructed"),
            "variable": ("let x: Kind;", "type"),
            "reference": ("let x: &mut Kind;", "type"),
            "argument": ("let x: Vec<Option<Kind>>;", "type"),
            "turbofish": ("register::<Kind>();", "type"),
            "cast": ("let x = y as Kind;", "type"),
            "path": ("Kind::make();", "type"),
            "matched": ("if let Kind { field } = x { }", "type"),
            "closure": ("let x = |k: Kind| 1;", "type"),
        },
    ),
    *_of(
        "rust",
        "Doer",
        {
            "object": ("let x: Box<dyn Doer>;", "type"),
            "object with a lifetime": ("let x: Box<dyn Doer + 'static>;", "type"),
            "bound": ("fn g<T: Doer>(x: T) { }", "type"),
            "bound of a clause": ("fn g<T>(x: T) where T: Doer { }", "type"),
            "argument": ("fn g(x: impl Doer) { }", "type"),
        },
    ),
    *_of(
        "rust",
        "Circle",
        {
            "constructed": ("let x = Shape::Circle(1);", "constructed"),
            "matched": ("match x { Shape::Circle(_) => 1 };", "type"),
        },
    ),
    *_of(
        "rust",
        "LIMIT",
        {
            "read": ("let x = LIMIT + 1;", "read"),
            "length": ("let x = [0; LIMIT];", "read"),
            "in a macro": ("assert!(x > LIMIT);", "macro"),
        },
    ),
    *_of(
        "rust",
        "field",
        {
            "literal": ("let x = Kind { field: 1 };", "written"),
            "shorthand": ("let field = 1; let x = Kind { field };", "written"),
            "read": ("let k = Kind { field: 1 }; let x = k.field;", "read"),
            "matched": ("if let Kind { field: 1 } = x { }", "written"),
        },
    ),
]
_LIBRARIES: Mapping[str, Mapping[str, str]] = {
    "python": {
        "lib.py": """
def target():
    return 1


class Kind:
    field: int = 0


LIMIT = 1
"""
    },
    "typescript": {
        "lib.ts": """
export function target() { return 1; }
export class Kind { field = 1; }
export const LIMIT = 1;
"""
    },
    "go": {
        "go.mod": "module example.org/a\n",
        "lib.go": """package a

type Kind struct { Field int }

var Limit = 1

func target() {}
""",
    },
    "java": {
        "Kind.java": "class Kind { int field; }\n",
        "Failure.java": "class Failure extends Exception { }\n",
        "Mark.java": "@interface Mark { }\n",
    },
    "rust": {"Cargo.toml": '[package]\nname = "a"\n'},
}
_RUST = """
fn target() {}
struct Kind { field: i64 }
impl Kind { fn make() {} }
trait Doer { }
enum Shape { Circle(i64) }
const LIMIT: usize = 1;
"""
LANGUAGES = Languages((*PYTHON, *SCRIPT, *GO, *JAVA, *RUST))


def program(language: str, ways: Sequence[Way]) -> Mapping[str, str]:
    """The library, and a file that names its entities in these ways, each in a body of its own."""
    path, program = _PROGRAMS[language]([way.text for way in ways])
    return {**_LIBRARIES[language], path: program}


def _bodies(texts: Sequence[str], head: str, tail: str = "") -> str:
    return "".join(f"{head.format(at)}\n{text}\n{tail}" for at, text in enumerate(texts))


def _python(texts: Sequence[str]) -> tuple[str, str]:
    bodies = _bodies([indent(text, "    ") for text in texts], "def use{}():")
    return "use.py", f"from lib import LIMIT, Kind, target\n{bodies}"


def _typescript(texts: Sequence[str]) -> tuple[str, str]:
    bodies = _bodies(texts, "function use{}() {{", "}\n")
    return "use.tsx", f'import {{ LIMIT, Kind, target }} from "./lib";\n{bodies}'


def _go(texts: Sequence[str]) -> tuple[str, str]:
    return "use.go", f"package a\n\n{_bodies(texts, 'func use{}() {{', '}' + chr(10))}"


def _java(texts: Sequence[str]) -> tuple[str, str]:
    bodies = _bodies(texts, "static void use{}() throws Exception {{", "}\n")
    return "Lib.java", f"class Lib {{\nstatic int LIMIT;\nstatic void target() {{ }}\n{bodies}}}\n"


def _rust(texts: Sequence[str]) -> tuple[str, str]:
    return "src/lib.rs", _RUST + _bodies(texts, "fn use{}() {{", "}\n")


_PROGRAMS = {
    "python": _python,
    "typescript": _typescript,
    "go": _go,
    "java": _java,
    "rust": _rust,
}
