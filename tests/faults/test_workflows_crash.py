"""A portal killed while people write keeps whole what it has acknowledged, and nothing half."""

from __future__ import annotations

import base64
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from tests.examples import times
from tests.faults.conftest import Place, Portal
from tests.faults.playbook import Person, configure, stage, tokens
from tests.journeys.balancer import empty_database

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600), pytest.mark.one_database]

PEOPLE = ("ana", "ben", "cleo")
KILLS = times(thorough=8, ordinary=2)


@pytest.fixture(params=["sqlite", "postgresql"])
def environment(request: pytest.FixtureRequest, place: Place) -> Iterator[dict[str, str]]:
    """What a portal on each database is started with."""
    people = tokens(*PEOPLE) | {"PORCH_SIGNING_KEY": uuid.uuid4().hex}
    if request.param == "sqlite":
        configure(place)
        yield people
        return
    configure(place, "database: env:ADDRESS")
    with empty_database(request.getfixturevalue("postgres_url")) as address:
        yield people | {"ADDRESS": address}
        for portal in place.running:
            portal.process.kill()
            portal.process.wait()


class Writer:
    """Somebody who writes until the portal is gone.

    Attributes:
        flows: workflows by id: what was acknowledged last, and what was sent after that.
        cards: the bytes of cards' files, likewise.
        sent: the names of what was sent to be added and never acknowledged.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.flows: dict[str, list[tuple[int, str]]] = {}
        self.cards: dict[str, bytes] = {}
        self.sent: set[str] = set()
        self.count = 0

    def write(self, portal: Portal, begun: threading.Semaphore) -> None:
        """Add and edit, one thing after another."""
        person, chance = Person(self.name, portal), random.Random()
        try:
            while True:
                act = chance.random()
                if act < 0.4 or not self.flows:
                    self._add(person)
                elif act < 0.6:
                    self._add_card(person)
                else:
                    self._edit(person, chance.choice(list(self.flows)))
                begun.release()
        except httpx2.TransportError:
            pass

    def _words(self) -> str:
        self.count += 1
        return f"{self.name} {self.count}"

    def _add(self, person: Person) -> None:
        name = self._words()
        self.sent.add(name)
        made = person.call("add_workflow", name=name, description=name, stages=self._stages(name))
        self.sent.discard(name)
        self.flows[made["id"]] = [(1, name)]

    def _edit(self, person: Person, id: str) -> None:
        version, words = self.flows[id][-1][0], self._words()
        self.flows[id].append((version + 1, words))
        edit = {"workflow_id": id, "version": version, "description": words}
        answer = person.call("edit_workflow", **edit, stages=self._stages(words))
        assert answer["version"] == version + 1
        self.flows[id] = self.flows[id][-1:]

    def _add_card(self, person: Person) -> None:
        name = self._words()
        data = random.randbytes(random.choice((10, 30_000, 400_000)))
        self.sent.add(name)
        file = {"name": "data.bin", "base64": base64.b64encode(data).decode()}
        made = person.call("add_skill", name=name, content=name, attachments=[file])
        self.sent.discard(name)
        self.cards[made["id"]] = data

    def _stages(self, words: str) -> list[dict[str, Any]]:
        return [stage(words, "Then", "Last"), stage(f"{words} again", name="More")]

    def check(self, portal: Portal) -> None:
        """See that all is there that was acknowledged, and the rest wholly or not at all."""
        person = Person(self.name, portal)
        there = self._listed(person)
        assert self.flows.keys() <= there.keys()
        for id, name in there.items():
            if id not in self.flows:
                assert name in self.sent
                self.sent.discard(name)
                self.flows[id] = [(1, name)]
            self._check_flow(person, id, name)
        for id, data in self.cards.items():
            file = person.call("get_attachment", skill_id=id, name="data.bin")
            assert base64.b64decode(file["content"]) == data
        hits = person.call("get_skills", limit=50)["skills"]
        assert self.cards.keys() <= {each["id"] for each in hits}
        for card in hits:
            files = person.call("get_selected_skill", skill_id=card["id"])["attachments"]
            person.call("get_attachment", skill_id=card["id"], name=files[0]["name"])

    def _listed(self, person: Person) -> dict[str, str]:
        listed = person.listed("resources/list", "resources")
        return {each["uri"].rpartition("/")[2]: each["title"] for each in listed}

    def _check_flow(self, person: Person, id: str, name: str) -> None:
        read = person.call("get_workflow", workflow_id=id)
        state = (read["version"], read["description"])
        assert state in self.flows[id]
        self.flows[id] = [state]
        words = state[1]
        plan = person.call("select_workflow", workflow_id=id)["executionPlan"]["items"]
        assert [each["name"] for each in plan] == [words, "Then", "Last", f"{words} again"]
        step = person.call("get_next_step", workflow_id=id, step_index=3)
        assert step["content"] == f"Do {words} again."
        assert id in person.found(name)


def test_killed_again_and_again_all_that_was_acknowledged_is_there_whole(
    place: Place, environment: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    writers = [Writer(name) for name in PEOPLE]
    kills = 0
    while kills < KILLS or not all(each.flows and each.cards for each in writers):
        kills += 1
        portal = place.serve(**environment).ready()
        begun = threading.Semaphore(0)
        threads = [threading.Thread(target=each.write, args=(portal, begun)) for each in writers]
        for thread in threads:
            thread.start()
        for _ in range(random.randint(15, 40)):
            begun.acquire()
        time.sleep(random.random() / 50)  # anywhere in what is being written
        portal.kill()
        for thread in threads:
            thread.join()
        again = place.serve(**environment).ready()
        for writer in writers:
            writer.check(again)
        assert again.stop() == 0
        assert "Traceback" not in again.printed, again.printed
    record_property("kills", kills)
