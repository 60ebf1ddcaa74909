"""What happened to this process of late, in sentences for its admins: a few of the log's lines."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.observability.redaction import redactor

__all__ = ["LATELY", "Lately"]

KEPT_EVENTS = 40
"""Events that are remembered; the oldest go first."""
_SENTENCES = {
    "server_away": "{server} stopped answering: {reason}",
    "server_back": "{server} answers again, after {seconds} s",
    "plugin_health": "The plugin {plugin} is {state}: {detail}",
    "plugin_opens_late": "The plugin {plugin} did not open within {seconds} s; it is waited for",
    "plugin_process_ended": "The process of the plugin {plugin} ended: {reason}",
    "plugin_process_hangs": "The process of the plugin {plugin} hung for {seconds} s and was ended",
    "replica_died": "The replica on {replica} died; others go on with its jobs",
    "jobs_of_a_dead_replica_given_back": "Jobs of a dead replica go on: {jobs}",
    "jobs_begin_again": "The jobs here began again: {reason}",
    "jobs_not_launched": "Jobs could not begin; tried again in {again_in_seconds} s",
    "loop_held": "{place} ({plugin}) held up everything for {seconds} s",
    "tiers_reloaded": "{file} was read again, and is in force",
    "plans_reloaded": "{file} was read again, and is in force",
    "portal_yaml_reloaded": "{file} was read again, and is in force",
    "portal_yaml_not_in_force": "{file} was saved, and is not in force: {problems}",
    "audit_not_written": "Audit records wait: {error}",
    "audit_recovered": "Audit records are written again",
    "audit_records_lost": "{count} audit records were lost: {problem}",
    "background_work_ended": "{work} ended with an error, which the log shows: {reason}",
    "draining": "The portal was told to stop",
}
"""How an admin reads the events that change what a portal can do, by their names in the log."""


@dataclass(slots=True)
class _Event:
    at: float
    said: str
    times: int = 1


class Lately:
    """Remembers the last events of the log that say what changed.

    Each is a step of the log's pipeline (:mod:`gateway.observability.logs`), ahead of the level
    that is shown: what is not printed may have happened all the same.
    """

    def __init__(self) -> None:
        self._events: deque[_Event] = deque(maxlen=KEPT_EVENTS)
        self._unwell: set[str] = set()

    def step(
        self, _logger: Any, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        """Take note of a line, and pass it on as it is."""
        sentence = _SENTENCES.get(event["event"])
        if sentence is not None and self._is_news(event):
            self._note(sentence.format_map(_Words(event)).strip(" :"))
        return event

    def told(self) -> list[dict[str, Any]]:
        """The events, the oldest first: ``at``, ``said`` and how many ``times`` in a row."""
        return [
            {
                "at": datetime.fromtimestamp(each.at, UTC).isoformat(timespec="seconds"),
                "said": redactor.text(each.said),
                "times": each.times,
            }
            for each in self._events
        ]

    def _is_news(self, event: Mapping[str, Any]) -> bool:
        """Whether it is more than a plugin that begins as it should."""
        if event["event"] != "plugin_health":
            return True
        plugin, is_well = event["plugin"], event["state"] in ("ok", "starting")
        was_unwell = plugin in self._unwell
        (self._unwell.discard if is_well else self._unwell.add)(plugin)
        return was_unwell or not is_well

    def _note(self, said: str) -> None:
        if self._events and self._events[-1].said == said:
            self._events[-1].times += 1
            self._events[-1].at = time.time()
        else:
            self._events.append(_Event(time.time(), said))


class _Words(dict[str, Any]):
    """An event's values as words."""

    def __getitem__(self, key: str) -> str:
        value = self.get(key, "")
        if isinstance(value, Sequence) and not isinstance(value, str):
            return ", ".join(map(str, value))
        return f"{value:g}" if isinstance(value, float) else str(value)


LATELY = Lately()
"""What happened to this process; the log, too, is the process's."""
