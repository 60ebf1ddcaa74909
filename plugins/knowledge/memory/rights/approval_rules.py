"""Which writes need a person's approval, and what an approval covers (README, "Approval").

The rules are checked where entries are written, after everything that decides their content and
readers, so that no surface and no merge can bypass them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from gateway.contract import PluginConfig
from plugins.knowledge.memory.model.entry import OWNER_ONLY_LAYERS, Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.record import Record


@dataclass(frozen=True, slots=True)
class Agreement:
    """A person's approval of one write.

    Attributes:
        readers: the keys that the entry may be open to.
        version: of the entry that they were asked about; 0 of a new one.
    """

    readers: frozenset[str]
    version: int = 0


class ApprovalNeeded(MemoryFailed):
    """A write that needs approval has none.

    Args:
        wanted: the entry as it would be.
        current: the entry as it is, or None where it is new.
    """

    def __init__(self, wanted: Record, current: Record | None) -> None:
        super().__init__(
            ErrorCode.CONFLICT, "The entry was changed since a person was asked; ask once more."
        )
        self.wanted, self.current = wanted, current


class ApprovalRules(PluginConfig):
    """What a person has to allow, whoever asks and whichever way; anyone may ask for more."""

    policies: tuple[AccessPolicy, ...] = Field(
        (AccessPolicy.ORGANIZATION, AccessPolicy.PUBLIC),
        description="Entries that are written under these policies.",
    )
    layers: tuple[Layer, ...] = Field((), description="Entries that are written in these layers.")
    hard_deletes: bool = Field(
        False, description="Entries that are removed for good, but for those of one's own alone."
    )

    def requires_approval(self, record: Record) -> bool:
        """Whether writing this entry has to be allowed."""
        if record.layer is Layer.WORKING:
            return False
        others = record.layer not in OWNER_ONLY_LAYERS and record.access.policy in self.policies
        return others or record.layer in self.layers

    def check(self, wanted: Record, current: Record | None, agreement: Agreement | None) -> None:
        """Refuse a write that has to be allowed, and was not.

        A yes holds for the readers that it was given for. Where the entry is opened to more of
        them, it holds for the version that was looked at: no later words become everybody's.

        Args:
            wanted: the entry as it would be.
            current: the entry as it is, or None where it is new.
            agreement: what a person said yes to.

        Raises:
            ApprovalNeeded: nobody approved exactly this write.
        """
        if not self.requires_approval(wanted):
            return
        if agreement is None or not wanted.readers <= agreement.readers:
            raise ApprovalNeeded(wanted, current)
        opens = current is not None and widens_readers(current, wanted)
        if opens and current is not None and current.version != agreement.version:
            raise ApprovalNeeded(wanted, current)


def widens_readers(current: Record, wanted: Record) -> bool:
    """Whether somebody may read an entry as it would be who may not read it as it is."""
    return not wanted.readers <= current.readers
