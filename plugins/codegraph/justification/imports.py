"""The names that a file imports, and the modules they are of, by the syntax of each language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec


class Binding(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name in a file that stands for something imported.

    Attributes:
        local: the name in the file.
        module: the module as written; a relative one begins with a dot.
        name: the name in the module, or "" for the module itself.
        line: where it is imported.
    """

    local: str
    module: str
    name: str
    line: int


_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|(?:[^\n\\]|\\\n)+)|"
    r"import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
_SCRIPT = re.compile(
    r"^[ \t]*(?:import\s+(?:type\s+)?([^'\";]+?)\s+from\s+['\"]([^'\"]+)['\"]|"
    r"(?:const|let|var)\s+([\w$]+|\{[^}]*\})\s*=\s*require\(\s*['\"]([^'\"]+)['\"])",
    re.MULTILINE,
)
_GO = re.compile(r"^import\s*(?:\(([^)]*)\)|([^\n(]+))", re.MULTILINE)
_GO_ONE = re.compile(r"(?:([\w.]+)\s+)?\"([^\"]+)\"")
_JAVA = re.compile(r"^import\s+(?:static\s+)?([\w.]+)\.(\w+|\*);", re.MULTILINE)
_RUST = re.compile(r"^\s*(?:pub\s+)?use\s+([\w:]+?)(?:::(\w+|\{[^}]*\}))?(?:\s+as\s+(\w+))?;", re.M)
_WORD = re.compile(r"[\w$]+")
_VERSION = re.compile(r"v\d+$")


def bindings_of(text: str, language: str) -> list[Binding]:
    """What a file imports, each local name once; empty for a language without a rule."""
    reader = _READERS.get(language)
    found: dict[str, Binding] = {}
    for each in reader(text) if reader is not None else ():
        found.setdefault(each.local, each)
    return list(found.values())


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _renamed(part: str) -> tuple[str, str] | None:
    """The name of ``a as b``, and what it is called here."""
    names = re.split(r"\s+as\s+|\s*:\s*", part.strip())
    name, local = names[0].strip(), names[-1].strip()
    return (name, local) if name and _WORD.fullmatch(local) else None


def _python(text: str) -> Iterator[Binding]:
    for hit in _PYTHON.finditer(text):
        line = _line(text, hit.start())
        if hit[1] is not None:
            listed = re.sub(r"#[^\n]*|[()\\]", "", hit[2])
            for part in listed.split(","):
                if pair := _renamed(part):
                    yield Binding(pair[1], hit[1], pair[0], line)
            continue
        for part in hit[3].split(","):
            names = re.split(r"\s+as\s+", part.strip())
            if names[0]:
                local = names[-1] if len(names) > 1 else names[0].split(".")[0]
                yield Binding(local, names[0], "", line)


def _script(text: str) -> Iterator[Binding]:
    for hit in _SCRIPT.finditer(text):
        line, module = _line(text, hit.start()), hit[2] or hit[4]
        clause = hit[1] or hit[3]
        inner = re.search(r"\{([^}]*)\}", clause)
        for part in inner[1].split(",") if inner else ():
            if pair := _renamed(re.sub(r"^\s*type\s+", "", part)):
                yield Binding(pair[1], module, pair[0], line)
        outer = re.sub(r"\{[^}]*\}", "", clause)
        for part in outer.split(","):
            local = re.sub(r"^\s*\*\s*as\s+", "", part).strip()
            if _WORD.fullmatch(local):
                yield Binding(local, module, "", line)


def _go(text: str) -> Iterator[Binding]:
    for hit in _GO.finditer(text):
        line = _line(text, hit.start())
        for one in _GO_ONE.finditer(hit[1] or hit[2]):
            parts = [each for each in one[2].split("/") if not _VERSION.match(each)]
            yield Binding(one[1] or parts[-1], one[2], "", line)


def _java(text: str) -> Iterator[Binding]:
    for hit in _JAVA.finditer(text):
        if hit[2] != "*":
            yield Binding(hit[2], hit[1], hit[2], _line(text, hit.start()))


def _rust(text: str) -> Iterator[Binding]:
    for hit in _RUST.finditer(text):
        line, module = _line(text, hit.start()), hit[1].replace("::", ".")
        last = hit[2] or module.rpartition(".")[2]
        for part in last.strip("{}").split(","):
            if pair := _renamed(part):
                yield Binding(hit[3] or pair[1], module, pair[0], line)


_READERS: dict[str, Callable[[str], Iterator[Binding]]] = {
    "python": _python,
    "typescript": _script,
    "javascript": _script,
    "go": _go,
    "java": _java,
    "rust": _rust,
}
