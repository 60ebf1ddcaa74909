"""Go's conventions for names and comments."""

from __future__ import annotations

import re

_GENERATED = re.compile(rb"^// Code generated .* DO NOT EDIT\.\s*$", re.MULTILINE)
_VERSION = re.compile(r"v\d+")
_MARKS = re.compile(r"^[ \t]*(//|/\*+|\*(?!/)) ?|[ \t]*\*+/[ \t]*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*//(go:|line |nolint|export |[ \t]*\+build ).*\n?", re.MULTILINE)
_TESTING = re.compile(r"\*testing\.[TBF]\b")
_TEST = re.compile(r"(Test|Benchmark|Fuzz|Example)(?![a-z])")


def default_name(module: str) -> str:
    """The name that importing a path binds, guessed from the path alone."""
    parts = module.rstrip("/").split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    last = parts[-1]
    stem, _, version = last.rpartition(".")
    if stem and _VERSION.fullmatch(version):
        last = stem
    return last.removeprefix("go-").removesuffix("-go").replace("-", "_")


def is_exported(name: str) -> bool:
    """Whether other packages may use a name: it starts with an upper-case letter."""
    return name[:1].isupper()


def is_test(name: str, signature: str, package: str) -> bool:
    """Whether ``go test`` runs a function: by its name and its parameter."""
    if _TEST.match(name) is None:
        return False
    if name.startswith("Example"):
        return signature.strip() == "()" and package.endswith("_test")
    return _TESTING.search(signature) is not None


def is_generated(source: bytes) -> bool:
    """Whether a file is marked as generated (``go help generate``)."""
    return _GENERATED.search(source[:4096]) is not None


def uncommented(text: str) -> str:
    """The text of comments without comment marks and directives."""
    return _MARKS.sub("", _DIRECTIVE.sub("", text)).strip()
