"""The processes that listen on one port together, as one of them knows them.

Whoever is asked for figures, by a scrape or by `porch status`, asks the others over their local
sockets, so that no worker's are lost and none are mixed up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from gateway.observability.logs import get_logger

__all__ = ["ALONE", "OWN", "WorkerState", "Workers", "merged", "own_directory"]

OWN = "own"
"""The query parameter with which a worker asks another for its own figures alone."""
_ANSWER_SECONDS = 3.0
"""Seconds that another worker has to give its figures."""
_TOLD_SECONDS = 3600.0
"""Seconds for which health tells of a worker that has died and is back."""
_UP = "porch_worker_up"

log = get_logger(__name__)


class WorkerState(TypedDict):
    """What the supervisor says of a worker.

    ``process`` is its number at the system, 0 where there is none; ``restarts`` how often it has
    died since the start, ``ended`` how it did last and ``ended_at`` when, as a Unix time.
    """

    number: int
    process: int
    state: Literal["starting", "serving", "leaving", "dead"]
    restarts: int
    ended: str
    ended_at: float


def own_directory(data_dir: Path, number: int) -> Path:
    """Where a worker keeps what is its own, below the portal's data directory."""
    return data_dir / "workers" / str(number)


class Workers:
    """One worker's knowledge of all of them.

    Args:
        number: its own, from 1; 0 for a portal that is one process.
        socket_of: where another one listens for this user.

    Attributes:
        table: what the supervisor said last.
    """

    def __init__(self, number: int, socket_of: Callable[[int], Path]) -> None:
        self.number = number
        self._socket_of = socket_of
        self.table: Sequence[WorkerState] = ()

    def notices(self) -> Iterator[str]:
        """What an admin should know: who is dead, and who has been in the last hour."""
        for each in self.table:
            name, times = f"Worker {each['number']}", each["restarts"]
            if each["state"] == "dead":
                yield f"{name} is down ({each['ended']}) and is started again; others serve."
            elif times and time.time() - each["ended_at"] < _TOLD_SECONDS:
                at = time.strftime("%H:%M:%S UTC", time.gmtime(each["ended_at"]))
                often = "once" if times == 1 else f"{times} times"
                yield f"{name} has died {often}, last at {at} ({each['ended']}); it is back."

    async def others(self, path: str) -> dict[int, Any]:
        """What each other worker answers at a path: its text, or None where it does not."""
        numbers = [each["number"] for each in self.table if each["number"] != self.number]
        answers = await asyncio.gather(*(self._ask(number, path) for number in numbers))
        return dict(zip(numbers, answers, strict=True))

    async def _ask(self, number: int, path: str) -> str | None:
        import httpx2

        transport = httpx2.AsyncHTTPTransport(uds=str(self._socket_of(number)))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=_ANSWER_SECONDS
        ) as http:
            try:
                answer = await http.get(path, params={OWN: "1"})
            except httpx2.HTTPError as error:
                log.debug("worker_not_heard", worker_asked=number, kind=type(error).__name__)
                return None
        return answer.text if answer.is_success else None

    async def metrics(self, own: bytes) -> bytes:
        """Everybody's figures, each with the label ``worker``.

        Args:
            own: this worker's, in Prometheus' text format.
        """
        texts = {self.number: own.decode()} | await self.others("/metrics")
        return merged(texts).encode()


ALONE = Workers(0, lambda _: Path())
"""What a portal knows that is one process."""


def merged(texts: Mapping[int, str | None]) -> str:
    """Workers' figures in Prometheus' text format 0.0.4 as one text.

    Args:
        texts: each worker's by its number, None where there are none. Every sample gets the label
            ``worker``; a family's samples stand together, as the format asks.
    """
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for number, text in sorted(texts.items()):
        family = ""
        for line in (text or "").splitlines():
            if line.startswith("#"):
                _, word, family, *_ = line.split(" ", 3)
                head = heads.setdefault(family, [])
                if not any(each.startswith(f"# {word} ") for each in head):
                    head.append(line)
            elif line:
                samples.setdefault(family, []).append(_labelled(line, number))
    heads[_UP] = [f"# HELP {_UP} 1 for a worker whose figures are here.", f"# TYPE {_UP} gauge"]
    samples[_UP] = [
        f'{_UP}{{worker="{number}"}} {float(text is not None)}'
        for number, text in sorted(texts.items())
    ]
    lines = (line for name, head in heads.items() for line in (*head, *samples.get(name, ())))
    return "\n".join(lines) + "\n"


def _labelled(sample: str, number: int) -> str:
    """A sample with one label more; names hold neither braces nor spaces, values of labels may."""
    end = min(at for at in (sample.find("{"), sample.find(" ")) if at >= 0)
    name, rest = sample[:end], sample[end:]
    if rest.startswith("{}"):
        rest = rest[2:]
    if rest.startswith("{"):
        return f'{name}{{worker="{number}",{rest[1:]}'
    return f'{name}{{worker="{number}"}}{rest}'
