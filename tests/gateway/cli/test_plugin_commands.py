"""What a plugin declares as a command becomes one of ``porch <plugin>``."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from gateway.cli import plugin_commands
from gateway.cli.options import EXIT
from gateway.contract import (
    Command,
    CommandContext,
    Host,
    Offer,
    Plugin,
    PluginConfig,
    hookimpl,
)
from gateway.plugin_discovery import discover
from tests.gateway.cli.conftest import Run, ready, served


class Args(BaseModel):
    place: Path = Field(description="Where.")
    count: int = Field(3, ge=1, description="How many.")
    loud: bool = Field(False, description="In capitals.")
    polite: bool = Field(True, description="With a please.")
    order: Literal["up", "down"] = Field("up", description="Which way.")
    tag: list[str] = Field(default_factory=list, description="Tags.")


class Config(PluginConfig):
    greeting: str = Field("Hello", description="What to say.")


async def _greet(args: Args, context: CommandContext) -> int:
    if context.json:
        context.emit(args.model_dump(mode="json"))
    else:
        context.echo(f"{context.config.greeting}, {args.place}")
    return args.count


class Where(BaseModel):
    many: list[str] = Field(description="Words.")


async def _store(args: Where, context: CommandContext) -> int:
    async with context.host() as host:
        await host.objects.put("words", " ".join(args.many).encode())
        context.echo(f"{host.plugin} keeps {(await host.objects.get('words') or b'').decode()}")
    return 0


class Nothing(BaseModel):
    pass


async def _tell_address(args: Nothing, context: CommandContext) -> int:
    context.echo(context.url)
    return 0


@asynccontextmanager
async def _open(config: Any, host: Host) -> AsyncGenerator[Offer]:
    yield Offer()


class Greeter:
    @hookimpl
    def porch_plugin(self) -> Plugin:
        commands = (
            Command("greet", "Greet a place.", Args, _greet),
            Command("store", "Keep words.", Where, _store),
            Command("address", "Say where members go.", Nothing, _tell_address),
        )
        return Plugin("greeter", "Greets.", _open, Config, commands, command="hello")


@pytest.fixture
def greeter(porch: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(plugin_commands, "plugin_names", lambda: ["greeter"])
    monkeypatch.setattr("gateway.plugin_discovery.discover", lambda **_: discover([Greeter()]))
    return lambda *words: porch("greeter", *words)


def test_required_fields_are_arguments_and_others_options(greeter: Run) -> None:
    shown = greeter("greet", "--help").output
    assert "PLACE: Where." in shown
    assert "How many.  [default: 3]" in shown
    assert "--order [up|down]" in shown


def test_another_word_leads_to_the_same_commands(greeter: Run, porch: Run) -> None:
    assert porch("hello", "greet", "here").output == "Hello, here\n"
    assert "Usage: porch hello" in porch("hello", "--help").output


def test_a_word_leads_to_the_plugin_of_the_same_module() -> None:
    assert plugin_commands.plugin_words()["skills"] == "skills_repo"
    assert plugin_commands.plugin_behind("skills") == "skills_repo"


def test_values_arrive_validated_and_the_code_is_the_exit_code(greeter: Run) -> None:
    result = greeter(
        *("greet", "here", "--count", "1", "--loud", "--no-polite", "--order", "down"),
        *("--tag", "a", "--tag", "b", "--json"),
    )
    assert json.loads(result.stdout) == {
        "place": "here",
        "count": 1,
        "loud": True,
        "polite": False,
        "order": "down",
        "tag": ["a", "b"],
    }
    assert result.exit_code == 1


def test_the_plugin_s_configuration_is_at_hand(greeter: Run) -> None:
    assert greeter("greet", "here").output == "Hello, here\n"


def test_a_bad_value_is_a_usage_error_that_names_it(greeter: Run) -> None:
    result = greeter("greet", "here", "--count", "0")
    assert result.exit_code == EXIT.USAGE
    assert "count: must be greater than or equal to 1" in result.output


def test_the_host_opens_the_plugin_s_own_services(greeter: Run) -> None:
    result = greeter("store", "two", "words")
    assert result.output == "greeter keeps two words\n", result.exception


def test_the_address_is_that_of_the_portal_that_runs_or_else_the_configured_one(
    greeter: Run, place: Path
) -> None:
    portal = place / "config" / "portal.yaml"
    portal.write_text(portal.read_text().replace("port: 0", "port: 9123"))
    with served(place) as (url, _):  # on a port that the system picks
        assert ready(url)
        assert greeter("address").output == f"{url}/mcp\n"
    assert greeter("address").output == "http://127.0.0.1:9123/mcp\n"


def test_the_knowledge_plugin_checks_a_directory(porch: Run) -> None:
    Path("content/broken.md").write_text("---\ntitle: [\npublish: true\n---\n")
    result = porch("knowledge", "check", "content")
    assert result.exit_code == EXIT.PROBLEM
    assert "content/broken.md:" in result.output
