"""Sliding windows in Redis or Valkey, which several replicas share.

Each key is a list of the moments that count, oldest first. One script looks at all rates and
counts, so that nothing comes between; its clock is the server's, which all replicas share.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from gateway.limits.sliding_window import Rate, Taken, Windows
from gateway.services.cache.redis import asked_plainly

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["RedisWindows"]

PREFIX = "gateway:windows"

_SCRIPT = """
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local wait, full = 0, 0
local left, tight = -1, 0
for i, key in ipairs(KEYS) do
  local limit, span = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local oldest = redis.call('LINDEX', key, 0)
  while oldest and tonumber(oldest) + span <= now do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  local used = redis.call('LLEN', key)
  if used >= limit then
    local due = tonumber(redis.call('LINDEX', key, used - limit)) + span - now
    if due > wait then wait, full = due, i end
  elseif ARGV[2 * #KEYS + 1 + i] == '1' and (left < 0 or limit - used - 1 < left) then
    left, tight = limit - used - 1, i
  end
end
if full > 0 then return {full, wait, 0} end
for i, key in ipairs(KEYS) do
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(tonumber(ARGV[2 * i + 1]) / 1000) + 1000)
end
return {tight, 0, left}
"""


class RedisWindows(Windows):
    """Counts on a server, exact over every process that uses it.

    Args:
        redis: gives the connection, which is made at first use.
        clock: seconds in place of the server's own clock; for tests.
        ask: asks the server, and says that it is away without a wait where that is known.
    """

    def __init__(
        self,
        redis: Callable[[], Redis],
        clock: Callable[[], float] | None = None,
        ask: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]] = asked_plainly,
    ) -> None:
        self._redis = redis
        self._ask = ask
        self._clock = clock
        self._script: Any = None

    async def take(self, key: str, rates: Sequence[Rate]) -> Taken:
        """As in the port."""
        keys = [f"{PREFIX}:{rate.name}:{rate.key or key}" for rate in rates]
        numbers: list[int | str] = ["" if self._clock is None else round(self._clock() * 1e6)]
        for rate in rates:
            numbers += [rate.limit, round(rate.seconds * 1e6)]
        numbers += [int(rate.shown) for rate in rates]
        script = self._script = self._script or self._redis().register_script(_SCRIPT)
        which, wait, left = await self._ask(lambda: script(keys=keys, args=numbers))
        return Taken(rates[which - 1], wait / 1e6, left)
