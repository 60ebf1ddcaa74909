"""``porch tiers``: what another ``tiers.yaml`` would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from gateway.cli.connection import admin_answer
from gateway.cli.options import HomePath, Setup, emit, json_option, with_setup

_FILE = HomePath(exists=True, dir_okay=False, path_type=Path)


@click.group()
def command() -> None:
    """Compare tier rules before they are in force.

    \b
    Examples:
      porch tiers diff proposal.yaml                  who would gain and lose which item
    """


@command.command()
@click.argument("new", type=_FILE, metavar="NEW.yaml")
@json_option
@with_setup
def diff(setup: Setup, new: Path, as_json: bool) -> None:
    """Say who would gain and lose which item under NEW.yaml.

    Nothing is applied. Everyone who has signed in is judged by both sets of rules, with the
    facts as they are now; save NEW.yaml as tiers.yaml to put it in force.

    \b
    Examples:
      porch tiers diff proposal.yaml
      porch tiers diff proposal.yaml --json           for a review in CI
    """
    answer = admin_answer(
        setup, "POST", "tiers-diff", params={"file": f"{new}"}, content=new.read_bytes()
    )
    if as_json:
        emit(answer)
        return
    for line in _lines(answer):
        click.echo(line)


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    from gateway.cli.render import clean, style

    items, people = answer["items"], answer["people"]
    if not items and not people:
        yield "Nothing changes for any item or for anyone who has signed in."
        return
    yield _summary(items, people)
    yield ""
    for change in items:
        yield style(clean(change["item"]), bold=True)
        yield f"  {_decided(change['before'])} -> {_decided(change['after'])}"
        yield from _whom("gains", change["gains"])
        yield from _whom("loses", change["loses"])
    for change in people:
        yield f"{style(clean(change['name']), bold=True)} ({clean(change['person'])})"
        unsure = "  (a source did not answer: this may be wrong)" if change["uncertain"] else ""
        yield f"  {_access_text(change['before'])} -> {_access_text(change['after'])}{unsure}"
        yield from _whom("gains", change["gains"])
        yield from _whom("loses", change["loses"])


def _summary(items: list[Any], people: list[Any]) -> str:
    """How many gain and how many lose; whoever does both counts as both."""
    parts = [f"{len(items)} {'item changes' if len(items) == 1 else 'items change'}"]
    for word, way in (("gain", "gains"), ("lose", "loses")):
        if count := sum(bool(each[way]) for each in people):
            parts.append(f"1 person {word}s" if count == 1 else f"{count} people {word}")
    if unsure := sum(each["uncertain"] for each in people):
        parts.append(f"{unsure} of them may be wrong, for a source did not answer")
    return f"{', '.join(parts)}."


def _whom(word: str, names: list[str]) -> Iterator[str]:
    from gateway.cli.render import clean

    if names:
        yield f"  {word}: {', '.join(map(clean, names))}"


def _decided(decision: Mapping[str, Any]) -> str:
    from gateway.cli.render import clean

    waits = f", waits for a yes {clean(decision['waits_for'])}" if decision["waits_for"] else ""
    return f"{decision['tier']}{', hidden' if decision['hidden'] else ''}{waits}"


def _access_text(access: tuple[str, bool]) -> str:
    tier, admin = access
    return f"{tier}{', admin' if admin else ''}"
