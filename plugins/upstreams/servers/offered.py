"""What one server offers, as it said last: kept, and judged against its pins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from plugins.upstreams.catalogue.entries import Catalogue, Entry, Kind, Malformed
from plugins.upstreams.catalogue.instructions import instructions_of
from plugins.upstreams.catalogue.pins import Verdict, judge
from plugins.upstreams.config import Server as ServerConfig
from plugins.upstreams.servers.reach import target_of
from plugins.upstreams.store.store import Kept, Store
from plugins.upstreams.wire import Connection

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

_NOTHING = Verdict((), ())


class Offered:
    """What a server of ``portal.yaml`` offers.

    Args:
        config: what is said of it there.
        store: keeps its catalogue and its pins.
        log: tells which tools are quarantined.

    Attributes:
        catalogue: what it offered last; None until it was first asked.
        verdict: which of its tools are served; another object where it is another verdict, as of
            the catalogue and of what it said.
        about: what it said of itself.
        fetched: when it was asked.
        era: ``modern`` or ``legacy``; nothing until it was first reached.
    """

    def __init__(self, config: ServerConfig, store: Store, log: FilteringBoundLogger) -> None:
        self.catalogue: Catalogue | None = None
        self.verdict = _NOTHING
        self.about: Mapping[str, Any] = {}
        self.fetched: datetime | None = None
        self.era = ""
        self._is_kept = True
        self._config = config
        self._store = store
        self._log = log

    def of(self, kind: Kind) -> tuple[Entry, ...]:
        """What there is of a kind; of tools, see ``verdict``."""
        return () if self.catalogue is None else self.catalogue.of(kind)

    @property
    def malformed(self) -> tuple[Malformed, ...]:
        """What is set aside, and why."""
        return () if self.catalogue is None else self.catalogue.malformed

    @property
    def cut(self) -> tuple[Kind, ...]:
        """The kinds of which it offers more than are taken."""
        return () if self.catalogue is None else self.catalogue.cut

    @property
    def skills(self) -> tuple[Entry, ...]:
        """The skills that are served."""
        wanted = self._config.skills
        is_served = self._config.trust != "review" if wanted is None else wanted
        return self.of("skill") if is_served else ()

    @property
    def instructions(self) -> tuple[str, str]:
        """What clients are told of it, and why its own words are not told; each may be empty."""
        wanted = self._config.instructions
        if isinstance(wanted, str):
            return wanted, ""
        if wanted is False or (wanted is None and self._config.trust == "review"):
            return "", ""
        return instructions_of(self._config.name, self.about.get("instructions"))

    async def recall(self, kept: Kept | None) -> None:
        """Offer what it offered last, without asking it; what another one did is not its."""
        if kept is None or kept.target != target_of(self._config):
            return
        self.catalogue, self.about = kept.catalogue, kept.about
        self.fetched, self.era = kept.fetched, kept.era
        await self.review()

    async def take(self, found: Catalogue, connection: Connection) -> bool:
        """Take what it was found to offer; :meth:`keep` it afterwards.

        Returns:
            Whether anything is not as it was, its tools' verdict included.
        """
        about, verdict = asdict(connection.server), await self._judged(found)
        self.era = connection.era
        if found != self.catalogue or about != self.about:
            self.catalogue, self.about, self.verdict = found, about, verdict
            self._is_kept = False
            return True
        return self._take_verdict(verdict)

    async def keep(self) -> None:
        """Have the database know what it offers, unless it does."""
        if self._is_kept or self.catalogue is None:
            return
        kept = Kept(target_of(self._config), self.era, self.about, self.catalogue)
        await self._store.keep(self._config.name, kept)
        self.fetched, self._is_kept = kept.fetched, True

    async def review(self) -> None:
        """Judge its tools again: an admin has decided about some, here or on another replica."""
        if self.catalogue is not None:
            self._take_verdict(await self._judged(self.catalogue))

    def _take_verdict(self, verdict: Verdict) -> bool:
        """Take a verdict; whether it is another one."""
        if is_other := verdict != self.verdict:
            self.verdict = verdict
        return is_other

    async def _judged(self, catalogue: Catalogue) -> Verdict:
        name, tools = self._config.name, self._config.tools
        offered = [each for each in catalogue.of("tool") if tools.takes(each["name"])]
        verdict = judge(offered, await self._store.pins(name), self._config.trust)
        if verdict.accepted:
            await self._store.decide(name, verdict.accepted, "accepted")
        known = {each.name for each in self.verdict.quarantined}
        for each in verdict.quarantined:
            if each.name not in known:
                self._log.warning("tool_quarantined", tool=each.name, reason=each.reason)
        return verdict
