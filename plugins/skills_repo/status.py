"""The state of the sources, for health: what is served, failed or being read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.contract import Health
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.entries import SourceIndex

_MAX_NAMED = 20


@dataclass(slots=True)
class Status:
    """The state of the sources.

    Attributes:
        sources: the configured sources, by name.
        indexes: what is served of them.
        errors: why those could not be read that could not.
        reading: how many files have been read of those that are being read.
        search_error: why search is not up to date, or an empty text.
        left_out: the skills that the extension does not serve, each with the reason.
    """

    sources: Mapping[str, Source]
    indexes: dict[str, SourceIndex] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    reading: dict[str, int] = field(default_factory=dict)
    search_error: str = ""
    left_out: list[str] = field(default_factory=list)

    def missing(self) -> set[str]:
        """The sources that have no index."""
        return {name for name in self.sources if name not in self.indexes}

    def health(self) -> Health:
        """``starting`` until every source was tried once; ``degraded`` where one failed."""
        behind = bool(self.errors or self.missing() or self.reading)
        return replace(self._health(), behind=behind)

    def _health(self) -> Health:
        facts = self._facts()
        if self.errors:
            served = bool(self.indexes)  # A source that holds nothing is served, too.
            said = " ".join(self._description(name) for name in self.errors)
            return Health("degraded" if served else "failed", said, facts)
        if waiting := [self._read_so_far(name) for name in self.sources if name in self.missing()]:
            return Health("starting", f"Reading {', '.join(waiting)} for the first time.", facts)
        if self.search_error:
            return Health("degraded", self.search_error, facts)
        if not self.sources:
            return Health("ok", "No source is configured.", facts)
        return Health("ok", self._noted(), facts)

    def _description(self, name: str) -> str:
        after = "Its last index is served." if name in self.indexes else "It has no index yet."
        return f"The source {name} could not be indexed: {self.errors[name].rstrip('.')}. {after}"

    def _read_so_far(self, name: str) -> str:
        count = self.reading.get(name, 0)
        return f"{name} ({count:,} files so far)" if count else name

    def _facts(self) -> dict[str, Any]:
        faults = [fault for index in self.indexes.values() for fault in index.faults]
        slips = [slip for index in self.indexes.values() for slip in index.slips]
        passed_over = [
            f"{name}/{each}" for name, index in self.indexes.items() for each in index.passed_over
        ]
        indexes = self.indexes.values()
        return {
            "skills": sum(len(index.skills) for index in indexes),
            "agents": sum(len(index.agents) for index in indexes),
            "docs": sum(len(index.docs) for index in indexes),
            "sources": {name: self._source_facts(name) for name in self.sources},
            "unreadable": faults[:_MAX_NAMED],
            "readLineByLine": slips[:_MAX_NAMED],
            "readLineByLineCount": len(slips),
            "passedOver": passed_over[:_MAX_NAMED],
            "leftOutOfSkills": self.left_out[:_MAX_NAMED],
            "leftOutOfSkillsCount": len(self.left_out),
        }

    def _source_facts(self, name: str) -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": self.sources[name].kind, "error": self.errors.get(name)}
        if (index := self.indexes.get(name)) is None:
            return facts
        built = f"{index.built:%Y-%m-%d %H:%M:%S} UTC" if index.built else None
        return facts | {"entries": len(index), "commit": index.commit, "built": built}

    def _noted(self) -> str:
        count = len(self.left_out)
        if not count:
            return ""
        first = self.left_out[0]
        more = f" (and {count - 1} more)" if count > 1 else ""
        return (
            f"{count} skill{'s' * (count != 1)} broke the rules of the Skills extension and can "
            f"be had by get_skill alone: {first}{more}. `porch skills check` says what to mend."
        )
