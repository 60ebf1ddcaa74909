"""What members should mend in a directory of notes, and how it would be served as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from gateway.contract import ContentScrub, Objects, Tier, Unruled
from plugins.knowledge.config import KnowledgeConfig, SourceConfig
from plugins.knowledge.links import Targets
from plugins.knowledge.notes.field_names import misspelt
from plugins.knowledge.notes.frontmatter import Problem, read, summed
from plugins.knowledge.notes.layouts import left_out, other_markup, recognise
from plugins.knowledge.notes.publishing import none_published
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.store import Store
from plugins.knowledge.supersession import unfollowed
from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.plan import Planner, Put
from plugins.knowledge.sync.sources import DirectorySource

MAX_NAMED = 50
"""So many notes that a proposal would not serve are named."""

_SEVERAL = "several notes are called {name}, so it counts for none; name the one by its path"
_NONE = (
    "none of the notes served from here is called {name}; it counts for nothing unless one of "
    "another source is"
)
_YET_TO_COME = (
    "date: it lies in the future, so the note counts as of the day on which it is read; when "
    "something takes place is said by eventDate, and from when on it holds by validFrom"
)


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Attributes:
        directory: what was checked.
        files: how many notes there are.
        served: how many would be served, by type.
        unpublished: how many do not ask to be: not ``publish: true``, or ``draft: true``.
        problems: by the order of their paths, with the directory in front.
        unread: how many pages are written in another markup, by the ending of their files.
    """

    directory: Path
    files: int
    served: Counter[str]
    unpublished: int
    problems: Sequence[Problem]
    unread: Mapping[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many notes cannot be served."""
        return sum(problem.severity == "error" for problem in self.problems)

    def as_json(self) -> dict[str, Any]:
        """The report for a program."""
        unread = {"unread": dict(self.unread)} if self.unread else {}
        return unread | {
            "directory": str(self.directory),
            "files": self.files,
            "served": dict(self.served),
            "unpublished": self.unpublished,
            "errors": self.errors,
            "warnings": len(self.problems) - self.errors,
            "problems": [asdict(problem) for problem in self.problems],
        }


def inspect(directory: Path, config: KnowledgeConfig, scrub: ContentScrub | None = None) -> Report:
    """Read every note of a directory as the portal would; blocks.

    Args:
        directory: the directory.
        config: the plugin's section; where it names the directory as a source, the source's
            own settings count.
        scrub: takes secrets out, as the portal's settings say; by default all that are found.

    Raises:
        SourceMissing: the directory cannot be listed.
    """
    settings, scrub = _settings(directory, config), scrub or ContentScrub("knowledge")
    scrub = replace(scrub, enabled=scrub.applies(settings.name or settings.key))
    source = DirectorySource(
        settings.model_copy(update={"name": None}), config.types, config.max_note, scrub
    )
    scan = source.scan()
    plan = Planner(Manifest(), [(source, scan)], "", "").plan()
    puts = plan.puts.values()
    told = summed(
        sorted([*plan.problems, *_unfollowed(puts, settings), *_yet_to_come(puts, settings)])
    )
    problems = [
        Problem(str(directory / one.path), one.line, one.reason, one.severity) for one in told
    ]
    served = Counter(str(put.document.content_type) for put in plan.puts.values())
    unpublished = sum(record.is_unpublished for record in plan.files.values())
    unread = other_markup(directory)
    return Report(directory, len(plan.files), served, unpublished, problems, unread)


def _unfollowed(puts: Collection[Put], settings: SourceConfig) -> Iterator[Problem]:
    """What notes say of others that are not there, or not clear, such as what they supersede."""
    store = Store(cast(Objects, None), Unruled())  # the catalogue alone is asked
    entries = [put.document.entry() for put in puts]
    store.show(entries)
    targets = Targets(store, Names(store), Tier.MEMBERS)
    for put, entry in zip(puts, entries, strict=True):
        for said_in, name, several in unfollowed(entry, targets):
            reason = f"{said_in}: {_SEVERAL if several else _NONE}".format(name=repr(name))
            line = _line(put.raw, _written(said_in, settings))
            yield Problem(entry.path, line, reason, "warning")


def _yet_to_come(puts: Iterable[Put], settings: SourceConfig) -> Iterator[Problem]:
    """The notes whose date is a later day than today, in any zone."""
    latest = datetime.now(UTC) + timedelta(days=1)
    for put in puts:
        if put.document.metadata.date > latest:
            line = _line(put.raw, _written("date", settings))
            yield Problem(put.document.path, line, _YET_TO_COME, "warning")


def _written(field: str, settings: SourceConfig) -> str:
    """The key under which the notes of a source have a field."""
    return settings.map.get(field, field).partition(".")[0]


def _line(raw: bytes, field: str) -> int:
    """Where a note has a field, in either spelling of its name."""
    lines = {key.replace("_", "").lower(): line for key, line in read(raw).lines.items()}
    return lines.get(field.replace("_", "").lower(), 1)


def _settings(directory: Path, config: KnowledgeConfig) -> SourceConfig:
    """The directory's own settings."""
    for source in config.sources:
        if source.directory and source.directory.resolve() == directory.resolve():
            return source.laid_out()
    return SourceConfig(directory=directory)


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a directory that no section names would be served as it is.

    Attributes:
        layout: what it looks like.
        source: the source to write into portal.yaml.
        report: what would come of it.
        left_out: how many notes lie in folders that it does not include.
        translations: the pattern of ``include`` that would serve translations too, or an empty
            text.
    """

    layout: str
    source: Mapping[str, Any]
    report: Report
    left_out: Mapping[str, int]
    translations: str

    def yaml(self) -> str:
        """The lines for portal.yaml."""
        import yaml

        section = {"plugins": {"knowledge": {"sources": [dict(self.source)]}}}
        return yaml.safe_dump(section, sort_keys=False, allow_unicode=True, width=100)

    def lines(self) -> list[str]:
        """The proposal for people."""
        would = f"{self.report.served.total()} of {count(self.report.files, 'note')}"
        return [
            "",
            f"This looks like {self.layout}. To have {would} served, add to portal.yaml:",
            "",
            *self.yaml().splitlines(),
            *self._told_of_errors(),
            *self._told_of_others(),
        ]

    def as_json(self) -> dict[str, Any]:
        """The proposal for a program."""
        said: dict[str, Any] = {"layout": self.layout, "source": dict(self.source)}
        if self.left_out:
            said["left_out"] = dict(self.left_out)
        if self.translations:
            said["translations"] = self.translations
        return said

    def _told_of_errors(self) -> Iterator[str]:
        """The notes that would not be served even so, and why."""
        reasons = [str(one) for one in self.report.problems if one.severity == "error"]
        if reasons:
            yield from ("", "Not served even so:", *reasons[:MAX_NAMED])
        if len(reasons) > MAX_NAMED:
            yield f"... and {len(reasons) - MAX_NAMED} more; with these lines in portal.yaml all."

    def _told_of_others(self) -> Iterator[str]:
        """What is said of the notes that it leaves out."""
        if not self.left_out:
            return
        named = ", ".join(f"{number} in {folder}/" for folder, number in self.left_out.items())
        yield ""
        notes = count(sum(self.left_out.values()), "note")
        yield f"This leaves out {notes} of other folders: {named}."
        yield "Put into include what is to be served too."
        if self.translations:
            yield f"For translations that is {self.translations}, with ids: path."


def propose(
    directory: Path,
    config: KnowledgeConfig,
    scrub: ContentScrub | None = None,
    root: Path | None = None,
) -> Proposal | None:
    """What would serve a directory as it is; None where the configuration says how. Blocks.

    Args:
        directory: the directory.
        config: the plugin's section.
        scrub: as for :func:`inspect`.
        root: where relative paths of portal.yaml start; without one the directory is named in full.
    """
    if _settings(directory, config).model_fields_set != {"directory"}:
        return None
    layout = recognise(directory)
    proposed = SourceConfig.model_validate({"directory": directory, **layout.settings})
    source = {"directory": _as_written(directory, root), **layout.settings}
    report = inspect(directory, config.model_copy(update={"sources": (proposed,)}), scrub)
    others = left_out(directory, layout)
    return Proposal(layout.name, source, report, others, layout.translations)


def _as_written(directory: Path, root: Path | None) -> str:
    """A directory as portal.yaml names it: relative to where its paths start, or in full."""
    full = directory.expanduser().resolve()
    if root is not None and full.is_relative_to(root.resolve()):
        return str(full.relative_to(root.resolve()))
    return str(full)


def mistakes(directory: Path, config: KnowledgeConfig) -> list[str]:
    """What looks wrong in the settings of the source that a directory is, in a line each.

    Args:
        directory: the directory.
        config: the plugin's section.
    """
    return [f"map.{name}: {reason}" for name, reason in misspelt(_settings(directory, config).map)]


def lines(report: Report) -> list[str]:
    """A report for people, the problems first."""
    lines = [
        str(one) if one.severity == "error" else f"{one.place}: {one.severity}: {one.reason}"
        for one in report.problems
    ]
    if lines:
        lines.append("")
    warnings = len(report.problems) - report.errors
    lines.append(
        f"{report.directory}: {count(report.files, 'note')}, "
        f"{report.served.total()} to be served, {report.unpublished} not published, "
        f"{count(report.errors, 'error')}, {count(warnings, 'warning')}."
    )
    if report.served:
        by_type = ", ".join(f"{count} {type}" for type, count in report.served.most_common())
        lines.append(f"To be served: {by_type}.")
    elif report.unpublished:
        lines.append(f"Nothing would be served: {none_published(report.files)}.")
    elif report.files:
        lines.append("Nothing would be served, as the errors say.")
    if report.unread:
        named = ", ".join(f"{number} {ending}" for ending, number in report.unread.items())
        lines.append(f"Not read, as they are no Markdown: {named}. Pandoc converts such files.")
    return lines


def count(number: int, noun: str) -> str:
    """So many of something, in words: ``1 note``, ``2 notes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
