"""What clients are told of an offer that took another's place: what a list shows, or a file holds.

A list is told of where what it shows has changed: names, descriptions, schemas, tiers, and the
files of a skill. Where only the content of a skill's files has, those who follow one of them are
told, and nobody reads a list again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from gateway.catalog.items import Item, Kind
from gateway.catalog.skills import uri_of
from gateway.contract import SOURCE_MARK, Change, Skill

MAX_ANNOUNCED_FILES = 1000
"""Files whose content is told of one by one; where more have changed, the list is."""

_LIST_OF: Mapping[Kind, Literal["tools", "prompts", "resources"]] = {
    "tool": "tools",
    "prompt": "prompts",
    "family": "prompts",
    "resource": "resources",
    "template": "resources",
    "skill": "resources",
}


def changes(plugin: str, before: Iterable[Item], after: Iterable[Item]) -> list[Change]:
    """What to tell of a plugin's new offer.

    Args:
        plugin: whose.
        before: the plugin's items until now.
        after: those that it has from now on.
    """
    old, new = _by_key(before), _by_key(after)
    lists = {_LIST_OF[item.kind] for item in _differing(old, new)}
    updated = [uri for key in old.keys() & new.keys() for uri in _updated(old[key], new[key])]
    if len(updated) > MAX_ANNOUNCED_FILES:
        lists, updated = lists | {"resources"}, []
    list_changes = [
        Change(plugin, each) for each in ("tools", "prompts", "resources") if each in lists
    ]
    return list_changes + [Change(plugin, "resource", uri) for uri in sorted(updated)]


def _by_key(items: Iterable[Item]) -> dict[tuple[Kind, str], Item]:
    return {(item.kind, item.name): item for item in items}


def _differing(
    old: Mapping[tuple[Kind, str], Item], new: Mapping[tuple[Kind, str], Item]
) -> Iterator[Item]:
    for key in old.keys() | new.keys():
        was, now = old.get(key), new.get(key)
        if was is now:
            continue
        if was is None or now is None or _list_view(was) != _list_view(now):
            yield from (item for item in (now or was,) if item is not None)


def _list_view(item: Item) -> tuple[Any, ...]:
    """What of an item its lists show, and to whom."""
    declared = item.declared
    if not isinstance(declared, Skill):
        return _lasting(item.entry), declared.tier, declared.floor
    described = {name: value for name, value in item.entry.items() if name != "size"}
    return described, declared.frontmatter, item.files.keys(), declared.tier, declared.floor


def _lasting(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry without what its source marks it with for the moment."""
    meta = entry.get("_meta")
    if not isinstance(meta, Mapping) or SOURCE_MARK not in meta:
        return entry
    rest = {key: each for key, each in meta.items() if key != SOURCE_MARK}
    return {**entry, "_meta": rest} if rest else {k: v for k, v in entry.items() if k != "_meta"}


def _updated(was: Item, now: Item) -> Iterator[str]:
    """The files of a skill that hold something else than before."""
    if isinstance(now.declared, Skill) and was is not now:
        for path, file in now.files.items():
            before = was.files.get(path)
            if before is not None and before.digest != file.digest:
                yield uri_of(f"{now.declared.path}/{path}")
