"""Words of names and paths: which say nothing of a domain, and which say what a helper does."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from plugins.codegraph.store.name_split import split

GENERIC: Final = frozenset(
    {
        *("src", "app", "apps", "lib", "libs", "main", "index", "init", "core", "base", "common"),
        *("shared", "internal", "pkg", "cmd", "server", "client", "source", "sources", "package"),
        *("packages", "module", "modules", "project", "backend", "frontend", "web", "www", "site"),
        *("api", "apis", "v1", "v2", "v3", "rest", "rpc", "graphql", "endpoint", "endpoints"),
        *("route", "routes", "router", "routers", "routing", "url", "urls", "view", "views"),
        *("controller", "controllers", "handler", "handlers", "service", "services", "resource"),
        *("resources", "model", "models", "entity", "entities", "schema", "schemas", "domain"),
        *("dto", "dtos", "form", "forms", "type", "types", "interface", "interfaces", "constant"),
        *("constants", "repository", "repositories", "store", "stores", "mapper", "mappers"),
        *("component", "components", "page", "pages", "container", "containers", "screen"),
        *("screens", "feature", "features", "usecase", "usecases", "manager", "managers", "tasks"),
        *("task", "job", "jobs", "command", "commands", "python", "java", "org", "com", "net"),
        *("io", "github", "main", "impl", "abstract", "default", "definition", "builtin", "tools"),
        *("scripts", "script", "bin", "build", "docs", "examples", "example", "extras", "setup"),
        *("ui", "static", "assets", "public", "js"),
        *("plugin", "mod", "program", "application", "version", "about", "data", "item", "items"),
        *(
            "versions",
            "object",
            "objects",
            "value",
            "values",
            "result",
            "results",
            "request",
            "response",
        ),
        *("requests", "responses", "all", "new", "get", "set", "is", "to", "from", "status"),
    }
)
"""Names of folders and files, and words, that are in every project: none is a feature."""

HELPERS: Final = frozenset(
    {
        *("util", "utils", "utility", "utilities", "helper", "helpers", "misc", "compat", "tools"),
        *("strings", "text", "functional", "collections", "structures", "datatypes", "dicts"),
        *("encoding", "encodings", "converters", "dates", "datetime"),
        *("math", "iterators", "itertools", "typing", "types", "utl", "toolkit", "toolbox"),
    }
)
"""Names of files and folders that hold helpers."""

SERVED: Final = frozenset(
    {
        *("routes", "route", "views", "view", "controllers", "controller", "handlers", "pages"),
        *("endpoints", "resources", "services", "service", "usecases", "screens", "commands"),
        *("router", "routers", "features", "resolvers", "actions", "forms"),
    }
)
"""Names of files and folders that hold what users reach."""

MODELLED: Final = frozenset(
    {"models", "model", "entities", "entity", "domain", "schemas", "schema", "dto", "dtos"}
)
"""Names of files and folders that hold the things of the domain."""

MIGRATED: Final = frozenset({"migrations", "migration", "alembic"})
"""Names of folders that hold the steps from one schema of a database to the next."""

HELPING: Final = frozenset(
    {
        *("parse", "format", "split", "join", "is", "to", "as", "from", "has", "guess", "strip"),
        *("trim", "normalize", "escape", "unescape", "quote", "unquote", "requote", "encode"),
        *("decode", "convert", "merge", "chunk", "slugify", "slug", "clamp", "flatten", "pick"),
        *("humanize", "pretty", "dump", "dumps", "loads", "iter", "map", "drop", "detect"),
        *("smart", "extract", "unwrap", "wrap", "compare", "sort", "unique", "deep", "hash"),
        *("tokenize", "round", "pad", "sum", "count", "range", "filename", "check", "default"),
        *("ensure", "select", "cookiejar", "create", "dict", "super", "prepend", "load"),
    }
)
"""Verbs, and other first words, of helpers."""

PLAIN_BASES: Final = frozenset(
    {
        *("dict", "list", "tuple", "set", "str", "int", "float", "object", "Enum", "IntEnum"),
        *("StrEnum", "Flag", "NamedTuple", "TypedDict", "Mapping", "MutableMapping", "Sequence"),
        *("OrderedDict", "UserDict", "UserList", "MultiDict", "CIMultiDict", "Generic", "Protocol"),
        *("deque", "defaultdict", "Iterator", "Iterable", "Set", "MutableSet"),
    }
)
"""Bases that make a class a container or a list of names."""


@lru_cache(maxsize=65_536)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: ``getUserById`` is get, user, by, id."""
    return tuple(each.lower() for each in split(name))


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """A noun without the ending of its plural; good enough to compare two."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=65_536)
def segments(path: str) -> tuple[str, ...]:
    """The parts of a file's path, without its ending and outer underscores, in lower case."""
    *folders, name = path.lower().split("/")
    stem = name.split(".")[0] if not name.startswith(".") else name
    rest = name.split(".")[1:-1]
    return tuple(each.strip("_") for each in (*folders, stem, *rest) if each.strip("_"))
