"""How a new entry goes together with earlier ones: what its writer says, and what is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.contract import Caller
from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.contradictions import Likeness, still_says
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.record import NOTE_PREFIX, UPKEEP, Record
from plugins.knowledge.memory.model.requests import RelationDraft
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.rights.access import caller_keys, meet_only_within
from plugins.knowledge.memory.rights.approval_rules import ApprovalNeeded, widens_readers
from plugins.knowledge.memory.rights.roles import may_change
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.relations import Beside, Relations
from plugins.knowledge.memory.write.near import Near, NearEntries

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

Related = tuple[Record, Relation]
"""An earlier entry, and how the new one goes together with it."""


@dataclass(frozen=True, slots=True)
class EntryRelations:
    """Checks, finds and writes how entries go together.

    Attributes:
        store: where that is kept.
        reads: the entries.
        nearby: finds those that are near.
    """

    store: Relations
    reads: Reads
    nearby: NearEntries

    async def targets(
        self, record: Record, drafts: Sequence[RelationDraft], caller: Caller
    ) -> list[Related]:
        """The earlier entries that a writer names, where the caller may say so of them.

        Args:
            record: the later entry.
            drafts: what is said.
            caller: who says it.

        Raises:
            MemoryFailed: there is no such entry for the caller, or they may not end it.
        """
        if not drafts:
            return []
        if record.layer is Layer.WORKING:
            raise _invalid("Working memory is gone in an hour: nothing in it supersedes anything.")
        found = await self.reads.read({each.target for each in drafts}, caller_keys(caller))
        related: dict[str, Related] = {}
        for draft in drafts:
            if draft.target == record.id:
                raise _invalid("An entry does not go together with itself: name another one.")
            if draft.target.startswith(NOTE_PREFIX):
                raise _invalid(
                    "A note of the knowledge base is changed in its source: write supersededBy "
                    "in its frontmatter, or an entry that says what is wrong with it."
                )
            if (target := found.get(draft.target)) is None:
                message = f"There is no entry {draft.target}, or you may not read it."
                raise MemoryFailed(ErrorCode.NOT_FOUND, message)
            if draft.kind.ends_the_other and not may_change(caller, target):
                raise MemoryFailed(
                    ErrorCode.FORBIDDEN,
                    f"You can read {target.id}, not end it: that takes its owner, or one whom its "
                    "policy names. Say contests, and both are marked until they decide.",
                )
            _check_order(record, target, draft.kind)
            related[target.id] = (target, draft.kind)
        return list(related.values())

    async def shows_an_end(self, current: Record, wanted: Record, person: str) -> bool:
        """Whether a new version shows somebody else that an entry is over, who did not see it.

        Args:
            current: the later entry, which ends others.
            wanted: its new version.
            person: who writes that.
        """
        if not widens_readers(current, wanted):
            return False
        saw = {person_key(person), *current.readers}
        return any(
            not meet_only_within(wanted.readers, each.readers, saw)
            for each in await self.store.ended_by(current.id)
        )

    async def write_in(
        self, connection: AsyncConnection, entry: str, related: Sequence[Related], caller: Caller
    ) -> None:
        """Write what a caller decided, in the transaction that writes the entry.

        Raises:
            MemoryFailed: they would supersede each other in a circle, somebody else has superseded
                one of them meanwhile, or it takes back an end (:meth:`reopen_in`).
        """
        by = caller.person or ""
        for target, kind in related:
            if kind.ends_the_other:
                await self._check_first(connection, target, entry, by)
            elif target.id in await self.store.ended_in(connection, entry, target.id):
                raise MemoryFailed(
                    ErrorCode.CONFLICT,
                    f"{entry} ends {target.id}, as was decided, and says the same: to take that "
                    f"back, call settle_memory(id={entry}, target={target.id}, decision={kind}).",
                )
        pairs = [(each.id, kind) for each, kind in related]
        await self.store.add_in(connection, entry, pairs, by, caller_keys(caller))

    async def reopen_in(
        self,
        connection: AsyncConnection,
        record: Record,
        related: Sequence[Related],
        caller: Caller,
        *,
        agreed: bool,
    ) -> None:
        """Take back that an entry ends others, where something else is said of them now.

        It takes what ending them took: the right to change them, and a yes where others see it.
        That both hold, or are apart, takes back as well that one of the others ends the entry.

        Args:
            connection: the transaction that writes what is said now.
            record: the later entry.
            related: the earlier ones, each with how.
            caller: who says it.
            agreed: whether a person said yes to it.

        Raises:
            ApprovalNeeded: a person has to allow it first.
            MemoryFailed: the caller may not.
        """
        for target, kind in related:
            over = await self.store.ended_in(connection, record.id, target.id)
            over &= {target.id, record.id} if kind.is_mutual else {target.id}
            if kind.ends_the_other or not over:
                continue
            for ending, ended in ((record, target), (target, record)):
                if ended.id in over and not may_change(caller, ended):
                    raise _still_over(ending, ended)
            if not agreed and _meet(record, target, caller.person or ""):
                raise ApprovalNeeded(record, record)
            await self.store.end_no_more_in(connection, record.id, target.id, over)

    async def found_in(self, connection: AsyncConnection, entry: str, near: Sequence[Near]) -> None:
        """Keep what the portal found, and nobody decided, in the same transaction."""
        found = [pair for pair in near if pair[0].replaces or pair[0].one_thing]
        before = [(each.id, _found(one)) for one, each in found if not one.reversed]
        await self.store.add_in(connection, entry, before, UPKEEP)
        for likeness, each in found:
            if likeness.reversed:
                await self.store.add_in(connection, each.id, [(entry, _found(likeness))], UPKEEP)

    async def revise_in(
        self, connection: AsyncConnection, current: Record, wanted: Record, near: Sequence[Near]
    ) -> list[Beside]:
        """Judge anew how an entry goes together with others once it says something else.

        What ended it was said of its former words. What it ends itself stays ended, unless the new
        words have none in common with that one, and none with the former ones.

        Args:
            connection: the transaction that writes the new version.
            current: the entry as it was.
            wanted: the entry as it is to be.
            near: what was found near the new version.

        Returns:
            What ended it, as was decided, and does no more.
        """
        gone: list[Beside] = []
        if not still_says(wanted, current):
            beside = await self.store.beside_in(connection, wanted.id)
            gone = [each for each in beside if not _goes_on(wanted, current, each)]
            await self.store.drop_in(connection, wanted.id, gone)
        await self.found_in(connection, wanted.id, near)
        return [each for each in gone if each.is_later and each.kind.ends_the_other]

    async def _check_first(
        self, connection: AsyncConnection, target: Record, entry: str, by: str
    ) -> None:
        """Of two people who supersede an entry at once, the second one hears of the first."""
        others = await self.store.successors_in(connection, target.id, entry)
        seen = await self.reads.read(others, frozenset({person_key(by), *target.readers}))
        shown = [each for each in seen.values() if each.readers >= target.readers]
        if shown:
            raise MemoryFailed(
                ErrorCode.CONFLICT,
                f"{target.id} is superseded already, by {shown[0].id}. Read that one, and "
                "supersede it instead, or contest it.",
                {"superseded_by": shown[0].id},
            )


def holds_again(id: str, ended: Iterable[Beside], caller: Caller) -> str | None:
    """What to say to who wrote an entry anew that others had ended; None where there is nothing.

    Args:
        id: the entry's.
        ended: what ended it, as :meth:`EntryRelations.revise_in` returned it.
        caller: who wrote it, and is told of what they may read.
    """
    held = caller_keys(caller)
    told = sorted({each.other.id for each in ended if not held.isdisjoint(each.other.readers)})
    if not told:
        return None
    return (
        f"{', '.join(told)} had ended it; that was said of its former words, and is taken back. "
        f"Where it is over all the same, call settle_memory(id={told[0]}, target={id}, "
        "decision=supersedes)."
    )


def _still_over(ending: Record, ended: Record) -> MemoryFailed:
    """Why somebody cannot say that an entry holds again which another one ends."""
    return MemoryFailed(
        ErrorCode.FORBIDDEN,
        f"{ending.id} ends {ended.id}, as was decided. You can read {ended.id}, not say that it "
        "holds again: that takes its owner, or one whom its policy names. Say in an entry of your "
        f"own what you know, and that it contests {ending.id}.",
    )


def is_seen_by_others(record: Record, related: Sequence[Related], person: str) -> bool:
    """Whether somebody else would see an entry marked as ended.

    Args:
        record: the later entry, as it would be.
        related: the earlier ones.
        person: who says so.
    """
    return any(kind.ends_the_other and _meet(record, target, person) for target, kind in related)


def _check_order(later: Record, earlier: Record, kind: Relation) -> None:
    """Refuse that an entry supersedes one that holds from a later day on.

    What says nothing of when it holds was so when it was written, and what is said now may
    supersede what was said of a time to come.

    Raises:
        MemoryFailed: it does.
    """
    begins, other = (each.validity.valid_from for each in (later, earlier))
    if begins is None:
        begins = later.created
        other = min(other or earlier.created, earlier.created)
    if kind is Relation.SUPERSEDES and other is not None and begins.date() < other.date():
        raise MemoryFailed(
            ErrorCode.CONFLICT,
            f"The entry that is to supersede {earlier.id} is of {begins:%Y-%m-%d}, before that one "
            f"({other:%Y-%m-%d}). Say that {earlier.id} supersedes it (settle_memory with "
            f"id={earlier.id}), or that it corrects {earlier.id}, where that was wrong all along.",
        )


def _meet(one: Record, other: Record, person: str) -> bool:
    """Whether somebody else than a person may be able to read both of two entries."""
    return not meet_only_within(one.readers, other.readers, {person_key(person)})


def _goes_on(wanted: Record, current: Record, beside: Beside) -> bool:
    """Whether what an entry was said to do to another one holds of its new words as well."""
    if beside.is_later or not (beside.kind.ends_the_other or beside.kind is Relation.CONTESTS):
        return False
    before = {*terms(beside.other.content), *terms(current.content)}
    return not before.isdisjoint(terms(wanted.content))


def _found(likeness: Likeness) -> Relation:
    return Relation.SEEMS_TO_REPLACE if likeness.replaces else Relation.IS_NEWER


def _invalid(message: str) -> MemoryFailed:
    return MemoryFailed(ErrorCode.INVALID_REQUEST, message)
