"""Replicas that ask a model without end, forked from a process that has imported all it takes.

``python -m tests.gateway.services.models.replicas ADDRESS DATA_DIR URL`` forks a replica for each
line that it reads, and writes its process id; whoever started it ends them with ``kill -9``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import genai_prices  # noqa: F401  (imported before the fork)
import pydantic_ai.models.openai  # noqa: F401

from gateway.config.language_models import LanguageModels
from gateway.contract import ModelFailed
from gateway.services.database.service import open_database
from gateway.services.models import engine, table  # noqa: F401
from gateway.services.models.service import ModelService
from tests.gateway.services.models.conftest import Verdict, config

AT_ONCE = 4
"""Calls at a time of one replica."""


async def ask(address: str, data_dir: Path, section: LanguageModels) -> None:
    """Ask until somebody ends the process."""
    service = ModelService(section, open_database(address, data_dir).for_owner("gateway"))
    models = service.for_owner("notes")

    async def without_end() -> None:
        while True:
            try:
                await models.generate(Verdict, "?", "simple", caller=None, operation="judge")
            except ModelFailed:
                await asyncio.sleep(0.01)

    await asyncio.gather(*(without_end() for _ in range(AT_ONCE)))


def main(address: str, data_dir: str, url: str) -> None:
    """Fork a replica for each line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that the dead are gone at once
    section = config(url, provider={"concurrency": AT_ONCE})
    for _ in sys.stdin:
        pid = os.fork()
        if not pid:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the log's lines are no process ids
            try:
                asyncio.run(ask(address, Path(data_dir), section))
            finally:
                os._exit(1)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
