"""``porch explain``: why somebody may use something, or may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from gateway.cli.connection import admin_answer
from gateway.cli.options import EXIT, Setup, emit, json_option, with_setup

_MARKS = {"yes": "✓", "no": "✗", "unknown": "?"}


@click.command()
@click.option(
    "--as",
    "who",
    default="anonymous",
    show_default=True,
    metavar="WHO",
    help="anonymous, a wallet's address (of a contract eip155:10:0x…), github:NAME, a person's or "
    "token's id, or a tier.",
)
@click.option(
    "--tool",
    "--item",
    "item",
    metavar="NAME",
    help="A tool, or any item by its name, URI or key; without it, only who they are.",
)
@json_option
@with_setup
@click.pass_context
def command(ctx: click.Context, setup: Setup, who: str, item: str | None, as_json: bool) -> None:
    """Say why somebody may use an item, or may not.

    Prints the whole chain: who they are, how each rule of tiers.yaml judges them and by which
    fact, the tier that follows, the tier that the item asks for and which line decided it. The
    exit code is 1 where the answer is no.

    \b
    Examples:
      porch explain --as 0x52908400098527886E0F7030069857D2E4169EE7 --tool get_document
      porch explain --as anonymous --tool search_knowledge
      porch explain --as github:octocat               who they are, and why
    """
    params = {"as": who} | ({"item": item} if item else {})
    answer = admin_answer(setup, "GET", "explain", params=params)
    if as_json:
        emit(answer)
    else:
        for line in _lines(answer):
            click.echo(line)
    refused = any(not each["allowed"] for each in answer["items"]) or answer["absent"]
    ctx.exit(EXIT.PROBLEM if refused else EXIT.DONE)


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    from gateway.cli.render import clean, style

    name = f" ({answer['name']})" if answer["name"] else ""
    yield style(f"{clean(answer['who'])}{clean(name)}", bold=True)
    for tier, verdicts in answer["rules"].items():
        yield f"  rule for {tier}"
        for each in verdicts:
            because = f": {clean(each['because'])}" if each["because"] else ""
            indent = "    " + "  " * each["depth"]
            yield f"{indent}{_MARKS[each['holds']]} {clean(each['rule'])}{because}"
    for reason in answer["reasons"]:
        yield f"  {clean(reason)}"
    admin = ", admin" if answer["admin"] else ""
    yield f"  tier: {answer['tier']}{admin}{_unsure(answer)}"
    for item in answer["items"]:
        yield from _item_lines(item)
    for each in answer["absent"]:
        yield from _absent_lines(each)


def _unsure(answer: Mapping[str, Any]) -> str:
    if answer["sign_in_again"]:
        return "; what was proved is too old, so it may be higher after they sign in again"
    return "; a source did not answer, so it may be too low" if answer["degraded"] else ""


def _item_lines(item: Mapping[str, Any]) -> Iterator[str]:
    from gateway.cli.render import clean, style

    yield ""
    yield style(clean(item["item"]), bold=True)
    hidden = ", hidden below it" if item["hidden"] else ""
    yield f"  requires: {item['requires']}{hidden}, by {clean(item['decided_by'])}"
    if item["waits_for"]:
        yield f"  waits for a yes {clean(item['waits_for'])}"
    word = "allowed" if item["allowed"] else "refused" if item["known"] else "unknown to them"
    yield style(f"  {word}: {clean(item['because'])}.", bold=True)


def _absent_lines(absent: Mapping[str, Any]) -> Iterator[str]:
    from gateway.cli.render import clean, style

    yield ""
    yield style(f"{clean(absent['item'])} ({clean(absent['name'])})", bold=True)
    told = "" if absent["known"] else "; they are not told so"
    yield f"  {clean(absent['why'])}: {clean(absent['reason'])}{told}"
    for more in (absent["detail"], absent["link"]):
        if more:
            yield f"  {clean(more)}"
