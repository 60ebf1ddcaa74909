"""What the catalog does not serve, and what an admin reads of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.catalog.items import Declaration, Item


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item that is not served, why, and what to do about it.

    Attributes:
        plugin: whose it is.
        item: the name or URI that its plugin gives it.
        reason: why, and what to do, for the admin.
        declared: the declaration.
        told: what is wrong with it, for callers, who may not know of another item.
    """

    plugin: str
    item: str
    reason: str
    declared: Declaration = field(compare=False)
    told: str = ""

    def __str__(self) -> str:
        return f"{self.plugin}/{self.item}: {self.reason}"


def clash(item: Item, name: str, holder: Item) -> str:
    """Why an item is set aside whose name another one has, and what to do.

    Args:
        item: the item.
        name: the name that its plugin gave it.
        holder: the one that has the name, or begins like it.
    """
    if item.kind == "skill":
        return f"{holder.plugin} already offers {item.name}. Serve it at another path."
    other = "ANOTHER_NAME-*" if item.kind == "family" else "ANOTHER_NAME"
    reason = f"{holder.plugin} already offers {holder.name!r}"
    if holder.name != item.name:
        reason += f", and {item.name!r} is not told apart from it"
    return (
        f"{reason}. In portal.yaml, under plugins: {item.plugin}:, write alias: {{{name}: {other}}}"
    )
