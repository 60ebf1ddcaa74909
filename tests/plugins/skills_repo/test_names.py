"""Names as people and their texts write them: marks in letters or apart, and addresses."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal
from unicodedata import normalize
from urllib.parse import quote

from tests.plugins.skills_repo.test_tools import BACKENDS, sources


@BACKENDS
async def test_names_are_one_however_their_marks_are_encoded(garden: Any, backend: str) -> None:
    forms: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    for kept in forms:
        apart = normalize(kept, "Größe")
        garden.skill(f"pdf-{kept}")
        garden.write(f"skills/pdf-{kept}/refs/{apart} 1.md", kept)
        garden.write(f"agents/{kept}-{apart}.md", kept)
        garden.write(f"docs/{kept}-{apart}/start.md", kept)
    async with garden.opened(*sources(garden, backend)) as portal:
        for kept, asked in product(forms, forms):
            name = normalize(asked, "Größe")
            # As texts write it in a link, too.
            for file in (f"refs/{name} 1.md", f"refs/{quote(name)}%201.md"):
                wanted = {"skill": f"pdf-{kept}", "file": file}
                found = (await portal.call("get_skill_file", wanted)).structured
                assert found["text"] == kept, (kept, asked, file)
            agent = await portal.call("get_agent", {"name": f"{kept}-{name}"})
            assert agent.structured["content"] == kept
            page = await portal.call("get_doc", {"path": [f"{kept}-{name}", "start"]})
            assert page.structured["content"] == kept
        wanted = {"skill": "pdf-NFC", "file": "..%2Fpdf-NFD%2FSKILL.md"}
        assert (await portal.call("get_skill_file", wanted)).is_error
