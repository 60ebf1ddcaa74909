"""A portal without models, assistant, payments or work loads nothing of theirs, also in use."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from mcp import Client

MODELS = {"pydantic_ai", "pydantic_graph", "openai", "anthropic", "genai_prices", "langfuse"}
PAYMENTS = {"stripe", "web3", "eth_account"}
PARTS = (
    *("gateway.services.models.engine", "gateway.services.models.provider"),
    *("gateway.assistant.run", "gateway.assistant.store", "gateway.assistant.stream"),
    *("gateway.payments.", "gateway.surfaces.payments."),
)
"""The portal's own modules that only they need, by how their names begin."""
PATIENCE = 60.0


def test_a_portal_without_models_imports_none_of_their_libraries(place: Path) -> None:
    command = (sys.executable, "-X", "importtime", "-m", "gateway.cli", "serve", "--port", "0")
    printed, imports = place / "printed", place / "imports"
    variables = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with printed.open("wb") as out, imports.open("wb") as noted:
        process = subprocess.Popen(command, cwd=place, env=variables, stdout=out, stderr=noted)
        try:
            tools = asyncio.run(listed(address(process, printed)))
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)
    assert "search_knowledge" in tools
    found = modules(imports)
    assert "gateway.services.models.service" in found, "It reads what was imported."
    assert {each.partition(".")[0] for each in found} & (MODELS | PAYMENTS) == set()
    assert [each for each in found if f"{each}.".startswith(PARTS)] == []


def address(process: subprocess.Popen[bytes], printed: Path) -> str:
    """Where the portal takes calls, once it says so."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        for line in printed.read_text().splitlines():
            if "Paste into" in line:
                return line.split()[-1]
        time.sleep(0.05)
    raise AssertionError("The portal does not start.")


async def listed(url: str) -> set[str]:
    """The tools that a client is told of, after one that it has called."""
    async with Client(url) as client:
        await client.call_tool("search_knowledge", {"query": "garden"})
        return {each.name for each in (await client.list_tools()).tools}


def modules(imports: Path) -> set[str]:
    """The modules that ``-X importtime`` has noted."""
    lines = imports.read_text(errors="replace").splitlines()
    return {each.rpartition("|")[2].strip() for each in lines if each.startswith("import time:")}
