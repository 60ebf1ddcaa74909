"""The commands ``porch skills …``, declared; what they do is imported late."""

from __future__ import annotations

from gateway.contract import Command, CommandContext
from plugins.skills_repo.command_arguments import CheckArgs, IndexArgs, InstallArgs


async def _index(args: IndexArgs, context: CommandContext) -> int:
    from plugins.skills_repo.command_actions import index

    return await index(args, context)


async def _check(args: CheckArgs, context: CommandContext) -> int:
    from plugins.skills_repo.command_actions import check

    return await check(args, context)


async def _install(args: InstallArgs, context: CommandContext) -> int:
    from plugins.skills_repo.install_command import install

    return await install(args, context)


INDEX = Command(
    name="index",
    summary="Build the index of skills, agents and docs from their sources.",
    args=IndexArgs,
    run=_index,
    beside_portal=True,
)
CHECK = Command(
    name="check",
    summary="Report what is wrong with skills and agent profiles, as file:line: reason.",
    args=CheckArgs,
    run=_check,
    beside_portal=True,
)
INSTALL = Command(
    name="install",
    summary="Copy a skill or an agent profile to where a client reads it.",
    args=InstallArgs,
    run=_install,
    beside_portal=True,
)
