"""Signatures of contract wallets, which only their contracts can verify.

A wallet that is deployed is asked itself (EIP-1271). One that is not yet has its signature
wrapped together with the call that would deploy it (EIP-6492); that call and the question are
then simulated one after the other, by Multicall3, within a single ``eth_call``.

The wrapped call is a stranger's choice and may do more than deploy. It is only simulated, and its
sender is Multicall3, which makes any call for anyone; so a wallet that such a call could take over
was open already. Nothing of the portal is within its reach.
"""

from __future__ import annotations

from collections.abc import Mapping

from auth.chain import abi
from auth.chain.endpoint import Call
from auth.chain.rpc import Rpc

MULTICALL = "0xcA11bde05977b3631167028862bE2a173976CA11"
"""Multicall3: at this address on every chain that has one."""

_IS_VALID = "isValidSignature(bytes32,bytes)"
_AGGREGATE = "aggregate3((address,bool,bytes)[])"
_CALLS = "(address,bool,bytes)[]"
_RESULTS = "(bool,bytes)[]"
_WRAPPED = bytes.fromhex("6492" * 16)
"""How a wrapped signature ends (EIP-6492)."""
_VALID = 0x1626BA7E << 8 * (abi.WORD_BYTES - 4)
"""What a wallet answers to a good signature, as one word (EIP-1271)."""


class ContractWallets:
    """Asks contract wallets whether a signature is theirs.

    Args:
        rpcs: the chains that can be read, by id.
    """

    def __init__(self, rpcs: Mapping[int, Rpc]) -> None:
        self._rpcs = rpcs

    def can_read(self, chain_id: int) -> bool:
        """Whether wallets of that chain can be asked."""
        return chain_id in self._rpcs

    async def signed(self, chain_id: int, address: str, digest: bytes, signature: bytes) -> bool:
        """Whether a wallet says that a signature is its own.

        Args:
            chain_id: a chain that can be read.
            address: the wallet.
            digest: the hash of what was signed.
            signature: the signature, wrapped or not.

        Raises:
            SourceUnavailable: the chain cannot be read.
        """
        await abi.loaded()
        if not signature.endswith(_WRAPPED):
            calls = [abi.call(address, _IS_VALID, digest, signature)]
            return abi.word((await self._rpcs[chain_id].calls(calls))[0]) == _VALID
        opened = abi.decoded(["address", "bytes", "bytes"], signature[: -len(_WRAPPED)])
        if opened is None:
            return False
        factory, deploying, inner = opened
        question = abi.call(address, _IS_VALID, digest, inner)
        simulated = _aggregate([Call(factory, deploying), question])
        # Asked directly as well, in the same request: deployed by now, it needs no Multicall3.
        direct, aggregated = await self._rpcs[chain_id].calls([question, simulated])
        return abi.word(direct) == _VALID or abi.word(_last(aggregated)) == _VALID


def _aggregate(calls: list[Call]) -> Call:
    from eth_abi.abi import encode

    # Each may fail: a factory refuses where the wallet is there already.
    data = encode([_CALLS], [[(call.to, True, call.data) for call in calls]])
    return Call(MULTICALL, abi.selector(_AGGREGATE) + data)


def _last(aggregated: bytes | None) -> bytes | None:
    results = abi.decoded([_RESULTS], aggregated)
    if not results or not results[0]:
        return None
    succeeded, returned = results[0][-1]
    return returned if succeeded else None
