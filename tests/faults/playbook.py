"""People who use the playbook of portals in processes of their own."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from tests.faults.conftest import PATIENCE, Place, Portal, modern

CLOSED = "knowledge: {enabled: false}, skills_repo: {enabled: false}"
"""The other plugins, which would only take time."""


def configure(place: Place, services: str = "", *, starter: bool = False) -> None:
    """Let a place serve the playbook alone."""
    more = f", {services}" if services else ""
    brought = str(starter).lower()
    place.configure(
        f"services: {{embedding: none{more}}}\n"
        f"plugins: {{{CLOSED}, workflows: {{starter: {brought}}}}}\n"
    )
    (place.root / "config" / "tiers.yaml").write_text("items: {}\n")


def tokens(*names: str) -> dict[str, str]:
    """The environment in which each of these is somebody, and a member."""
    return {"PORCH_STATIC_TOKENS": ",".join(f"members:{token_of(name)}" for name in names)}


def token_of(name: str) -> str:
    """The token of somebody."""
    return f"token-of-{name}-in-the-fault-tests"


class Person:
    """Somebody with a client, which goes to one portal after another.

    Args:
        name: who, of those that ``tokens`` named; None is nobody.
        portal: where their client goes.
    """

    def __init__(self, name: str | None, portal: Portal) -> None:
        self._name = name
        self.portal = portal

    def send(self, method: str, **params: Any) -> httpx2.Response:
        """The answer to a request, whatever it is."""
        request = modern(method, **params)
        headers = {n: v for n, v in request["headers"].items() if n != "authorization"}
        if self._name is not None:
            headers["authorization"] = f"Bearer {token_of(self._name)}"
        url = f"{self.portal.url}/mcp"
        # Without certificates, whose reading would take longer than the answer.
        with httpx2.Client(verify=False, timeout=PATIENCE) as client:
            return client.post(url, headers=headers, json=request["json"])

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request, which must succeed."""
        answer = self.send(method, **params)
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = _message(answer)["result"]
        return result

    def attempt(self, tool: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
        """Whether a call was done, and what it gave or why not."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            said = result["content"][0]["text"]
            return False, {"said": said, **(result.get("structuredContent") or {})}
        return True, result["structuredContent"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a call gives, which must succeed."""
        done, answer = self.attempt(tool, **arguments)
        assert done, answer
        return answer

    def refused(self, tool: str, **arguments: Any) -> str:
        """Why a call is refused."""
        done, answer = self.attempt(tool, **arguments)
        assert not done, answer
        said: str = answer["said"]
        return said

    def listed(self, method: str, key: str) -> list[dict[str, Any]]:
        """All pages of a list."""
        page = self.ask(method)
        found: list[dict[str, Any]] = list(page[key])
        while cursor := page.get("nextCursor"):
            page = self.ask(method, cursor=cursor)
            found += page[key]
        return found

    def found(self, task: str) -> list[str]:
        """The ids of the workflows that a search finds."""
        hits = self.call("get_available_workflows", task=task, limit=50)["workflows"]
        return [each["id"] for each in hits]


def stage(*prompts: str, **more: Any) -> dict[str, Any]:
    """A stage whose mini-prompts have these names."""
    written = [{"name": each, "content": f"Do {each}."} for each in prompts]
    return {"name": "Work", "prompts": written, **more}


def _message(answer: httpx2.Response) -> dict[str, Any]:
    """The message of an answer, which is a stream where it took long enough for a ping."""
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = next(line for line in text.splitlines() if line.startswith("data:"))[5:]
    message: dict[str, Any] = json.loads(text)
    return message
