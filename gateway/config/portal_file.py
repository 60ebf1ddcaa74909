"""``portal.yaml`` while the portal runs: read again whenever it is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from gateway.config.followed_file import problems_from
from gateway.config.portal import PORTAL_FILE, Portal, load_portal
from gateway.config.yaml_source import read_bytes_if_there
from gateway.errors import ConfigError, Problem
from gateway.observability.logs import get_logger

Take = Callable[[Portal], Awaitable[Sequence[Problem]]]
"""``await take(portal)``: puts in force what it can of a new file; what is wrong with the rest."""

_GONE = (
    "is gone; what was in force goes on. Put it back before the next start, which would take the "
    "defaults"
)

log = get_logger(__name__)


class PortalFile:
    """Follows the file that a portal was opened with.

    Args:
        portal: the configuration in force.

    Attributes:
        problems: what is wrong with the file as it stands now, or waits for a restart.
    """

    def __init__(self, portal: Portal) -> None:
        self._started = portal
        self._path = portal.directory / PORTAL_FILE
        self._file = f"{portal.directory.name}/{PORTAL_FILE}"
        self._raw = self._read()
        self._is_unread = False
        self.problems: tuple[Problem, ...] = ()

    async def watch(self, take: Take, interval: float = 1.0) -> None:
        """Follow the file until cancelled, as ``tiers.yaml`` is followed, whatever goes wrong.

        Args:
            take: given each good file that replaces another.
            interval: seconds between two looks.
        """
        while True:
            await asyncio.sleep(interval)
            try:
                problems = await self._look(take)
            except Exception as error:
                self._refuse(error)
            else:
                if problems is not None:
                    self._tell(problems)

    async def _look(self, take: Take) -> Sequence[Problem] | None:
        """What is wrong with a file that replaces another; None where it is the same still."""
        was_unread, self._is_unread = self._is_unread, True
        raw = await asyncio.to_thread(self._read)
        self._is_unread = False
        if raw == self._raw and not was_unread:
            return None
        self._raw = raw
        if raw is None:
            raise ConfigError([Problem(self._file, 0, "", _GONE)])
        portal = await asyncio.to_thread(self._load)
        return (*await take(portal), *self._waiting(portal))

    def _read(self) -> bytes | None:
        return read_bytes_if_there(self._path, self._file)

    def _load(self) -> Portal:
        return load_portal(self._started.directory, self._started.overrides)

    def _waiting(self, portal: Portal) -> Sequence[Problem]:
        """What of the file only a restart puts in force: all but the plugins' own settings."""
        before, now = self._started.config, portal.config
        return [
            portal.source.problem((name,), "has changed; restart the portal to put it in force")
            for name in type(now).model_fields
            if name != "plugins" and getattr(before, name) != getattr(now, name)
        ]

    def _refuse(self, error: Exception) -> None:
        problems = problems_from(error, self._file)
        if problems == self.problems:  # a file that cannot be read is looked at again and again
            return
        if not isinstance(error, ConfigError):
            log.error("portal_yaml_not_taken_in", file=self._file, exc_info=error)
        self._tell(problems)

    def _tell(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if problems:
            shown = [str(each) for each in problems]
            log.warning("portal_yaml_not_in_force", file=self._file, problems=shown)
        else:
            log.info("portal_yaml_reloaded", file=self._file)
