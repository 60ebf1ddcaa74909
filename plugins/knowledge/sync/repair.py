"""Verifies, and repairs differences by having the next sync write them again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from gateway.contract import Objects
from plugins.knowledge.store import Store
from plugins.knowledge.sync.differences import Verified
from plugins.knowledge.sync.follower import Follower
from plugins.knowledge.sync.github import FETCHED
from plugins.knowledge.sync.sync import Sync
from plugins.knowledge.sync.verification import Comparison, Verifier, branch_differences

SyncAll = Callable[[], Awaitable[object]]


@dataclass(eq=False, repr=False)
class Repair:
    """Keeps source, store and index the same.

    Attributes:
        verifier: compares them.
        sync: writes; nothing is compared while it runs.
        store: where the documents are.
        objects: the plugin's share of the object store.
        followers: the sources on GitHub.
        sync_all: syncs every source.
    """

    verifier: Verifier
    sync: Sync
    store: Store
    objects: Objects
    followers: Sequence[Follower]
    sync_all: SyncAll

    async def verify(self, *, repair: bool = False) -> Verified:
        """Compare; and where asked, mend and compare again.

        Raises:
            OSError: a source cannot be listed, or the store not read or written.
        """
        before = await self._compare()
        if not repair or not before.differences:
            return Verified(documents=before.documents, differences=before.differences)
        await self.sync.exclusively(lambda: self._mend(before))
        await self.sync_all()
        after = await self._compare()
        left = after.differences
        mended = [one for one in before.differences if one not in left]
        return Verified(documents=after.documents, differences=left, mended=mended)

    async def _compare(self) -> Comparison:
        found = await self.sync.exclusively(self.verifier.compare)
        if any(follower.is_busy for follower in self.followers):  # it needs what it fetches
            found.differences = [one for one in found.differences if one.kind != "fetched"]
            found.waste = [key for key in found.waste if not key.startswith(FETCHED)]
        found.differences = [*await branch_differences(self.followers), *found.differences]
        return found

    async def _mend(self, found: Comparison) -> None:
        """Take away waste, put back what can be, and have the next sync do all the rest."""
        await self.store.put(found.restored)
        await self.objects.delete(*found.waste)
        for follower in self.followers:
            if follower.source.listing.commit:
                await follower.source.adopt(follower.source.listing)
        await self.sync.mark_pending(found.manifest, found.keys, found.paths)
