"""Token contracts as a source of facts: who holds how much of an ERC-20, ERC-721 or ERC-1155.

An answer that is not exactly of its standard's form leaves the fact unknown: neither a yes, nor a
no, as a rule with ``not`` would take a no for permission.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from auth.chain import abi
from auth.chain.endpoint import Call
from auth.chain.rpc import Rpc
from auth.facts import Question, SourceUnavailable

_MAX_DECIMALS = 255


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
        """Answer questions, in one request for each chain if its endpoint can do batches.

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
            if (number := abi.word(each)) is not None
            and (question.key[0] != "decimals" or number <= _MAX_DECIMALS)
        }
        if not known:
            contracts = ", ".join(sorted({str(question.key[2]) for question in questions}))
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
