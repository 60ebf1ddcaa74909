"""Proof-of-personhood scores of wallets, from an API like Human Passport's."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from auth.document_fetcher import system_tls
from auth.facts import Question, SourceUnavailable

if TYPE_CHECKING:
    import httpx2

BATCH_TIMEOUT_S = 4.0
"""How long a score may take."""
MAX_CONCURRENT_REQUESTS = 4


class PassportSource:
    """Scores of wallets, as facts.

    Args:
        url: the endpoint; ``/v2/stamps/SCORER/score/ADDRESS`` is asked below it.
        scorer: the scorer's id.
        key: the API key.
        seconds: how long a batch may take.
    """

    def __init__(
        self, url: str, scorer: str, key: str, *, seconds: float = BATCH_TIMEOUT_S
    ) -> None:
        self._url = f"{url}/v2/stamps/{quote(scorer, safe='')}/score/"
        self._headers = {"x-api-key": key, "accept": "application/json", "user-agent": "porch"}
        self._seconds = seconds
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, float]:
        """Answer ``("score", ADDRESS)``.

        Raises:
            SourceUnavailable: it answers none of them.
        """
        import httpx2

        client = httpx2.AsyncClient(
            headers=self._headers, verify=await system_tls(), timeout=self._seconds
        )
        async with client:
            asked = [self._score(client, str(question.key[-1])) for question in questions]
            found = await asyncio.gather(*asked)
        scores = {
            question: value
            for question, value in zip(questions, found, strict=True)
            if isinstance(value, float)
        }
        if questions and not scores:
            raise SourceUnavailable(next(each for each in found if isinstance(each, str)))
        return scores

    async def _score(self, client: httpx2.AsyncClient, address: str) -> float | str:
        """The score of an address, or why it is unknown."""
        import httpx2

        try:
            async with asyncio.timeout(self._seconds), self._turns:
                response = await client.get(self._url + quote(address, safe=""))
        except (httpx2.HTTPError, OSError):
            return "The passport score's endpoint does not answer."
        if response.status_code in {401, 403}:
            return "The passport score's endpoint refuses the key. An admin must renew it."
        if response.status_code != 200:
            return f"The passport score's endpoint answers with HTTP {response.status_code}."
        return _read(response)


def _read(response: httpx2.Response) -> float | str:
    try:
        content: Any = response.json()
        score = float(content["score"])
    except (ValueError, TypeError, KeyError):
        return "The passport score's endpoint answers without a score."
    # What is no number grants nothing, however large it says it is.
    return score if math.isfinite(score) else "The passport score is no number."
