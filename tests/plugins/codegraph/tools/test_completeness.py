"""The word "complete": an answer says it only where nothing else has the name."""

from __future__ import annotations

from pathlib import Path

from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from tests.plugins.codegraph.portal import world

TREE = {
    "lib.py": b"def passed(): ...\n\ndef called(): ...\n\ndef alone(): ...\n\nclass Made: ...\n"
    b"\ndef named(): ...\n",
    "use.py": b"from lib import Made, called, passed\n\nregister(passed)\n\n\ndef go(x: Made):\n"
    b"    called()\n\nrun('named')\n",
    "part.py": b"def broken(:\n    other()\n",
}


async def test_an_answer_is_complete_only_where_no_other_place_has_the_name(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("town", TREE)
        for tool in ("get_callers", "analyze_impact", "get_function", "find_references"):
            found = {}
            for name in ("passed", "called", "alone", "named"):
                answer = await portal.call(tool, name=name)
                found[name] = answer["meta"]["completeness"]
            assert found["alone"]["state"] == found["called"]["state"] == "complete"
            assert found["named"]["state"] == "incomplete"
            assert found["named"]["why"].startswith("Not known to be complete: ")
            assert found["named"]["namedAt"] == ["use.py:9"]
            assert found["named"]["namedSites"] == 1


async def test_callers_of_what_is_passed_are_not_known_but_its_references_are(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("town", TREE)
        callers = (await portal.call("get_callers", name="passed"))["meta"]["completeness"]
        assert (callers["state"], callers["passedSites"]) == ("incomplete", 1)
        for tool in ("find_references", "analyze_impact"):
            answer = await portal.call(tool, name="passed")
            assert answer["meta"]["completeness"]["state"] == "complete"
        made = await portal.call("find_references", name="Made")
        assert made["meta"]["completeness"]["state"] == "complete"
        assert [(each["by"], each["at"]) for each in made["data"]] == [
            ("imported", "use.py:1"),
            ("type", "use.py:6"),
        ]


async def test_a_file_that_was_read_in_part_counts_only_where_it_has_the_name(
    tmp_path: Path, codegraph_file: Path
) -> None:
    part = TREE["part.py"] + b"x = (alone\n"
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("town", {**TREE, "part.py": part})
        alone = (await portal.call("get_callers", name="alone"))["meta"]["completeness"]
        assert alone["unreadFiles"] == 1
        assert alone["namedAt"] == ["part.py:3"]
        called = (await portal.call("get_callers", name="called"))["meta"]["completeness"]
        assert called["state"] == "complete"


async def test_a_python_file_is_read_in_the_encoding_that_it_names(
    tmp_path: Path, codegraph_file: Path
) -> None:
    root = tmp_path / "old"
    root.mkdir()
    text = "# -*- coding: latin-1 -*-\ndef caf\xe9():\n    return '\xfc'\n"
    (root / "old.py").write_bytes(text.encode("latin-1"))
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(root)}]}}}
    async with open_test_portal(plugin, config=config) as portal:
        shown = (await portal.call("get_file", {"file": "old.py"})).structured
        assert shown["source"]["text"] == text
        found = (await portal.call("get_function", {"name": "caf\xe9"})).structured
        assert found["entity"]["line"] == 2
