"""What has vectors: everything once, what changed again, what is gone no more."""

from __future__ import annotations

import pytest

from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.owner import Owner
from tests.plugins.codegraph.portal import WordsModel, World

TREE = {
    "a.py": b'def sign(cookie):\n    """Sign a cookie."""\n    return hash(cookie)\n',
    "b.py": b"class Range:\n    def parse(self, header):\n        return header.split()\n",
    "notes.txt": b"nothing\n",
}


async def embed(portal: World, owner: Owner) -> int:
    return await portal.parts.embedder.embed(owner.org, owner.repo)


async def stored(portal: World, owner: Owner) -> int:
    assert portal.host.embedder is not None
    return await CodeVectors(portal.host, portal.host.embedder).count(owner.org, owner.repo)


async def test_every_function_and_class_is_embedded_once(portal: World, model: WordsModel) -> None:
    owner = await portal.index("shop", TREE)
    assert await embed(portal, owner) == 3
    assert await stored(portal, owner) == 3
    read = len(model.read)
    assert await embed(portal, owner) == 0
    assert len(model.read) == read


async def test_only_the_entities_whose_text_is_new_are_embedded_again(
    portal: World, model: WordsModel
) -> None:
    owner = await portal.index("shop", TREE)
    await embed(portal, owner)
    longer = TREE["a.py"] + b"\n\ndef verify(cookie):\n    return sign(cookie)\n"
    await portal.index("shop", {**TREE, "a.py": longer})
    model.read.clear()
    assert await embed(portal, owner) == 1
    assert [text.split(".")[0] for text in model.read] == [
        "verify",
        "def verify cookie return sign",
    ]


async def test_what_is_gone_has_no_vector_any_more(portal: World) -> None:
    owner = await portal.index("shop", TREE)
    await embed(portal, owner)
    await portal.index("shop", {"b.py": b"class Range:\n    pass\n"})
    await embed(portal, owner)
    assert await stored(portal, owner) == 1


async def test_who_is_killed_goes_on_where_it_was(portal: World, model: WordsModel) -> None:
    files = {f"m{n}.py": b"def f%d(x):\n    return x\n" % n for n in range(6)}
    owner = await portal.index("shop", files)

    class Killed(Exception):
        pass

    def killed(done: int, total: int, message: str) -> None:
        if done == 4:
            raise Killed

    with pytest.raises(Killed):
        await portal.parts.embedder.embed(owner.org, owner.repo, killed)
    model.read.clear()
    assert await embed(portal, owner) == 2
    assert (len(model.read), await stored(portal, owner)) == (4, 6)


async def test_another_model_embeds_everything_again(portal: World, model: WordsModel) -> None:
    owner = await portal.index("shop", TREE)
    await embed(portal, owner)
    model.model = "other words"
    assert await embed(portal, owner) == 3


async def test_the_vectors_of_one_repository_are_never_anothers(portal: World) -> None:
    one = await portal.index("one", TREE, org="guild")
    other = await portal.index("other", TREE)
    for owner in (one, other):
        await embed(portal, owner)
    await portal.parts.embedder.purge(one.org, one.repo)
    assert (await stored(portal, one), await stored(portal, other)) == (0, 3)
    answer = await portal.call("semantic_search", query="sign a cookie", repo="other")
    assert answer["data"][0]["name"] == "sign"
    empty = await portal.call("find_similar", name="sign", repo="one")
    assert empty["data"] == []
