"""The repositories that the sources name, opened with the operator's credential."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from gateway.contract import ContentScrub, Redaction
from gateway.repositories import (
    Advice,
    LocalRepository,
    ReadSecret,
    Repository,
    ScrubbedRepository,
    open_github,
)
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.source_filter import filter_repository, includes

ReportSecret = Callable[[str, Redaction], None]
"""``report(path, what)``: called once per line for each secret that is removed."""

_MAX_REPORTED = 1_000
_ADVICE = Advice(credential="give the source one (credential: app or caller)")


@asynccontextmanager
async def open_repositories(
    config: SkillsRepoConfig,
    secret: ReadSecret,
    only: Sequence[Source] | None = None,
    scrub: ContentScrub | None = None,
    told: ReportSecret | None = None,
) -> AsyncGenerator[Mapping[str, Repository]]:
    """A repository for each source, by the source's name, for as long as the block lasts.

    What is read of them has no secrets: a skill's digest is that of what is served.

    Args:
        config: the plugin's section.
        secret: reads a secret.
        only: these sources rather than all of them.
        scrub: takes the secrets out.
        told: hears of each; by default the log does.

    Raises:
        ValueError: the operator's credential is not where the setting says.
    """
    sources = config.sources if only is None else only
    async with _open_unscrubbed(config, secret, sources) as found:
        cleaning = scrub or ContentScrub("skills_repo")
        yield {
            each.name: ScrubbedRepository(
                filter_repository(each, found[each.name]),
                secret_remover(cleaning, each.name, told or _log_secrets(each.name)),
            )
            for each in sources
        }


def secret_remover(
    scrub: ContentScrub, source: str, tell: ReportSecret
) -> Callable[[bytes, str], bytes]:
    """A function that removes secrets from a source's files and reports each once."""
    told: set[tuple[str, int | None, str]] = set()

    def clean(content: bytes, path: str) -> bytes:
        cleaned, removed = scrub.file(content, source, path)
        for each in removed:
            place = (path, each.line, each.kind)
            if place not in told and len(told) < _MAX_REPORTED:
                told.add(place)
                tell(path, each)
        return cleaned

    return clean


def _log_secrets(source: str) -> ReportSecret:
    def tell(path: str, each: Redaction) -> None:
        import structlog

        at = {"source": source, "path": path, "line": each.line, "kind": each.kind}
        structlog.get_logger("plugin.skills_repo").warning("secret_taken_out", **at)

    return tell


@asynccontextmanager
async def _open_unscrubbed(
    config: SkillsRepoConfig, secret: ReadSecret, sources: Sequence[Source]
) -> AsyncGenerator[Mapping[str, Repository]]:
    most = int(config.max_file)
    found: dict[str, Repository] = {
        source.name: LocalRepository(
            source.directory, source.branch, most, partial(includes, source)
        )
        for source in sources
        if source.directory is not None
    }
    remote = [source for source in sources if source.github is not None]
    if not remote:
        yield found
        return
    async with open_github(config.github, secret) as github:
        yield found | {
            each.name: github.repository(
                each.github or "",
                each.ref or "",
                most,
                reads_as_operator=each.credential == "app",
                advice=_ADVICE,
            )
            for each in remote
        }
