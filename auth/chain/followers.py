"""Follows every chain that a rule reads, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from auth.chain.event_logs import Watch, chain_of, tags
from auth.chain.follower import ChainStatus, Follower, FollowerStore
from auth.chain.rpc import Rpc
from auth.facts import Question
from auth.hat_ids import parse
from auth.rules import AccessRules
from auth.rules.hat import Hat
from auth.rules.token import Token

CLOSE_TIMEOUT_S = 5.0
"""Seconds that a follower has to store its position when the portal stops."""


class Followers:
    """A follower for each chain that a rule names.

    Args:
        rpcs: the chains that can be read, by id.
        hats: the chain and the address of the Hats contract.
        store: stores how far chains were followed.
        forget: makes all replicas drop answers with these tags.
        every: seconds between two reads, or None to follow nothing.
        by_module: whether a hat's module decides the answer, whose changes are not logged.
        failed: called with a chain and the error of a read that failed.
    """

    def __init__(
        self,
        rpcs: Mapping[int, Rpc],
        hats: tuple[int, str],
        store: FollowerStore,
        forget: Callable[[Iterable[str]], Awaitable[None]],
        every: float | None,
        by_module: Callable[[Question], bool] = lambda question: False,
        failed: Callable[[int, Exception], None] = lambda chain, error: None,
    ) -> None:
        self._rpcs = rpcs
        self._hats = hats
        self._store = store
        self._forget = forget
        self._every = every
        self._by_module = by_module
        self._failed = failed
        self._running: dict[int, tuple[Watch, Follower, asyncio.Task[None]]] = {}
        self._begun = False
        self._ending: set[asyncio.Task[None]] = set()

    def begin(self, rules: AccessRules) -> None:
        """Begin to follow the chains of these rules."""
        self._begun = self._every is not None
        self.apply(rules)

    def apply(self, rules: AccessRules) -> None:
        """Follow the chains of these rules, and no others, from now on."""
        wanted = _watches(rules, self._hats) if self._begun else {}
        for chain, (watch, _, task) in list(self._running.items()):
            if wanted.get(chain) != watch:
                del self._running[chain]
                task.cancel()
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        for chain, watch in wanted.items():
            if chain in self._rpcs and chain not in self._running:
                follower = Follower(self._rpcs[chain], watch, self._store, self._forget)
                self._running[chain] = watch, follower, asyncio.create_task(self._follow(follower))

    @property
    def states(self) -> Sequence[ChainStatus]:
        """How each chain is followed, by its id."""
        return [follower.state for _, (_, follower, _) in sorted(self._running.items())]

    def unwatched(self, question: Question) -> bool:
        """Whether a followed chain's logs would not report a change of an answer just now."""
        running = self._running.get(chain_of(question, self._hats[0]) or 0)
        return running is not None and (not running[1].is_heard or self._by_module(question))

    def concerned(self, changed_tags: Sequence[str] | None) -> Callable[[Question], bool]:
        """A test for the questions whose answers may have changed.

        Args:
            changed_tags: the tags of what changed, or None if anything may have.
        """
        changed = None if changed_tags is None else frozenset(changed_tags)

        def is_concerned(question: Question) -> bool:
            of_it = tags(question, self._hats[0])
            return bool(of_it) if changed is None else not changed.isdisjoint(of_it)

        return is_concerned

    async def look(self) -> None:
        """Read every chain once, now."""
        for _, follower, _ in list(self._running.values()):
            while await follower.look():
                pass

    async def close(self) -> None:
        """Stop following; another process can take over at once."""
        self._begun = False
        self.apply(AccessRules())
        if self._ending:
            await asyncio.wait(self._ending, timeout=CLOSE_TIMEOUT_S)

    async def _follow(self, follower: Follower) -> None:
        try:
            while True:
                more = False
                try:
                    more = await follower.look()
                except Exception as error:
                    self._failed(follower.state.chain, error)
                await asyncio.sleep(0 if more else self._every or 0)
        finally:
            try:
                await follower.stop()
            except Exception as error:
                self._failed(follower.state.chain, error)


def _watches(rules: AccessRules, hats: tuple[int, str]) -> dict[int, Watch]:
    """What to follow on each chain, by its id."""
    of_hats: set[int] = set()
    tokens: dict[int, dict[str, str]] = {}
    for _, condition in rules.conditions():
        match condition:
            case Hat():
                of_hats.add(parse(condition.hat))
            case Token(token=held):
                tokens.setdefault(held.chain, {})[held.contract] = held.standard
    chain, contract = hats
    found = {each: Watch(each, tokens=held) for each, held in tokens.items()}
    if of_hats:
        found[chain] = Watch(chain, contract, frozenset(of_hats), tokens.get(chain, {}))
    return found
