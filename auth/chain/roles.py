"""Sources of facts on chains: who wears which hat, and who holds which token.

What a contract does not answer exactly as its standard says stays unknown: never a yes, and never
a no either, for a no may be what a rule with ``not`` waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from auth.chain import abi
from auth.chain.endpoint import Call
from auth.chain.rpc import Rpc
from auth.facts import Question, SourceUnavailable

_LARGEST_DECIMALS = 255
_VIEW = ("string", "uint32", "uint32", "address", "address", "string", "uint16", "bool", "bool")
_NOBODY = "0x" + "00" * 20


class HatsSource:
    """Who wears which hat of Hats Protocol: ``("wears", address, hat_id)`` is a bool.

    ``("chain",)`` is the id of the chain on which they are read.

    The contract's ``isWearerOfHat`` decides alone. It says no where the hat was turned off or
    its wearer is not eligible any more; the contract's other functions say nothing of wearing.
    It asks the hat's modules where these are contracts, which may change their mind at any time
    and log nothing at the Hats contract: of such hats nobody tells when their wearers change.

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
        """Whether a module decides who wears the hat of a question that was answered."""
        return question.key[-1] in self._by_module

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, bool | int]:
        """Answer questions, in one request where the endpoint can do that.

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
        """Learn whether a hat's modules decide, asked as the Hats contract asks them."""
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
            decide = len(status or b"") == 2 * abi.WORD or len(active or b"") == abi.WORD
            self._contracts[hat, modules] = decide
        if self._contracts[hat, modules]:
            self._by_module.add(hat)
        else:
            self._by_module.discard(hat)

    def _call(self, question: Question) -> Call:
        _, wearer, hat = question.key
        return abi.call(self._contract, "isWearerOfHat(address,uint256)", wearer, hat)


def _modules(view: bytes | None) -> tuple[str, str]:
    """The addresses of a hat's eligibility and toggle, as ``viewHat`` says them."""
    from eth_utils.address import to_checksum_address

    said = abi.decoded(_VIEW, view)
    eligibility, toggle = (said[3], said[4]) if said else (_NOBODY, _NOBODY)
    return to_checksum_address(eligibility), to_checksum_address(toggle)


class TokensSource:
    """How much of a token someone holds.

    ``("balance", chain, contract, standard, token_id, address)`` and
    ``("decimals", chain, contract)`` are whole numbers; ``standard`` is ``erc20``, ``erc721`` or
    ``erc1155``, and ``token_id`` is None for all but the last.

    Args:
        rpcs: the chains that can be read, by id.
    """

    def __init__(self, rpcs: Mapping[int, Rpc]) -> None:
        self._rpcs = rpcs

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, int]:
        """Answer questions, one request for each chain where its endpoint can do that.

        Raises:
            SourceUnavailable: none of them can be answered.
        """
        await abi.loaded()
        by_chain: dict[Any, list[Question]] = {}
        for question in questions:
            by_chain.setdefault(question.key[1], []).append(question)
        known: dict[Question, int] = {}
        problems: list[str] = []
        asked = await asyncio.gather(
            *(self._of_chain(chain, those) for chain, those in by_chain.items()),
            return_exceptions=True,
        )
        for found in asked:
            if isinstance(found, SourceUnavailable):
                problems.append(str(found))
            elif isinstance(found, BaseException):
                raise found
            else:
                known |= found
        if problems and not known:
            raise SourceUnavailable(" ".join(problems))
        return known

    async def _of_chain(self, chain: Any, questions: Sequence[Question]) -> dict[Question, int]:
        if (rpc := self._rpcs.get(chain)) is None:
            raise SourceUnavailable(f"The chain {chain} has no entry under chains in portal.yaml.")
        returned = await rpc.calls([_token_call(question) for question in questions])
        known = {
            question: number
            for question, each in zip(questions, returned, strict=True)
            if (number := abi.word(each)) is not None and _plausible(question, number)
        }
        if not known:
            contracts = ", ".join(sorted(_contracts(questions)))
            raise SourceUnavailable(
                f"No token contract of that kind answers at {contracts} on the chain {chain}: "
                "check the rule's address and standard."
            )
        return known


def _token_call(question: Question) -> Call:
    if question.key[0] == "decimals":
        _, _, contract = question.key
        return abi.call(str(contract), "decimals()")
    _, _, contract, standard, token, holder = question.key
    if standard == "erc1155":
        return abi.call(str(contract), "balanceOf(address,uint256)", holder, token)
    return abi.call(str(contract), "balanceOf(address)", holder)


def _plausible(question: Question, number: int) -> bool:
    return question.key[0] != "decimals" or number <= _LARGEST_DECIMALS


def _contracts(questions: Iterable[Question]) -> set[str]:
    return {str(question.key[2]) for question in questions}
