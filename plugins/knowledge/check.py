"""What ``porch check`` says of the sources: whether they are there, and serve anything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gateway.contract import ContentScrub, Finding, Host
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.inspection import count, inspect
from plugins.knowledge.notes.field_names import misspelt
from plugins.knowledge.notes.publishing import none_published
from plugins.knowledge.sync.sources import SourceMissing

_NO_SOURCE = "no source is configured: no document is served, and memory alone is searched"
MAX_NAMED_SECRETS = 20
"""So many secrets that would be taken out of a source's notes are named one by one."""


async def check(config: KnowledgeConfig, host: Host) -> Sequence[Finding]:
    """Read the notes of every directory, and look at how their fields are mapped.

    What a source on GitHub holds, health tells.

    Args:
        config: the plugin's section.
        host: the plugin's services.
    """
    findings: list[Finding] = []
    if "sources" in config.model_fields_set and not config.sources:
        findings.append(Finding(("sources",), _NO_SOURCE, notice=True))
    for place, source in enumerate(config.sources):
        if source.directory is not None:
            found = await asyncio.to_thread(_findings, source.directory, config, host.scrub)
            findings += [replace(one, location=("sources", place, *one.location)) for one in found]
        findings += [
            Finding(("sources", place, "map", name), reason, notice=True)
            for name, reason in misspelt(source.map)
        ]
    return findings


def _findings(directory: Path, config: KnowledgeConfig, scrub: ContentScrub) -> list[Finding]:
    try:
        report = inspect(directory, config, scrub)
    except SourceMissing as error:
        return [Finding(("directory",), str(error))]
    findings = []
    if report.unpublished and not report.served:
        said = none_published(report.files)
        findings.append(Finding((), f"nothing would be served: {said}", notice=True))
    if report.errors:
        first = next(one for one in report.problems if one.severity == "error")
        reason = (
            f"{count(report.errors, 'note')} cannot be served; `porch knowledge check {directory}` "
            f"names them. The first: {first}"
        )
        findings.append(Finding(("directory",), reason, notice=True))
    secrets = [str(one) for one in report.problems if one.severity == "secret"]
    named = secrets[:MAX_NAMED_SECRETS]
    if len(secrets) > MAX_NAMED_SECRETS:
        named.append(
            f"{len(secrets) - MAX_NAMED_SECRETS} more secrets would be taken out; "
            f"`porch knowledge check {directory}` names them"
        )
    return [*findings, *(Finding(("directory",), each, notice=True) for each in named)]
