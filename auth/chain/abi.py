"""Encodes contract calls and decodes their answers strictly; await :func:`loaded` first.

An answer of any other shape than the function's own proves nothing: an address without a contract
answers every call with no bytes at all, and that is not False.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from auth.chain.endpoint import Call

WORD_BYTES = 32
"""Bytes of every value of a fixed size."""


async def loaded() -> None:
    """Import what reading a chain needs, in a thread: it takes a second."""
    await asyncio.to_thread(import_module, "web3")


def call(to: str, signature: str, *arguments: Any) -> Call:
    """The call of a function.

    Args:
        to: the contract's address.
        signature: the function, such as ``balanceOf(address)``; no tuples.
        arguments: what it takes.
    """
    from eth_abi.abi import encode

    types = [each for each in signature.partition("(")[2][:-1].split(",") if each]
    return Call(to, selector(signature) + encode(types, arguments))


def selector(signature: str) -> bytes:
    """The first four bytes of a call of a function."""
    from eth_utils.crypto import keccak

    return keccak(text=signature)[:4]


def word(returned: bytes | None) -> int | None:
    """The number that a call returned; None unless it returned exactly one."""
    if returned is None or len(returned) != WORD_BYTES:
        return None
    return int.from_bytes(returned)


def boolean(returned: bytes | None) -> bool | None:
    """The boolean that a call returned; None if it is neither true nor false."""
    return {0: False, 1: True}.get(value) if (value := word(returned)) is not None else None


def address(returned: bytes | None) -> str | None:
    """The address that a call returned; None if it is none, or the zero address."""
    value = word(returned)
    if not value or value >> 160:
        return None
    from eth_utils.address import to_checksum_address

    return to_checksum_address(f"{value:#042x}")


def decoded(types: Sequence[str], returned: bytes | None) -> tuple[Any, ...] | None:
    """The values of these types that a call returned; None if it returned something else."""
    from eth_abi.abi import decode
    from eth_abi.exceptions import DecodingError

    try:
        return tuple(decode(types, returned or b""))
    except (DecodingError, OverflowError, UnicodeDecodeError):
        return None
