"""Whatever is sent to the API: no answer is a fault of ours, and each is as its document says.

Requests are made from the document by schemathesis: its examples, the boundaries of every schema,
wrong types, missing and surplus fields, wrong content types and methods, missing credentials; then
whatever else chance finds, and operations one after the other. Streams are left soon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import pytest
import schemathesis
from schemathesis import BaseSchema
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.engine import events, from_schema
from schemathesis.python.asgi import HOST, shutdown_lifespans
from starlette.types import Receive, Scope, Send

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from tests.examples import times

DOCUMENT = f"{PREFIXES[0]}/openapi.json"
EXAMPLES = times(thorough=25, ordinary=8)
"""Requests that chance makes for an operation, beside those of the document's boundaries."""
LEAST = 10
"""Requests of one operation; with fewer, it was not tried."""
CHECKS = {
    # A request that fits may break a rule between its fields, which no schema says.
    "positive_data_acceptance": {"enabled": False},
    # A deletion that waits for approval leaves its entry where it is.
    "use_after_free": {"enabled": False},
}
# A batch takes an entry that is none, and tells what is wrong with it in its result.
BATCH = {
    "include-path": f"{PREFIXES[0]}/batch",
    "checks": {"negative_data_rejection": {"enabled": False}},
}
MOST_IN_A_BATCH = 20
"""Entries of the largest batch that is sent: the rest would wait for thousands."""
ANSWER_S = 60
"""Seconds that an answer may take on a busy machine."""
PATIENCE_S = 0.2
# A stream ends when its client leaves: after this many seconds.
STREAM = {
    "include-path": f"{PREFIXES[0]}/stream",
    "request-timeout": PATIENCE_S,
    # 426 is for format=websocket, whatever else is wrong.
    "checks": {"negative_data_rejection": {"expected-statuses": [400, 401, 403, 404, 405, 426]}},
}
# What needs a model, which this portal has not, is refused with 422.
ACCEPTED = {"expected-statuses": ["2xx", 401, 403, 404, 409, 422]}


class Served:
    """The portal as an ASGI application that opens in the loop which serves it.

    Args:
        config: its ``portal.yaml``.
    """

    portal: TestPortal

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self.portal.app(scope, receive, send)
            return
        await receive()
        async with open_test_portal(plugin, config=self._config) as self.portal:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    def document(self, config: Mapping[str, Any] | None = None) -> BaseSchema:
        """The API's document, with how to test by it."""
        read = SchemathesisConfig.from_dict(dict(config or {}))
        document = schemathesis.openapi.from_asgi(DOCUMENT, self, config=read)
        batch = document.raw_schema["paths"][f"{PREFIXES[0]}/batch"]["post"]["requestBody"]
        sent = batch["content"]["application/json"]["schema"]["properties"]
        sent["entries"]["maxItems"] = MOST_IN_A_BATCH
        return document

    @property
    def token(self) -> str:
        """What a member sends as ``Authorization``."""
        return self.portal.http("members").headers["authorization"]


@pytest.fixture
def served() -> Iterator[Served]:
    """The portal, without limits."""
    named = {"public_url": f"http://{HOST}"}
    paths = Served(named).document().raw_schema["paths"].values()
    shutdown_lifespans()
    operations = [each for path in paths for each in path.values() if "x-rate-limit" in each]
    off = {each["x-rate-limit"]["operation"]: "none" for each in operations}
    yield Served({**named, "limits": {"operations": off}})
    shutdown_lifespans()


@pytest.mark.heavy
@pytest.mark.timeout(900)  # where coverage is measured; a minute where it is not
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
def test_every_answer_is_as_the_document_says(served: Served) -> None:
    served.document()  # which opens the portal, and so makes the token
    config = {
        "seed": 1,
        "request-timeout": ANSWER_S,
        "continue-on-failure": True,
        "headers": {"Authorization": served.token},
        "generation": {"deterministic": True, "max-examples": EXAMPLES, "allow-x00": False},
        "checks": CHECKS,
        "operations": [BATCH, STREAM],
        "phases": {"coverage": {"checks": {"positive_data_acceptance": ACCEPTED}}},
    }
    document, wrong, sent = served.document(config), set[str](), Counter[str]()
    for event in from_schema(document).execute():
        if isinstance(event, events.NonFatalError | events.FatalError) and not is_left(event):
            wrong.add(str(event))
        if isinstance(event, events.ScenarioFinished):
            sent[event.recorder.label] += len(event.recorder.interactions)
            wrong |= set(failures(event))
    assert not wrong, "\n\n".join(sorted(wrong))
    found = list(document.get_all_operations())
    operations = [each.ok().label for each in found if isinstance(each, Ok)]
    assert len(operations) == len(found)
    assert operations
    assert all(sent[each] >= LEAST for each in operations), sent


def is_left(event: events.NonFatalError | events.FatalError) -> bool:
    """Whether a stream was left before its first byte, as on a machine that is busy."""
    left = f"(read timeout={PATIENCE_S})"
    return isinstance(event, events.NonFatalError) and left in str(event.value)


def failures(event: events.ScenarioFinished) -> Iterator[str]:
    """What is wrong with the answers of a scenario, each with a request that shows it."""
    for check in chain.from_iterable(event.recorder.checks.values()):
        if check.failure_info is not None:
            failure, shown = check.failure_info.failure, check.failure_info.code_sample
            yield f"{event.recorder.label}: {check.name}: {failure}\n{shown}"
