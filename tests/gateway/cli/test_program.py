"""The trunk of the command: help, exit codes, errors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gateway.cli import main
from gateway.cli.options import EXIT, HomePath
from gateway.cli.plugin_commands import plugin_names, plugin_words
from tests.gateway.cli.conftest import Run


def test_help_names_every_command_and_the_plugins() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    for name in ("serve", "check", "call", "tools", "plugins", "audit", "schema", "new-plugin"):
        assert f"\n  {name} " in shown
    assert "\n  knowledge " in shown


def test_help_explains_every_exit_code() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    for code in EXIT:
        assert f"\n    {code.value}  " in shown


def test_help_lists_a_plugin_by_the_other_word_for_it() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert "\n  skills " in shown
    assert "\n  skills_repo " not in shown


@pytest.mark.parametrize("name", main.list_commands(click.Context(main)))
def test_each_command_helps_with_examples(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    if name not in {*plugin_names(), *plugin_words()}:
        assert "Examples:" in result.output


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from gateway.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'pydantic', 'starlette', 'gateway.app', 'gateway.contract', 'rich', 'httpx2'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "LOADED []" in shown


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(main, ["--version"]).output.startswith("porch 0.")


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    result = CliRunner().invoke(main, ["serv"])
    assert result.exit_code == EXIT.USAGE
    assert "Did you mean 'serve'?" in result.output


def test_a_wrong_configuration_is_told_by_line_without_a_traceback(porch: Run) -> None:
    Path("config/portal.yaml").write_text("name: Ours\nlisten: {prt: 1}\n")
    result = porch("plugins")
    assert result.exit_code == EXIT.CONFIG
    assert "config/portal.yaml:2: listen.prt" in result.output
    assert "Traceback" not in result.output


def test_an_unexpected_error_is_one_line_and_debug_shows_the_rest(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("the disk\nis gone")

    monkeypatch.setattr("gateway.config.portal.read_environment", fail)
    result = porch("plugins")
    assert result.exit_code == EXIT.UNEXPECTED
    assert result.output.startswith("Unexpected: RuntimeError: the disk is gone\n")
    assert isinstance(porch("--debug", "plugins").exception, RuntimeError)


def test_a_missing_configuration_directory_is_a_usage_error_where_it_was_named(porch: Run) -> None:
    assert porch("check", "--config", "nowhere").exit_code == EXIT.USAGE


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "gateway.cli", "plugins"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")


def test_every_path_may_begin_with_a_tilde(
    porch: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place))
    assert porch("check", "--config", "~/config").output == "All well.\n"
    assert porch("publish", "--output", "~nobody-of-that-name/x").exit_code != EXIT.UNEXPECTED


def params(command: click.Command) -> Iterator[click.Parameter]:
    yield from command.params
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if (below := command.get_command(context, name)) is not None:
                yield from params(below)


def test_no_path_is_looked_at_before_its_tilde_is_read() -> None:
    paths = [each.type for each in params(main) if isinstance(each.type, click.Path)]
    assert paths
    assert all(isinstance(each, HomePath) for each in paths)
