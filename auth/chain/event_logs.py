"""Event logs of contracts about roles: which to ask for, and whom each concerns.

A log is never taken as proof of a role. It only says whose role must be asked for again, so a log
that arrives twice, late or out of order does no harm.

Whom a log concerns is written as a *tag*, a short text that replicas exchange. Hats Protocol's
events are those of ``HatsEvents.sol``, without indexed arguments, and the transfers of ERC-1155;
tokens' events are the transfers of ERC-20, ERC-721 and ERC-1155.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from auth.facts import Question

PREFIX = "fact:"
"""The prefix of every tag."""
MAX_FILTER_ADDRESSES = 500
"""Addresses in one filter; nodes accept at least as many."""

_SINGLE = "TransferSingle(address,address,address,uint256,uint256)"
_BATCH = "TransferBatch(address,address,address,uint256[],uint256[])"
_TRANSFER = "Transfer(address,address,uint256)"
_STANDING = "WearerStandingChanged(uint256,address,bool)"
_OF_A_HAT = (
    "HatStatusChanged(uint256,bool)",
    "HatEligibilityChanged(uint256,address)",
    "HatToggleChanged(uint256,address)",
)
_HATS = (_SINGLE, _BATCH, _STANDING, *_OF_A_HAT)
_ZERO = f"0x{0:064x}"

Filter = dict[str, Any]


class Undecodable(Exception):
    """A log does not have the form of its event."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The contracts, hats and tokens of one chain that rules name.

    Attributes:
        chain: the chain's id.
        hats: the Hats contract, or None where no rule names a hat.
        hat_ids: the hats that rules name.
        tokens: each token's standard, by its contract.
    """

    chain: int
    hats: str | None = None
    hat_ids: frozenset[int] = frozenset()
    tokens: Mapping[str, str] = field(default_factory=dict)

    def filters(self, addresses: Sequence[str]) -> list[Filter]:
        """The filters for ``eth_getLogs``, without the range of blocks.

        Args:
            addresses: the wallets of all known people; only their token transfers are asked for.
        """
        found: list[Filter] = []
        if self.hats is not None:
            found.append({"address": self.hats, "topics": [[*map(_topic, _HATS)]]})
        plain = [each for each, standard in self.tokens.items() if standard != "erc1155"]
        many = [each for each, standard in self.tokens.items() if standard == "erc1155"]
        for start in range(0, len(addresses), MAX_FILTER_ADDRESSES):
            people = [_padded(each) for each in addresses[start : start + MAX_FILTER_ADDRESSES]]
            if plain:
                found += _to_and_from(plain, [[_topic(_TRANSFER)]], people)
            if many:
                found += _to_and_from(many, [[_topic(_SINGLE), _topic(_BATCH)], None], people)
        return found

    def concerns(self, log: Mapping[str, Any]) -> frozenset[str]:
        """The tags of whom a log concerns; none if it concerns no rule."""
        contract = str(log.get("address", "")).lower()
        try:
            if self.hats is not None and contract == self.hats.lower():
                return frozenset(self._of_hats(log))
            for token in self.tokens:
                if contract == token.lower():
                    return frozenset(self._of_token(token, log))
        except (Undecodable, AttributeError, IndexError, KeyError, TypeError, ValueError):
            # Better to ask for everything anew than to miss a change.
            return frozenset({everything(self.chain)})
        return frozenset()

    def _of_hats(self, log: Mapping[str, Any]) -> Iterator[str]:
        topic, data = log["topics"][0].lower(), bytes.fromhex(log["data"].removeprefix("0x"))
        if topic in {_topic(_SINGLE), _topic(_BATCH)}:
            wearers = [_address(each) for each in log["topics"][2:4]]
            hats = _ids(topic, data)
        elif topic == _topic(_STANDING):
            hats, wearers = [_word(data, 0)], [_address(f"0x{_word(data, 1):064x}")]
        elif topic in {_topic(each) for each in _OF_A_HAT}:
            hats, wearers = [_word(data, 0)], ["*"]
        else:
            return
        for hat in self.hat_ids.intersection(hats):
            yield from (f"{PREFIX}hats:{hat:x}:{wearer}" for wearer in wearers)

    def _of_token(self, token: str, log: Mapping[str, Any]) -> Iterator[str]:
        topics = log["topics"]
        if topics[0].lower() == _topic(_TRANSFER):
            parties = topics[1:3]
        elif topics[0].lower() in {_topic(_SINGLE), _topic(_BATCH)}:
            parties = topics[2:4]
        else:
            return
        if len(parties) != 2:
            raise Undecodable
        for party in parties:
            yield f"{PREFIX}tokens:{self.chain}:{token.lower()}:{_address(party)}"


def everything(chain: int) -> str:
    """The tag of all facts of a chain."""
    return f"{PREFIX}chain:{chain}"


def tags(question: Question, hats_chain: int) -> frozenset[str]:
    """The tags that concern the answer to a question; none if no chain decides it.

    Args:
        question: what is asked.
        hats_chain: the chain on which hats are read.
    """
    match question.source, question.key:
        case "hats", (_, str(wearer), int(hat)):
            of_hat = f"{PREFIX}hats:{hat:x}:"
            return frozenset({f"{of_hat}*", of_hat + wearer.lower(), everything(hats_chain)})
        case "tokens", (_, int(chain), str(contract), _, _, str(holder)):
            held = f"{PREFIX}tokens:{chain}:{contract.lower()}:{holder.lower()}"
            return frozenset({held, everything(chain)})
        case "tokens", (_, int(chain), *_):
            return frozenset({everything(chain)})
    return frozenset()


def chain_of(question: Question, hats_chain: int) -> int | None:
    """The chain that decides the answer to a question, or None."""
    match question.source, question.key:
        case "hats", ("wears", *_):
            return hats_chain
        case "tokens", (_, int(chain), *_):
            return chain
    return None


def _to_and_from(contracts: list[str], event: list[Any], people: list[str]) -> Iterable[Filter]:
    yield {"address": contracts, "topics": [*event, people]}
    yield {"address": contracts, "topics": [*event, None, people]}


@cache
def _topic(event: str) -> str:
    from eth_utils.crypto import keccak

    return "0x" + keccak(text=event).hex()


def _padded(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")


def _address(topic: str) -> str:
    if len(topic) != len(_ZERO) or int(topic, 16) >> 160:
        raise Undecodable
    return "0x" + topic[-40:].lower()


def _word(data: bytes, place: int) -> int:
    word = data[32 * place : 32 * place + 32]
    if len(word) != 32:
        raise Undecodable
    return int.from_bytes(word)


def _ids(topic: str, data: bytes) -> Sequence[int]:
    """The tokens of a transfer of ERC-1155."""
    if topic == _topic(_SINGLE):
        return [_word(data, 0)]
    start, odd = divmod(_word(data, 0), 32)
    count = _word(data, start)
    if odd or count > len(data) // 32:
        raise Undecodable
    return [_word(data, start + 1 + place) for place in range(count)]
