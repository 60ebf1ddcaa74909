"""One client that takes turns with several credentials, so that nothing else differs.

``python -m benchmarks.credential_client`` reads what to do on standard input, as :func:`run`
takes it, and prints a :class:`Turns` for each kind. All calls go over one kept-alive
connection, and rounds are short, so that a neighbour on the machine disturbs all kinds alike.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from benchmarks.load import WARM_UP, Connection, Load, Sender
from benchmarks.processes import CLIENT_CORE, pin

ANONYMOUS = ""
"""The kind of a caller without a credential."""
ROUNDS = 100
CALLS = 25
"""Calls of each kind in a round."""
_BETWEEN = 10_000
"""Numbers that one sender has for its requests."""


@dataclass(frozen=True, slots=True)
class Turns:
    """What came of one kind of credential, in milliseconds.

    Attributes:
        first: the first call with each token.
        rounds: the median of each round of calls with the last token.
    """

    first: Sequence[float]
    rounds: Sequence[float]

    def added(self, to: Turns) -> list[float]:
        """What each round's call took more than another kind's in the same round."""
        return [ours - theirs for ours, theirs in zip(self.rounds, to.rounds, strict=True)]

    def first_added(self, to: Turns) -> float:
        """What a first call took more than another kind's, where it is known."""
        return median(self.first) - median(to.rounds)


def taken(port: int, tokens: Mapping[str, Sequence[str]], rounds: int = ROUNDS) -> dict[str, Turns]:
    """Let a client in a process of its own take turns.

    Args:
        port: where the portal listens on 127.0.0.1.
        tokens: tokens by kind of credential; the empty one is an anonymous caller's.
        rounds: how many.

    Raises:
        RuntimeError: an answer was wrong, or the portal went away.
    """
    # On standard input: what stands on a command line, everybody on the machine can read.
    asked = json.dumps({"port": port, "tokens": tokens, "turns": rounds})
    command = [sys.executable, "-m", "benchmarks.credential_client"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"turns at port {port}: {done.stderr.strip()[-2000:]}")
    return {kind: Turns(**found) for kind, found in json.loads(done.stdout).items()}


async def run(port: int, tokens: Mapping[str, Sequence[str]], turns: int) -> dict[str, Turns]:
    """Call with each token once, then take turns with the last of each kind."""
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
    senders = _senders(connection, port, tokens)
    await _timed(senders[ANONYMOUS][0], WARM_UP)
    first = {
        kind: [(await _timed(sender, 1))[0] for sender in theirs]
        for kind, theirs in senders.items()
    }
    rounds: dict[str, list[float]] = {kind: [] for kind in senders}
    for theirs in senders.values():
        await _timed(theirs[-1], WARM_UP)
    for _ in range(turns):
        for kind, theirs in senders.items():
            rounds[kind].append(median(await _timed(theirs[-1], CALLS)))
    connection.close()
    return {kind: Turns(first[kind], rounds[kind]) for kind in senders}


def _senders(
    connection: Connection, port: int, tokens: Mapping[str, Sequence[str]]
) -> dict[str, list[Sender]]:
    return {
        kind: [
            Sender(connection, Load(port, "modern", token=token), "", number * _BETWEEN)
            for number, token in enumerate(theirs)
        ]
        for kind, theirs in tokens.items()
    }


async def _timed(sender: Sender, calls: int) -> list[float]:
    """The milliseconds of so many calls."""
    await sender.run(most=calls)
    return [seconds * 1000 for seconds in sender.latencies]


def main() -> None:
    """Take the turns that standard input describes."""
    import uvloop

    pin(CLIENT_CORE)
    found = uvloop.run(run(**json.load(sys.stdin)))
    print(json.dumps({kind: asdict(turns) for kind, turns in found.items()}))


if __name__ == "__main__":
    main()
