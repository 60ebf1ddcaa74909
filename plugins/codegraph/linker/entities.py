"""The entities of one file: its definitions, with their keys."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename

from plugins.codegraph.facts import Definition, FileFacts
from plugins.codegraph.model import Entity, EntityKind, entity_key

_CALLABLE = frozenset({EntityKind.FUNCTION, EntityKind.METHOD})


def file_key(repo: str, path: str) -> int:
    """The key of a file's own entity."""
    return entity_key(repo, path, EntityKind.FILE, path, "")


def definition_keys(repo: str, path: str, facts: FileFacts) -> list[int]:
    """The keys of a file's definitions, by definition number.

    Definitions that agree in kind, qualified name and signature (a function defined in both
    branches of an ``if``) are told apart by an ordinal, in the order of the text.
    """
    seen: dict[tuple[EntityKind, str, str], int] = {}
    keys = []
    for each in facts.definitions:
        alike = (each.kind, each.qualified, each.signature)
        ordinal = seen.get(alike, 0)
        seen[alike] = ordinal + 1
        keys.append(entity_key(repo, path, each.kind, each.qualified, each.signature, ordinal))
    return keys


def entities_of(repo: str, path: str, facts: FileFacts) -> list[Entity]:
    """The file's own entity, then those of its definitions.

    Args:
        repo: the repository's id.
        path: the file, relative to the repository's root.
        facts: the facts of the file.
    """
    keys = definition_keys(repo, path, facts)
    whole = file_key(repo, path)
    entities = [
        Entity(
            key=whole,
            kind=EntityKind.FILE,
            name=basename(path),
            qualified=path,
            path=path,
            language=facts.language,
            line=1,
            end_line=max(facts.lines, 1),
            doc=facts.doc,
        )
    ]
    tests = are_tests(facts.definitions)
    for key, each, test in zip(keys, facts.definitions, tests, strict=True):
        entities.append(
            Entity(
                key=key,
                kind=each.kind,
                name=each.name,
                qualified=each.qualified,
                path=path,
                language=facts.language,
                line=each.line,
                end_line=each.end_line,
                signature=each.signature,
                doc=each.doc,
                exported=each.exported,
                parent=whole if each.parent < 0 else keys[each.parent],
                test=test,
            )
        )
    return entities


def are_tests(definitions: Sequence[Definition]) -> list[bool]:
    """For each definition, whether it is a test or nested in one.

    Args:
        definitions: those of one file.
    """
    tests = [each.test for each in definitions]
    for number, each in enumerate(definitions):
        above = each.parent
        while not tests[number] and above >= 0:
            outer = definitions[above]
            tests[number] = outer.test and outer.kind in _CALLABLE
            above = outer.parent
    return tests
