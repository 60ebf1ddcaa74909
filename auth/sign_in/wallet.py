"""Signing in with an Ethereum wallet: EIP-4361, signed by a key or by a contract wallet.

The portal writes the whole message and stores nothing of it: the nonce holds the time, a random
part, and an HMAC over the message's values and the cookie of the browser that asked for it. So a
message is accepted only exactly as it was made, and only from that browser.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from auth.callers import Account, Signer
from auth.credentials import BadCredential
from auth.facts import SourceUnavailable
from auth.portal_addresses import Site
from auth.sealer import Sealer
from auth.single_use import SingleUseStore

if TYPE_CHECKING:
    from auth.chain.contract_signatures import ContractWallets
    from auth.chain.ens import EnsNames

MESSAGE_LIFETIME_S = 600
"""Seconds for which a message may be signed."""
MAX_CLOCK_SKEW_S = 60
"""Seconds that the clocks of two replicas may be apart."""
MAX_MESSAGE_LENGTH = 1000
"""Characters; ours are well below."""
MAX_STATEMENT_LENGTH = 300
"""Characters; what is longer is cut off."""
MAX_SIGNATURE_BYTES = 8192
"""Bytes; a wrapped signature (EIP-6492) holds the call that deploys its wallet."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
# The parts from which a message of ours can be made again.
_OURS = re.compile(
    r"[^\n]+\n(?P<address>0x[0-9a-fA-F]{40})\n(?:[^\n]*\n){5}"
    r"Chain ID: (?P<chain>[0-9]{1,20})\nNonce: (?P<made>[0-9a-f]{24})[0-9a-f]{32}\n[^\n]+\n[^\n]+"
)
_SIGNATURE = re.compile(r"0x((?:[0-9a-fA-F]{2})*)")
# What the grammar of EIP-4361 lets a statement consist of.
_NOT_IN_STATEMENT = re.compile(r"[^A-Za-z0-9 \-._~:/?#\[\]@!$&'()*+,;=]")
_KEY_SIGNATURE_BYTES = 65
_HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half the order of secp256k1."""


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of a message, read as EIP-4361; times in seconds since the epoch."""

    origin: tuple[str | None, str, str]
    address: str
    chain_id: int
    nonce: str
    issued: float
    expires: float
    not_before: float


