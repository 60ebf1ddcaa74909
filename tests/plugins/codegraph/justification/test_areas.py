"""Which feature an entity belongs to, and that features stay what they are."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.codegraph.justification.statement_store import StatementStore
from tests.examples import examples
from tests.plugins.codegraph.justification.shops import SHOP, justified
from tests.plugins.codegraph.justification.test_justifier import said
from tests.plugins.codegraph.portal import Files, world

ROUTES = b"""from flask import Blueprint
from market.models import Message, User

bp = Blueprint("main", __name__)


@bp.get("/users/<id>")
def user(id):
    return User.named(id)


@bp.get("/details/<id>")
def details(id):
    return User.named(id)


@bp.post("/send_message/<id>")
def send(id):
    return Message()
"""
MODELS = b"""from flask_sqlalchemy import SQLAlchemy

db = SQLAlchemy()


class User(db.Model):
    def named(id):
        return User()

    def follow(self):
        return self


class Message(db.Model):
    def shown(self):
        return self
"""
MARKET = {
    "market/routes.py": ROUTES,
    "market/models.py": MODELS,
    "market/migrations/0001_first.py": b"class Migration:\n    def forward(self):\n        pass\n",
    "market/static/js/badges.js": b"export function draw() {}\nexport function hide() {}\n",
}


@pytest.mark.parametrize(
    ("name", "feature"),
    [
        ("user", "users"),
        ("details", "users"),  # one function is no feature: it joins what it leads to
        ("send", "message"),  # a route that has a thing of the domain in it is about that
        ("Migration.forward", ""),  # a step from one schema to the next is no feature
        ("draw", "badges"),  # what every project has on the way to it is not its name
    ],
)
async def test_an_entity_belongs_to_what_it_is_about(
    tmp_path: Path, codegraph_file: Path, name: str, feature: str
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("market", MARKET)
        await justified(made, owner)
        assert (await said(made, owner))[name].feature == feature


def edited(files: Files, seed: int) -> Files:
    """A tree with a function more, which calls another one."""
    chosen = random.Random(seed)
    path = chosen.choice([each for each in files if each.endswith(".py") and "tests" not in each])
    called = chosen.choice(["place_order", "slugify", "user", "details", "nothing"])
    more = f"\n\ndef added_{seed}():\n    return {called}()\n".encode()
    return {**files, path: files[path] + more}


@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck))
@given(seeds=st.lists(st.integers(0, 99), min_size=1, max_size=3))
def test_a_feature_keeps_its_id_when_a_function_is_added(
    codegraph_file: Path, seeds: list[int]
) -> None:
    async def play() -> None:
        with TemporaryDirectory() as directory:
            async with world(Path(directory), None, codegraph_file) as made:
                files: Files = {**SHOP, **MARKET}
                store = StatementStore(made.host.database)
                before: set[str] = set()
                for seed in [-1, *seeds]:
                    files = files if seed < 0 else edited(files, seed)
                    owner = await made.index("shop", files)
                    await justified(made, owner)
                    view = await made.store.view(owner.org, owner.repo)
                    assert view is not None
                    found = await store.features(view)
                    assert before <= found.keys()
                    before = set(found)

    asyncio.run(play())
