"""What other files can see of a file, as one digest: when it is the same, they need no new look."""

from __future__ import annotations

import hashlib

import msgspec

from plugins.codegraph.facts import FileFacts, Scope

_encoder = msgspec.msgpack.Encoder()


def interface_digest(facts: FileFacts) -> bytes:
    """What linking another file may depend on: 16 bytes.

    That is every definition's identity, and of every scope all but what only its own calls are
    made of: names, parameters, types, bases, imports, what it binds, returns and yields. Lines,
    documentation and calls are not in it.

    Args:
        facts: what the file says.
    """
    seen = [
        (facts.language, facts.package),
        [(each.kind, each.qualified, each.signature, each.exported) for each in facts.definitions],
        [_visible(each) for each in facts.scopes],
    ]
    return hashlib.blake2b(_encoder.encode(seen), digest_size=16).digest()


def _visible(scope: Scope) -> tuple[object, ...]:
    return (
        scope.kind,
        scope.definition,
        scope.parent,
        scope.name,
        scope.params,
        scope.returns,
        scope.receiver,
        scope.bases,
        scope.implements,
        scope.decorators,
        scope.modifiers,
        [
            (each.alias, each.module, each.symbol, each.level, each.exported)
            for each in scope.imports
        ],
        [(each.target, each.value, each.type) for each in scope.binds],
        scope.results,
        scope.yields,
    )
