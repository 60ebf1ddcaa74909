"""A local Ethereum chain: a real EVM with the contracts that Porch reads, over real JSON-RPC.

A test takes it as a fixture::

    from tests.chain.anvil import chain  # in a conftest.py

and a script as a context manager::

    with running(chain_id=10) as chain:
        wallet = chain.wallet()
        chain.give_hat(wallet.address, hat)
"""

from __future__ import annotations

import itertools
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eth_abi
import httpx2
import pytest
from eth_utils import keccak, to_checksum_address

from tests.chain.compiler import compiled

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

PACKAGES = Path(__file__).parents[1] / "node" / "node_modules" / "@foundry-rs"
ARCHITECTURES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}

HATS = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
MULTICALL = "0xcA11bde05977b3631167028862bE2a173976CA11"
ENS = "0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e"
WELL_KNOWN = {"hats": HATS, "multicall": MULTICALL, "ens_registry": ENS}
"""Contracts that stand at the same address on every chain, and so here."""


class Reverted(Exception):
    """The contract refused a transaction or a call."""


class Chain:
    """A chain that runs, and what a test does on it.

    Attributes:
        url: where it answers JSON-RPC.
        id: its chain id.
        sender: the account that sends the test's transactions; it has money.
    """

    def __init__(self, url: str, chain_id: int) -> None:
        self.url = url
        self.id = chain_id
        self._http = httpx2.Client(timeout=60)
        self._ids = itertools.count()
        self._kinds: dict[str, str] = {}
        self.sender: str = self.rpc("eth_accounts")[0]
        for kind, address in WELL_KNOWN.items():
            self.place(kind, address)

    def close(self) -> None:
        """Let go of the connections; the chain's process is not touched."""
        self._http.close()

    def rpc(self, method: str, *parameters: Any) -> Any:
        """Ask one JSON-RPC question, such as ``anvil_mine``."""
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": parameters}
        answer = self._http.post(self.url, json=body).raise_for_status().json()
        if "error" in answer:
            raise Reverted(answer["error"]["message"])
        return answer["result"]

    def deploy(self, kind: str, *arguments: Any) -> str:
        """Deploy a contract of ``tests/chain/contracts``; its address."""
        contract = compiled()[kind]
        data = contract.creation + eth_abi.encode(contract.constructor, arguments).hex()
        address = to_checksum_address(self._transact({"data": data})["contractAddress"])
        self._kinds[address] = kind
        return address

    def place(self, kind: str, address: str) -> None:
        """Put a contract's code at an address; no constructor runs."""
        self.rpc("anvil_setCode", address, compiled()[kind].runtime)
        self._kinds[address] = kind

    def remove(self, address: str) -> None:
        """Take the code away from an address."""
        self.rpc("anvil_setCode", address, "0x")

    def send(self, address: str, function: str, *arguments: Any) -> None:
        """Call a function of a contract of ours in a transaction, mined when this returns."""
        data, _ = self._encoded(address, function, arguments)
        self._transact({"to": address, "data": data})

    def read(self, address: str, function: str, *arguments: Any) -> Any:
        """What a function of a contract of ours returns; nothing is changed by it."""
        data, returned = self._encoded(address, function, arguments)
        answer = self.rpc("eth_call", {"from": self.sender, "to": address, "data": data}, "latest")
        return eth_abi.decode(returned, bytes.fromhex(answer[2:]))[0]

    def encode(self, kind: str, function: str, *arguments: Any) -> bytes:
        """The call of a function, as bytes."""
        takes, _ = compiled()[kind].functions[function]
        signature = f"{function}({','.join(takes)})"
        return keccak(text=signature)[:4] + eth_abi.encode(takes, arguments)

    def wallet(self) -> LocalAccount:
        """A new wallet with money, whose key the test holds."""
        from eth_account import Account

        wallet: LocalAccount = Account.create()
        self.rpc("anvil_setBalance", wallet.address, hex(10**20))
        return wallet

    def give_hat(self, address: str, hat: int) -> None:
        """Give a hat, in the contract at the well-known address."""
        self.send(HATS, "give", address, hat)

    def take_hat(self, address: str, hat: int) -> None:
        """Take a hat away."""
        self.send(HATS, "take", address, hat)

    def name_wallet(self, address: str, name: str, *, of: str | None = None) -> None:
        """Give an address its ENS name, both ways.

        Args:
            address: the address whose reverse record says the name.
            name: the name, as it is.
            of: the address that the name leads to, where it is another one.
        """
        resolver = self.deploy("ens_resolver")
        for node in (namehash(f"{address[2:].lower()}.addr.reverse"), namehash(name)):
            self.send(ENS, "setResolver", node, resolver)
        self.send(resolver, "setName", namehash(f"{address[2:].lower()}.addr.reverse"), name)
        self.send(resolver, "setAddr", namehash(name), of or address)

    def _encoded(
        self, address: str, function: str, arguments: tuple[Any, ...]
    ) -> tuple[str, list[str]]:
        kind = self._kinds[address]
        data = self.encode(kind, function, *arguments)
        return "0x" + data.hex(), compiled()[kind].functions[function][1]

    def _transact(self, transaction: dict[str, str]) -> dict[str, Any]:
        # With the receipt for an answer: the transaction is mined by then.
        whole = {"from": self.sender, "gas": "0x800000"} | transaction
        receipt: dict[str, Any] = self.rpc("eth_sendTransactionSync", whole)
        if receipt["status"] != "0x1":
            raise Reverted(f"transaction {receipt['transactionHash']}")
        return receipt


def namehash(name: str) -> bytes:
    """The node of an ENS name (EIP-137)."""
    node = bytes(32)
    for label in reversed(name.split(".")):
        node = keccak(node + keccak(text=label))
    return node


@contextmanager
def running(chain_id: int = 10) -> Iterator[Chain]:
    """Run a chain on a free port of the loopback address for as long as the block lasts."""
    with tempfile.TemporaryFile("w+") as output:
        command: list[str | Path] = [_binary(), "--port", "0", "--chain-id", str(chain_id)]
        # Into a file: a pipe that nobody reads would fill up and stop it.
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        ) as process:
            try:
                chain = Chain(f"http://127.0.0.1:{_port(process, output)}", chain_id)
                yield chain
                chain.close()
            finally:
                process.kill()


def _port(process: subprocess.Popen[bytes], output: Any) -> int:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        output.seek(0)
        for line in output.read().splitlines():
            if line.startswith("Listening on ") and line[-1].isdigit():
                return int(line.rpartition(":")[2])
        time.sleep(0.01)
    output.seek(0)
    return pytest.fail(f"The chain did not start: {output.read()[-1000:]}")


def _binary() -> Path:
    architecture = ARCHITECTURES.get(platform.machine(), platform.machine())
    suffix = ".exe" if sys.platform == "win32" else ""
    binary = PACKAGES / f"anvil-{sys.platform}-{architecture}" / "bin" / f"anvil{suffix}"
    if not binary.exists():
        pytest.fail(
            f"{binary.parts[-3]}, the chain of the tests, is not installed: run `make dev`."
        )
    return binary


@pytest.fixture(scope="session")
def chain() -> Iterator[Chain]:
    """A chain for the whole session; a test keeps to addresses of its own."""
    with running() as chain:
        yield chain
