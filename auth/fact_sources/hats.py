"""Hats Protocol as a source of facts: who wears which hat.

An answer that is not exactly of its standard's form leaves the fact unknown: neither a yes, nor a
no, as a rule with ``not`` would take a no for permission.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from auth.chain import abi
from auth.chain.endpoint import Call
from auth.chain.rpc import Rpc
from auth.facts import Question, SourceUnavailable

_VIEW = ("string", "uint32", "uint32", "address", "address", "string", "uint16", "bool", "bool")
_NOBODY = "0x" + "00" * 20


class HatsSource:
    """Who wears which hat of Hats Protocol: ``("wears", address, hat_id)`` is a bool.

    ``("chain",)`` is the id of the chain on which they are read.

    The contract's ``isWearerOfHat`` alone decides. It is false if the hat was turned off or its
    wearer is no longer eligible; the contract's other functions say nothing about wearing. If the
    hat's modules are contracts, it asks them: they may change their answer at any time without a
    log of the Hats contract, so no event reports changes of such hats.

    Args:
        rpc: the chain that the contract is on.
        contract: its address.
    """

    def __init__(self, rpc: Rpc, contract: str) -> None:
        self._rpc = rpc
        self._contract = contract
        self._by_module: set[Hashable] = set()
        self._contracts: dict[tuple[Hashable, tuple[str, str]], bool] = {}

    def is_by_module(self, question: Question) -> bool:
        """Whether a module decides who wears a question's hat, as known from an earlier answer."""
        return question.key[-1] in self._by_module

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, bool | int]:
        """Answer questions, in one request if the endpoint can do batches.

        Raises:
            SourceUnavailable: the chain cannot be read, or no hats are read at the contract.
        """
        where = {each: self._rpc.chain_id for each in questions if each.key == ("chain",)}
        asked = [each for each in questions if each not in where]
        if not asked:
            return where
        await abi.loaded()
        sample = {question.key[-1]: question for question in asked}
        viewed = [abi.call(self._contract, "viewHat(uint256)", hat) for hat in sample]
        returned = await self._rpc.calls([*(self._call(each) for each in asked), *viewed])
        known = {
            question: worn
            for question, each in zip(asked, returned, strict=False)
            if (worn := abi.boolean(each)) is not None
        }
        if not known:
            raise SourceUnavailable(
                f"No Hats contract answers at {self._contract} on the chain {self._rpc.chain_id}: "
                "check roles.hats."
            )
        for question, view in zip(sample.values(), returned[len(asked) :], strict=True):
            await self._look_at_modules(question, _modules(view))
        return where | known

    async def _look_at_modules(self, question: Question, modules: tuple[str, str]) -> None:
        """Find out whether a hat's modules decide, by asking them as the Hats contract does."""
        _, wearer, hat = question.key
        if (hat, modules) not in self._contracts:
            eligibility, toggle = modules
            try:
                status, active = await self._rpc.calls(
                    [
                        abi.call(eligibility, "getWearerStatus(address,uint256)", wearer, hat),
                        abi.call(toggle, "getHatStatus(uint256)", hat),
                    ]
                )
            except SourceUnavailable:
                self._by_module.add(hat)  # asked too often rather than too seldom
                return
            decide = (
                len(status or b"") == 2 * abi.WORD_BYTES or len(active or b"") == abi.WORD_BYTES
            )
            self._contracts[hat, modules] = decide
        if self._contracts[hat, modules]:
            self._by_module.add(hat)
        else:
            self._by_module.discard(hat)

    def _call(self, question: Question) -> Call:
        _, wearer, hat = question.key
        return abi.call(self._contract, "isWearerOfHat(address,uint256)", wearer, hat)


def _modules(view: bytes | None) -> tuple[str, str]:
    """The addresses of a hat's eligibility and toggle modules, from ``viewHat``."""
    from eth_utils.address import to_checksum_address

    said = abi.decoded(_VIEW, view)
    eligibility, toggle = (said[3], said[4]) if said else (_NOBODY, _NOBODY)
    return to_checksum_address(eligibility), to_checksum_address(toggle)
