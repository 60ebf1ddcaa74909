"""Follows every chain on which a rule stands, and only these."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from auth.chain.follower import Follower, FollowerStore, Following
from auth.chain.logs import Watch, chain_of, tags
from auth.chain.rpc import Rpc
from auth.facts import Question
from auth.hats import parse
from auth.rules import AccessRules
from auth.rules.hat import Hat
from auth.rules.token import Token

CLOSING = 5.0
"""Seconds that a follower has to hand on its place when the portal stops."""


class Followers:
    """A follower for each chain that a rule names.

    Args:
        rpcs: the chains that can be read, by id.
        hats: the chain and the address of the Hats contract.
        store: where followers keep their places.
        forget: makes all replicas forget what carries these tags.
        every: seconds between two looks, or None to follow nothing.
        by_module: whether a module decides the answer, of which no log tells.
        failed: told of a look that failed, and of which chain.
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
        """Begin to follow what these rules name."""
        self._begun = self._every is not None
        self.apply(rules)

    def apply(self, rules: AccessRules) -> None:
        """Follow what these rules name, from now on; chains that none names are left alone."""
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
    def states(self) -> Sequence[Following]:
        """How each chain is followed, by its id."""
        return [follower.state for _, (_, follower, _) in sorted(self._running.items())]

    def untold(self, question: Question) -> bool:
        """Whether nobody would tell that an answer changed, though its chain is to be followed."""
        running = self._running.get(chain_of(question, self._hats[0]) or 0)
        return running is not None and (not running[1].is_heard or self._by_module(question))

    def concerned(self, told: Sequence[str] | None) -> Callable[[Question], bool]:
        """Says which answers may have changed.

        Args:
            told: the tags of what changed, or None where anything may have.
        """
        changed = None if told is None else frozenset(told)

        def is_concerned(question: Question) -> bool:
            of_it = tags(question, self._hats[0])
            return bool(of_it) if changed is None else not changed.isdisjoint(of_it)

        return is_concerned

    async def look(self) -> None:
        """Look at every chain once, now."""
        for _, follower, _ in list(self._running.values()):
            while await follower.look():
                pass

    async def close(self) -> None:
        """Stop following; another process goes on at once."""
        self._begun = False
        self.apply(AccessRules())
        if self._ending:
            await asyncio.wait(self._ending, timeout=CLOSING)

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
    """What to follow, by the chain's id."""
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
