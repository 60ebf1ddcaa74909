"""Definitions of real tools, which the benchmark of the search needs.

``python -m benchmarks.tool_collection`` installs the servers of the table, starts each over stdio
without any credential that works, asks for its tools and keeps the answers in a cache outside the
project. The definitions are their authors' words and are never committed; the table names the very
version of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from benchmarks.table import Unmeasurable

START_SECONDS = 120
"""Seconds that a server has to start and to list its tools."""
_TOKEN = "not-a-token"


@dataclass(frozen=True)
class Server:
    """A published server.

    Attributes:
        name: what the requests call it.
        package: what it is installed by.
        version: the very version, so that figures compare.
        runner: what installs it: ``npm`` or ``pip``.
        command: the program that it installs.
        arguments: what the program is started with.
        environment: what it wants to be told before it lists anything.
    """

    name: str
    package: str
    version: str
    runner: Literal["npm", "pip"]
    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


_REFERENCE = "@modelcontextprotocol/server-"
_SIGNED_IN = {"GITHUB_PERSONAL_ACCESS_TOKEN": _TOKEN, "GITLAB_PERSONAL_ACCESS_TOKEN": _TOKEN}
_MAPS = {"GOOGLE_MAPS_API_KEY": _TOKEN}
_SLACK = {"SLACK_BOT_TOKEN": _TOKEN, "SLACK_TEAM_ID": "T0"}
_GOOGLE = {"GOOGLE_OAUTH_CLIENT_ID": _TOKEN, "GOOGLE_OAUTH_CLIENT_SECRET": _TOKEN}

SERVERS = (
    Server(
        "files", f"{_REFERENCE}filesystem", "2026.8.31", "npm", "mcp-server-filesystem", ("HOME",)
    ),
    Server("memory", f"{_REFERENCE}memory", "2026.8.31", "npm", "mcp-server-memory"),
    Server("github", f"{_REFERENCE}github", "2025.4.8", "npm", "mcp-server-github", (), _SIGNED_IN),
    Server("maps", f"{_REFERENCE}google-maps", "0.6.2", "npm", "mcp-server-google-maps", (), _MAPS),
    Server("slack", f"{_REFERENCE}slack", "2025.4.25", "npm", "mcp-server-slack", (), _SLACK),
    Server("gitlab", "@zereight/mcp-gitlab", "2.1.64", "npm", "mcp-gitlab", (), _SIGNED_IN),
    Server("playwright", "@playwright/mcp", "0.0.83", "npm", "playwright-mcp"),
    Server("devtools", "chrome-devtools-mcp", "1.11.0", "npm", "chrome-devtools-mcp"),
    Server("notion", "@notionhq/notion-mcp-server", "2.5.2", "npm", "notion-mcp-server"),
    Server("mongodb", "mongodb-mcp-server", "3.0.4", "npm", "mongodb-mcp-server"),
    Server("office365", "@softeria/ms-365-mcp-server", "0.155.0", "npm", "ms-365-mcp-server"),
    Server("charts", "@antv/mcp-server-chart", "0.9.10", "npm", "mcp-server-chart"),
    Server("kubernetes", "mcp-server-kubernetes", "4.1.7", "npm", "mcp-server-kubernetes"),
    Server("desktop", "@wonderwhy-er/desktop-commander", "0.2.52", "npm", "desktop-commander"),
    Server("git", "mcp-server-git", "2026.10.19", "pip", "mcp-server-git"),
    Server("time", "mcp-server-time", "2026.10.19", "pip", "mcp-server-time"),
    Server("fetch", "mcp-server-fetch", "2026.10.24", "pip", "mcp-server-fetch"),
    Server("excel", "excel-mcp-server", "2.2.2", "pip", "excel-mcp-server", ("stdio",)),
    Server("word", "office-word-mcp-server", "1.1.11", "pip", "word_mcp_server"),
    Server("google", "workspace-mcp", "2.2.1", "pip", "workspace-mcp", (), _GOOGLE),
)


def cache() -> Path:
    """Where definitions are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "porch" / "tools"


def collected() -> dict[str, list[dict[str, Any]]]:
    """The definitions of every server's tools, by the server's name.

    Raises:
        Unmeasurable: they were not collected on this machine.
    """
    found = {}
    for server in SERVERS:
        file = cache() / f"{server.name}-{server.version}.json"
        if not file.is_file():
            raise Unmeasurable(
                f"The tools of {server.package} {server.version} are not here. Collect them with "
                "'python -m benchmarks.tool_collection', which installs from npm and PyPI."
            )
        found[server.name] = json.loads(file.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Collect what is not in the cache yet."""
    place = cache()
    place.mkdir(parents=True, exist_ok=True)
    missing = [
        server
        for server in SERVERS
        if not (place / f"{server.name}-{server.version}.json").is_file()
    ]
    _install([each for each in missing if each.runner == "npm"], _npm)
    _install([each for each in missing if each.runner == "pip"], _pip)
    for server in missing:
        try:
            tools = asyncio.run(_tools(server))
        except Exception as error:
            print(f"{server.name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        file = place / f"{server.name}-{server.version}.json"
        file.write_text(json.dumps(tools, indent=1), encoding="utf-8")
        print(f"{server.name} {server.version}: {len(tools)} tools")


def _install(servers: Sequence[Server], how: Any) -> None:
    if servers:
        how([server.package for server in servers], [server.version for server in servers])


def _npm(packages: Sequence[str], versions: Sequence[str]) -> None:
    place = cache() / "npm"
    place.mkdir(exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in zip(packages, versions, strict=True)]
    # Without scripts: no browser or program is fetched that listing tools does not need.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
    subprocess.run(["npm", "install", *quiet, *wanted], cwd=place, check=True)


def _pip(packages: Sequence[str], versions: Sequence[str]) -> None:
    place = cache() / "python"
    if not place.is_dir():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
    wanted = [f"{name}=={version}" for name, version in zip(packages, versions, strict=True)]
    subprocess.run([place / "bin" / "pip", "install", "--quiet", *wanted], check=True)


async def _tools(server: Server) -> list[dict[str, Any]]:
    bin_directory = {"npm": "npm/node_modules/.bin", "pip": "python/bin"}[server.runner]
    home = cache() / "home"
    home.mkdir(exist_ok=True)
    path = f"{cache() / bin_directory}{os.pathsep}{os.environ['PATH']}"
    parameters = StdioServerParameters(
        command=str(cache() / bin_directory / server.command),
        args=[each.replace("HOME", str(home)) for each in server.arguments],
        env={"PATH": path, "HOME": str(home), **server.environment},
    )
    async with asyncio.timeout(START_SECONDS):
        async with Client(stdio_client(parameters), mode="legacy") as client:
            return await _every(client)


async def _every(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools
        ]
        if (cursor := page.next_cursor) is None:
            return found


if __name__ == "__main__":
    main()
