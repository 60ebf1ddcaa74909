"""The system's Chromium, and a wallet in it whose key the test holds."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from eth_account.messages import encode_defunct
from playwright.async_api import Browser, BrowserContext, async_playwright

AXE = Path(__file__).parents[1] / "node" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP *.test 127.0.0.1",  # pages of other origins come from here too
)

# An EIP-1193 provider that asks the test to sign, announced as EIP-6963 has it.
_WALLET = """
(() => {
  const provider = {
    request: async ({ method, params }) => {
      const answer = await window.porchTestWallet(method, params ?? []);
      if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
      return answer.result;
    },
    on: () => {},
  };
  const info = { uuid: "7d4a7a5c-0d5f-4f1e-9d35-0f1f7c0f3a11", name: "Test Wallet",
                 icon: "data:,", rdns: "org.example.wallet" };
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider",
    { detail: Object.freeze({ info, provider }) }));
  if (LEGACY) { window.ethereum = provider; return; }
  addEventListener("eip6963:requestProvider", announce);
  announce();
})();
"""


def executable() -> str | None:
    """Where Chromium is, or None."""
    return os.environ.get("PORCH_TEST_CHROMIUM") or shutil.which("chromium")


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """A browser without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(), args=list(FLAGS), headless=True
        )
        try:
            yield browser
        finally:
            await browser.close()


class Wallet:
    """A wallet as a page sees it; it signs with a real key.

    Attributes:
        key: the account's key.
        chain: the chain that the wallet is on.
        declines: whether its owner says no to signing.
        asked: the methods that pages called.
    """

    def __init__(self, key: Any, chain: int = 10) -> None:
        self.key = key
        self.chain = chain
        self.declines = False
        self.asked: list[str] = []

    async def install(self, context: BrowserContext, *, legacy: bool = False) -> None:
        """Put the wallet into every page of a context."""
        await context.expose_function("porchTestWallet", self._answer)
        await context.add_init_script(_WALLET.replace("LEGACY", "true" if legacy else "false"))

    def _answer(self, method: str, parameters: list[Any]) -> dict[str, Any]:
        self.asked.append(method)
        if method == "eth_requestAccounts":
            return {"result": [self.key.address.lower()]}
        if method == "eth_chainId":
            return {"result": hex(self.chain)}
        if method != "personal_sign":
            return {"error": {"code": 4200, "message": f"{method} is not supported."}}
        if self.declines:
            return {"error": {"code": 4001, "message": "User rejected the request."}}
        message = encode_defunct(hexstr=parameters[0])
        return {"result": "0x" + self.key.sign_message(message).signature.hex()}