class WalletSignIn:
    """Signs people in by what their wallet signs.

    Args:
        site: where the portal is.
        sealer: derives the HMAC in nonces; its clock is the one that counts.
        spent: records which nonces have signed somebody in.
        chains: the chain ids that a message may name.
        statement: the text that the wallet shows; characters that EIP-4361 forbids are left out.
        contracts: asks contract wallets; without it only keys sign in.
        names: looks up ENS names, to be shown.
    """

    def __init__(
        self,
        site: Site,
        sealer: Sealer,
        spent: SingleUseStore,
        chains: Collection[int],
        statement: str,
        contracts: ContractWallets | None = None,
        names: EnsNames | None = None,
    ) -> None:
        self._site = site
        self._sealer = sealer
        self._spent = spent
        self._chains = frozenset(chains)
        self._statement = _statement(statement)
        self._contracts = contracts
        self._names = names

    def challenge(self, base: str, address: str, chain_id: int, bound_to: str) -> str:
        """The message for a wallet to sign; nothing of it is stored.

        Args:
            base: the portal's base as the browser sees it.
            address: the wallet's address, in any case.
            chain_id: the chain that the wallet is on.
            bound_to: the cookie that the browser must send back with the signature.

        Raises:
            BadCredential: no wallet of that address and chain can sign in.
        """
        from eth_utils.address import to_checksum_address

        if not _ADDRESS.fullmatch(address):
            raise BadCredential("The wallet gave no Ethereum address. Choose an account in it.")
        if chain_id not in self._chains:
            raise BadCredential(self._wrong_chain(chain_id))
        time, random = f"{int(self._sealer.now()):08x}", secrets.token_hex(8)
        return self._message(base, to_checksum_address(address), chain_id, bound_to, time + random)

    async def verify(self, base: str, message: str, signature: str, bound_to: str) -> Account:
        """The account of the wallet that signed a message of ours.

        A contract's answer is a proof on the chain that the message names and nowhere else: on
        another chain the contract may have other owners or not exist.

        A refused attempt does not use up the nonce, so it can be repeated; a nonce signs in at
        most once.

        Args:
            base: the portal's base as the browser sees it.
            message: the message, as :meth:`challenge` made it.
            signature: ``0x`` and hexadecimal digits.
            bound_to: the browser's cookie.

        Raises:
            BadCredential: it proves nothing; the reason is for people.
        """
        if len(message) > MAX_MESSAGE_LENGTH or len(signature) > 2 + 2 * MAX_SIGNATURE_BYTES:
            raise BadCredential("The message or its signature is too long. Sign in again.")
        if not (digits := _SIGNATURE.fullmatch(signature)):
            raise BadCredential("The wallet's signature is not hexadecimal. Sign in again.")
        if not self._is_ours(base, message, bound_to):
            raise BadCredential(
                "The message was not made here for this browser, or it was altered. Allow cookies "
                "for this site, and sign in again."
            )
        said = await asyncio.to_thread(_read, message)
        self._check(said, base)
        signer = await self._check_signature(said, message, bytes.fromhex(digits[1]))
        # Last, so that a signature which fails does not use the nonce up.
        until = datetime.fromtimestamp(said.issued + MESSAGE_LIFETIME_S + 2 * MAX_CLOCK_SKEW_S, UTC)
        if not await self._spent.spend(f"wallet-nonce:{said.nonce}", until):
            raise BadCredential("This message has signed somebody in already. Sign in again.")
        name = await self._names.name(said.address) if self._names else None
        if signer == "key":
            return Account.of_key(said.address, name)
        return Account.of_contract(said.chain_id, said.address, name)

    def _message(self, base: str, address: str, chain_id: int, bound_to: str, made: str) -> str:
        """The message of a nonce that begins with ``made``: its time and its random part."""
        issued = int(made[:8], 16)
        values = "\0".join([bound_to, base, address, str(chain_id), self._statement, made])
        # An HMAC in an alphabet that a nonce may have (EIP-4361 takes letters and digits only).
        mark = hashlib.sha256(self._sealer.mark(values).encode()).hexdigest()[:32]
        return "\n".join(
            [
                f"{urlsplit(base).netloc} wants you to sign in with your Ethereum account:",
                address,
                "",
                self._statement,
                "",
                f"URI: {base}/signin",
                "Version: 1",
                f"Chain ID: {chain_id}",
                f"Nonce: {made}{mark}",
                f"Issued At: {_written(issued)}",
                f"Expiration Time: {_written(issued + MESSAGE_LIFETIME_S)}",
            ]
        )

    def _is_ours(self, base: str, message: str, bound_to: str) -> bool:
        """Whether a message is one of ours for this browser, character by character.

        It is checked before any parsing: hostile texts can keep siwe's parsers busy, one of them
        for ever, so they only get texts of our own.
        """
        parts = _OURS.fullmatch(message)
        if not parts or not bound_to:
            return False
        made = self._message(base, parts["address"], int(parts["chain"]), bound_to, parts["made"])
        return hmac.compare_digest(_bytes(made), _bytes(message))

    def _check(self, said: _Values, base: str) -> None:
        now = self._sealer.now()
        ours = (None, urlsplit(base).netloc, f"{base}/signin")
        checks = [
            (
                self._site.is_base(base) and said.origin == ours,
                "The message is for another site. Never sign in to one site with another's.",
            ),
            (said.chain_id in self._chains, self._wrong_chain(said.chain_id)),
            (
                said.issued <= now + MAX_CLOCK_SKEW_S and said.not_before <= now,
                "The message is not valid yet. Sign in again.",
            ),
            (
                now < min(said.expires, said.issued + MESSAGE_LIFETIME_S),
                f"The message has expired: it is good for {MESSAGE_LIFETIME_S // 60} minutes. "
                "Sign in again.",
            ),
        ]
        for good, reason in checks:
            if not good:
                raise BadCredential(reason)

    async def _check_signature(self, said: _Values, message: str, signature: bytes) -> Signer:
        """Who signed: the key of the address, or else the contract there.

        A key comes first, also where there is code (EIP-7702): it holds the address everywhere.
        """
        if await asyncio.to_thread(_signer, message, signature) == said.address:
            return "key"
        if self._contracts is None or not self._contracts.can_read(said.chain_id):
            raise BadCredential(
                f"The signature is not of {said.address}. If that is a contract wallet, it cannot "
                f"be asked: this portal does not read the chain {said.chain_id}."
            )
        digest = await asyncio.to_thread(_digest, message)
        try:
            signed = await self._contracts.signed(said.chain_id, said.address, digest, signature)
        except SourceUnavailable as error:
            raise BadCredential(
                f"Whether {said.address} signed cannot be found out now: the chain "
                f"{said.chain_id} does not answer. Try again in a minute."
            ) from error
        if not signed:
            raise BadCredential(f"The signature is not of {said.address}. Sign in again.")
        return "contract"

    def _wrong_chain(self, chain_id: int) -> str:
        chains = ", ".join(map(str, sorted(self._chains)))
        return f"The wallet is on the chain {chain_id}. Switch it to one of these: {chains}."


