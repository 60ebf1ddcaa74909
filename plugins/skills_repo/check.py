"""What ``porch check`` says of the plugin's section, beside its form."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from gateway.contract import Finding, Host, Redaction, ToolFailed
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.index.build import build, source_fingerprint
from plugins.skills_repo.index.entries import SourceIndex
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.repositories import open_repositories

_MAX_NAMED = 5
_MAX_SECRETS = 20


async def check(config: SkillsRepoConfig, host: Host) -> Sequence[Finding]:
    """Look at what the section means: places, credentials, and names that two sources share.

    Directories are read; of repositories on GitHub the last index counts, as a check asks no
    one else's machine.
    """
    findings: list[Finding] = []
    indexes: dict[str, SourceIndex] = {}
    for place, source in enumerate(config.sources):
        reason = await asyncio.to_thread(_no_directory, source)
        if reason:
            findings.append(Finding(("sources", place, "directory"), reason))
            continue
        taken: list[str] = []
        if isinstance(index := await _index(config, source, host, taken), SourceIndex):
            indexes[source.name] = index
        elif index:
            findings.append(Finding(("sources", place), index))
        findings += [Finding(("sources", place), each, notice=True) for each in _some(taken)]
    findings += _secrets(config, host)
    return [*findings, *_credentials(config), *_clashes(config.sources, indexes)]


def _no_directory(source: Source) -> str:
    if source.directory is None or source.directory.is_dir():
        return ""
    return f"the directory {source.directory} is not there; make it, or name another"


async def _index(
    config: SkillsRepoConfig, source: Source, host: Host, taken: list[str]
) -> SourceIndex | str | None:
    """The index of a source; or why there is none, or None where nobody has built it yet.

    What is taken out of its files is added to ``taken``, as file, line and kind.
    """

    def tell(path: str, each: Redaction) -> None:
        taken.append(f"{path}:{each.line or 1}: {each.kind}: taken out; have it replaced")

    if source.directory is None:
        store = IndexStore(host.objects)
        return await store.load(source.name, source.kind, source_fingerprint(source))
    try:
        async with open_repositories(
            config, host.secret, [source], host.scrub, tell
        ) as repositories:
            index, _ = await build(source, repositories[source.name])
    except ToolFailed as error:
        return error.message
    return index


def _some(taken: list[str]) -> Sequence[str]:
    more = len(taken) - _MAX_SECRETS
    return [*taken[:_MAX_SECRETS], *([f"{more} more secrets are taken out"] if more > 0 else [])]


def _secrets(config: SkillsRepoConfig, host: Host) -> Iterator[Finding]:
    """Secrets that are not where the section says."""
    for location, reference in config.github.secrets():
        try:
            host.secret(reference)
        except ValueError as error:
            yield Finding(("github", *location), str(error))


def _credentials(config: SkillsRepoConfig) -> Iterator[Finding]:
    github = config.github
    has_operator = github.has_credential
    remote = [(place, each) for place, each in enumerate(config.sources) if each.github]
    for place, source in remote:
        if source.credential == "caller" and not has_operator:
            reason = (
                f"the index of {source.name} is built with the operator's credential, never a "
                "caller's; give github.token or github.app, or its lists stay empty if the "
                "repository is private"
            )
            yield Finding(("sources", place, "credential"), reason)
    if remote and github.webhook_secret is None:
        reason = (
            "without github.webhook_secret a push is noticed only by the schedule or by "
            "`porch skills index`"
        )
        yield Finding(("sources", remote[0][0], "github"), reason, notice=True)
    if remote and not has_operator and all(each.credential == "none" for _, each in remote):
        reason = "without github.token or github.app GitHub answers 60 requests an hour"
        yield Finding(("sources", remote[0][0], "github"), reason, notice=True)


def _clashes(sources: Sequence[Source], indexes: dict[str, SourceIndex]) -> Iterator[Finding]:
    """Names that a later source shares with an earlier one of the same kind."""
    for place, later in enumerate(sources):
        for earlier in sources[:place]:
            both = _names(indexes.get(earlier.name)) & _names(indexes.get(later.name))
            if both and earlier.kind == later.kind:
                yield Finding(("sources", place, "name"), _shared(earlier, later, sorted(both)))


def _names(index: SourceIndex | None) -> set[str]:
    if index is None:
        return set()
    return {each.name for each in index.skills} | {each.name for each in index.agents}


def _shared(earlier: Source, later: Source, names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMED
    told = ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    return (
        f"the sources {earlier.name} and {later.name} both offer {told}; callers tell them apart "
        "by `source`, or rename one"
    )
