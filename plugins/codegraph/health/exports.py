"""Unused exports: what is exported, and used in its own file alone."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from plugins.codegraph.health.code_base import CodeBase, Flags
from plugins.codegraph.health.visibility import Outside, is_private
from plugins.codegraph.languages.composed_names import spellings
from plugins.codegraph.linker.mentions import as_outside
from plugins.codegraph.model import Entity, EntityKind
from plugins.codegraph.tools.doubts import BY_PATH, is_run_by_name
from plugins.codegraph.tools.hidden_uses import SCRIPTS

_EXPORTS = re.compile(rb"^\s*export\b", re.M)
"""What exports one thing of a script; ``module.exports`` hands on all of it at once."""


def unused_exports(code: CodeBase, outside: Outside, gone: Flags) -> tuple[list[int], int]:
    """What is exported and used in its own file alone, by place, and how much is exported.

    What programs elsewhere may import is left out, and so is what something outside of the
    language names: in a configuration, a text, or a place that no edge explains. Of a script that
    no other file loads nothing is said: what runs it by its path may read its names.

    Args:
        code: the repository.
        outside: what others may use.
        gone: which entities are dead, and thus reported already.
    """
    exported = [at for at in range(len(code.entities)) if _is_export(code, at)]
    here, elsewhere = _used(code)
    loaded = {code.entities[at].path for at in np.flatnonzero(elsewhere).tolist()}
    named = _named_elsewhere(code)
    found = [
        at
        for at in exported
        if here[at]
        and not gone[at]
        and not elsewhere[at]
        and (code.entities[at].language not in BY_PATH or code.entities[at].path in loaded)
        and not outside.may_use(code.entities[at])
        and not _may_be_named(code.entities[at], named, outside)
    ]
    return found, len(exported)


def _is_export(code: CodeBase, at: int) -> bool:
    """Whether an entity is exported by its file, at its top level, in code.

    A constant of Python is left out: no name of one says whether others are to use it. So is what a
    private module holds, and a script without an export: what it declares is of the whole page.
    """
    entity, parent = code.entities[at], int(code.parent[at])
    return (
        entity.exported
        and entity.kind not in (EntityKind.FILE, EntityKind.METHOD)
        and not (entity.language == "python" and _is_unsaid(entity))
        and parent >= 0
        and code.entities[parent].kind is EntityKind.FILE
        and code.is_code(entity)
        and not code.is_aside[at]
        and not is_run_by_name(entity.name)
        and (entity.language not in SCRIPTS or _EXPORTS.search(code.text(entity.path)) is not None)
    )


def _is_unsaid(entity: Entity) -> bool:
    """Whether nothing in Python says that others are to use it."""
    return entity.kind is EntityKind.VARIABLE or is_private(entity)


def _used(code: CodeBase) -> tuple[Flags, Flags]:
    """Which entities are used in their own file, and which by another one, or what is in them."""
    numbers = {path: number for number, path in enumerate(code.by_path)}
    file = np.array([numbers[each.path] for each in code.entities], np.int64)
    begin, end = code.spans
    here, elsewhere = (np.zeros(len(code.entities), np.bool_) for _ in range(2))
    source, around = code.source[code.uses], code.target[code.uses]
    while len(around):
        inside = (begin[source] >= begin[around]) & (begin[source] < end[around])
        same = file[source] == file[around]
        here[around[same & ~inside]] = True
        elsewhere[around[~same]] = True
        up = code.parent[around]
        source, around = source[up >= 0], up[up >= 0]
    return here, elsewhere


def _named_elsewhere(code: CodeBase) -> dict[str, set[str]]:
    """The files in which each name stands that no edge explains."""
    found: dict[str, set[str]] = defaultdict(set)
    for mention in code.layer.mentions:
        found[mention.name].add(mention.path)
    for call in code.layer.unresolved:
        found[call.name].add(call.path)
    return found


def _may_be_named(entity: Entity, named: dict[str, set[str]], outside: Outside) -> bool:
    spelt = spellings(entity.name) | as_outside(entity.path, entity.qualified)
    if any(named.get(each, set()) - {entity.path} for each in spelt):
        return True
    return entity.name in outside.named_in_data
