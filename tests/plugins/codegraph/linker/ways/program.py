"""The ways in which the languages name an entity, and programs that name it in some of them.

Each way names one entity of its language's library, on lines of its own, and says what the graph
has to say of it: the sort of a reference, a kind of edge, or that it is unresolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent

from tests.plugins.codegraph.linker.ways.go import GO
from tests.plugins.codegraph.linker.ways.java import JAVA
from tests.plugins.codegraph.linker.ways.python import PYTHON
from tests.plugins.codegraph.linker.ways.rust import RUST
from tests.plugins.codegraph.linker.ways.typescript import SCRIPT
from tests.plugins.codegraph.linker.ways.way import Way


@dataclass(frozen=True)
class Languages:
    """All ways of all languages."""

    ways: tuple[Way, ...]

    @property
    def names(self) -> list[str]:
        """The languages."""
        return list(dict.fromkeys(way.language for way in self.ways))


_LIBRARIES: Mapping[str, Mapping[str, str]] = {
    "python": {
        "lib.py": """
def target():
    return 1


class Kind:
    field: int = 0


LIMIT = 1


def visit_it():
    return 1
"""
    },
    "typescript": {
        "lib.ts": """
export function target() { return 1; }
export class Kind { field = 1; }
export const LIMIT = 1;
export function visitIt() { return 2; }
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
