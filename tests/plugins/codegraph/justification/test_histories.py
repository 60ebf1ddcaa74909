"""Whatever was indexed before, what is said in the end is what a fresh index says."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.plugins.codegraph.justification.shops import SHOP, justified
from tests.plugins.codegraph.justification.test_justifier import said
from tests.plugins.codegraph.portal import Files, world

EXTRA = {
    "shop/refunds/routes.py": b"@bp.post('/refunds')\ndef refund():\n    return slugify('a')\n",
    "shop/orders/store.py": b"def place_order(name):\n    return name\n",
    "shop/mail.py": b"import smtplib\n\n\ndef send(text):\n    smtplib.SMTP()\n",
}


def tree(seed: int) -> Files:
    """Some files of the shop, and some others."""
    chosen = random.Random(seed)
    every = {**SHOP, **{path: text for path, text in EXTRA.items() if chosen.random() < 0.5}}
    return {path: text for path, text in every.items() if chosen.random() < 0.8} or SHOP


@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck))
@given(seeds=st.lists(st.integers(0, 99), min_size=2, max_size=4))
def test_an_index_says_the_same_whatever_was_there_before(
    codegraph_file: Path, seeds: list[int]
) -> None:
    async def play(trees: list[Files]) -> object:
        with TemporaryDirectory() as directory:
            async with world(Path(directory), None, codegraph_file) as made:
                for files in trees:
                    owner = await made.index("shop", files)
                    await justified(made, owner)
                return await said(made, owner)

    trees = [tree(seed) for seed in seeds]
    assert asyncio.run(play(trees)) == asyncio.run(play(trees[-1:]))