def _statement(text: str) -> str:
    """A statement in the characters that EIP-4361 allows, on one line."""
    plain = " ".join(unicodedata.normalize("NFKD", text).split())
    kept = " ".join(_NOT_IN_STATEMENT.sub("", plain).split())
    return kept[:MAX_STATEMENT_LENGTH].rstrip() or "Sign in."


def _bytes(text: str) -> bytes:
    # JSON can hold a lone surrogate, which must not become an error here.
    return text.encode(errors="surrogatepass")


def _written(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(written: str) -> float:
    return datetime.fromisoformat(written).timestamp()


def _read(message: str) -> _Values:
    from siwe import SiweMessage

    try:
        said = SiweMessage.from_message(message)
        expires, not_before = said.expiration_time, said.not_before
        return _Values(
            origin=(said.scheme, said.domain, said.uri),
            address=said.address,
            chain_id=said.chain_id,
            nonce=said.nonce,
            issued=_moment(said.issued_at),
            expires=_moment(expires) if expires else float("inf"),
            not_before=_moment(not_before) if not_before else float("-inf"),
        )
    except (ValueError, OverflowError):
        raise BadCredential(
            "This portal's address has no place in a message of EIP-4361. Tell whoever runs it."
        ) from None


def _signer(message: str, signature: bytes) -> str | None:
    """The address whose key signed a message (EIP-191), or None where no key did.

    Every signature has a twin with a high ``s``, which anyone can compute (malleability). Wallets
    give the one with the low ``s`` (EIP-2), and only that is accepted.
    """
    from eth_account import Account as Keys
    from eth_account.messages import encode_defunct

    if len(signature) != _KEY_SIGNATURE_BYTES or signature[64] not in {0, 1, 27, 28}:
        return None
    if int.from_bytes(signature[32:64]) > _HALF_ORDER:
        return None
    try:
        signer: str = Keys.recover_message(encode_defunct(text=message), signature=signature)
    except Exception:  # of several libraries: these numbers are no point of the curve
        return None
    return signer


def _digest(message: str) -> bytes:
    """The hash of a message that a wallet signs (EIP-191)."""
    from eth_utils.crypto import keccak

    text = message.encode()
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text)
