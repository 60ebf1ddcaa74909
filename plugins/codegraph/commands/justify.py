"""``porch codegraph justify``: says anew what code is for, and has the rest asked.

With ``--estimate`` it says what asking would cost, and does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from gateway.contract import CommandContext, Host
from plugins.codegraph.commands import messages, progress_bar
from plugins.codegraph.commands.arguments import JustifyArgs
from plugins.codegraph.commands.messages import wrapped
from plugins.codegraph.justification.opinions.estimate import (
    METHOD,
    Estimate,
    RoleEstimate,
    estimated,
)
from plugins.codegraph.offer import CoreParts
from plugins.codegraph.repositories.repository import Repository

_NO_INDEX = "It was removed, or has no index."


async def justified(
    parts: tuple[CoreParts, Host],
    chosen: Sequence[Repository],
    args: JustifyArgs,
    context: CommandContext,
) -> int:
    """Do it for some repositories; exit code 1 if one has no index."""
    done: list[dict[str, Any]] = []
    for repository in chosen:
        echo = None if context.json else context.echo
        with progress_bar.shown(repository.name, echo) as progress:
            if args.estimate:
                found, lines = await _estimate(parts, repository, args, progress)
            else:
                found, lines = await _run(parts[0], repository, args, progress)
        done.append({"name": repository.name, **found})
        for line in () if context.json else lines:
            context.echo(line)
    if context.json:
        context.emit(done)
    elif not done:
        context.echo("No repository has been added: `porch codegraph add .` adds this directory.")
    elif args.estimate:
        for line in wrapped(METHOD):
            context.echo(line)
    return 1 if any("skipped" in each for each in done) else 0


async def _run(
    base: CoreParts, repository: Repository, args: JustifyArgs, progress: Any
) -> tuple[dict[str, Any], list[str]]:
    org, repo = repository.org, repository.id
    found = await base.justifier.run(org, repo, progress)
    lines = list(messages.justified(repository.name, found))
    if "skipped" in found or not base.opinions.asks:
        return found, lines
    run = await base.opinions.runs.request(org, repo, everything=args.everything)
    who = "models" if base.opinions.level.asker is not None else "members' agents"
    told = f"The portal asks {who} about the rest while it runs; health says how far it is."
    return {**found, "run": run}, [*lines, *wrapped(told)]


async def _estimate(
    parts: tuple[CoreParts, Host], repository: Repository, args: JustifyArgs, progress: Any
) -> tuple[dict[str, Any], list[str]]:
    base, host = parts
    org, repo = repository.org, repository.id
    plan = await base.opinions.planner.plan(org, repo, progress, everything=args.everything)
    if plan is None:
        return {"skipped": _NO_INDEX}, [f"{repository.name}: {_NO_INDEX}"]
    found = await estimated(plan, host.models)
    return _as_json(found), list(_lines(repository.name, found))


def _as_json(found: Estimate) -> dict[str, Any]:
    return {
        "entities": found.entities,
        "levels": found.levels,
        "usd": _plain(found.usd),
        "method": METHOD,
        "roles": [
            {
                "role": each.role,
                "entities": each.entities,
                "prompts": each.prompts,
                "inputTokens": each.input_tokens,
                "outputTokens": each.output_tokens,
                "model": None if each.cost is None else each.cost.model,
                "usd": None if each.cost is None else _plain(each.cost.usd),
                "priceList": None if each.cost is None else each.cost.price_list,
            }
            for each in found.roles
        ],
    }


def _plain(usd: Decimal | None) -> str | None:
    """An amount as JSON has it: in digits, without an exponent."""
    return None if usd is None else f"{usd:f}"


def _lines(name: str, found: Estimate) -> Iterator[str]:
    price = "at a price that nobody here knows" if found.usd is None else _usd(found.usd)
    yield from wrapped(
        f"{name}: {found.entities:,} entities would be asked about, in {found.levels:,} levels, "
        f"{price}."
    )
    for each in found.roles:
        yield from wrapped(_role(each), "  ")


def _role(each: RoleEstimate) -> str:
    told = (
        f"{each.role}: {each.entities:,} entities in {each.prompts:,} prompts, "
        f"{each.input_tokens:,} tokens in and {each.output_tokens:,} out"
    )
    if each.cost is None:
        return f"{told}; this portal has no such model."
    if each.cost.usd is None:
        return f"{told}; nobody here knows what {each.cost.model} costs."
    return f"{told}, {_usd(each.cost.usd)} with {each.cost.model} ({each.cost.price_list})."


def _usd(value: Decimal) -> str:
    return f"about {value:.2f} USD" if value >= 1 else f"about {value:.4f} USD"
