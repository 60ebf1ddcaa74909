"""People who write, share and take back, and what nobody else may learn of it.

Every text of an item carries a mark that stands nowhere else, and gets a new one with each edit.
What is private now, or deleted, must show none of its marks to anyone but its owner, whatever it
was before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.testing import TestPortal

OWNERS = ("alice", "bob")
_LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass
class Thing:
    """An item, as it should be.

    Attributes:
        kind: ``workflow``, ``skill``, ``prompt`` or ``folder``.
        marks: the words in its texts, the present one last.
        holders: of a mini-prompt, the workflows that it was written into.
        uses: of a workflow, the ids of cards and others' mini-prompts in it.
        prompts: of a workflow, the ids of its owner's mini-prompts in it.
    """

    kind: str
    owner: str
    id: str
    key: str
    marks: list[str]
    public: bool = False
    version: int = 1
    deleted: bool = False
    holders: list[Thing] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    @property
    def mark(self) -> str:
        return self.marks[-1]

    def hidden_from(self, who: str) -> bool:
        """Whether someone may learn nothing of it."""
        if who == self.owner:
            return False
        if self.kind == "prompt":
            return all(
                each.hidden_from(who) or self.id not in each.prompts for each in self.holders
            )
        return self.deleted or not self.public


class World:
    """A portal's people and their items.

    Args:
        portal: where they are written.
    """

    def __init__(self, portal: TestPortal) -> None:
        self.portal = portal
        self.things: list[Thing] = []
        self.runs: list[str] = []
        self.leaks: list[str] = []
        self._marks = 0

    def of(self, *kinds: str, owner: str | None = None) -> list[Thing]:
        """The items of some kinds that are not deleted."""
        return [
            each
            for each in self.things
            if each.kind in kinds and not each.deleted and owner in (None, each.owner)
        ]

    def new_mark(self) -> str:
        """A word of one token that stands nowhere else, with capitals that no key has."""
        self._marks += 1
        digest = hashlib.sha256(str(self._marks).encode()).digest()
        return "ZQ" + "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:12])

    # What people do.

    async def add_skill(self, owner: str, public: bool) -> None:
        """Write a card with a file."""
        mark = self.new_mark()
        given = {**texts(mark), "content": f"{mark} content", "tags": [mark]}
        files = [{"name": f"{mark}.md", "text": f"{mark} file"}]
        made = await self.call(
            owner, "add_skill", **given, visibility=word(public), attachments=files
        )
        if made is not None:
            self._take("skill", owner, made, mark, public)

    async def add_workflow(
        self, owner: str, public: bool, uses: Sequence[Thing], folder: Thing | None
    ) -> None:
        """Write a workflow with a mini-prompt of its own and items that are there."""
        mark, prompt = self.new_mark(), self.new_mark()
        more: dict[str, Any] = {}
        if folder is not None and folder.owner == owner:
            more["folder_id"] = folder.id
        made = await self.call(
            owner,
            "add_workflow",
            **texts(mark),
            tags=[mark],
            visibility=word(public),
            stages=[stage_of(mark, prompt, uses)],
            **more,
        )
        if made is not None:
            self._take_workflow(owner, made, (mark, prompt), public, uses)

    async def add_folder(self, owner: str, public: bool, inside: Thing | None) -> None:
        """Make a folder."""
        mark = self.new_mark()
        parent = {"parent": inside.id} if inside is not None else {}
        made = await self.call(
            owner, "create_folder", **texts(mark), visibility=word(public), **parent
        )
        if made is not None:
            self._take("folder", owner, made, mark, public)

    async def put(self, folder: Thing, item: Thing) -> None:
        """Put an item into a folder."""
        made = await self.call(
            folder.owner,
            "edit_folder",
            folder_key=folder.id,
            version=folder.version,
            add=[{"id": item.id}],
        )
        if made is not None:
            folder.version = made["version"]

    async def show(self, thing: Thing, public: bool) -> None:
        """Publish something, or take it back."""
        if await self._edit(thing, visibility=word(public)):
            thing.public = public

    async def rewrite(self, thing: Thing) -> None:
        """Give something other texts; a workflow gets another mini-prompt of its owner's too."""
        mark, prompt = self.new_mark(), self.new_mark()
        more: dict[str, Any] = texts(mark)
        if thing.kind == "skill":
            more["content"] = f"{mark} content"
        if thing.kind == "workflow":
            read = await self.call(thing.owner, "get_workflow", workflow_id=thing.id)
            more["stages"] = [stage_of(mark, prompt, ())]
            more["remove_stages"] = [each["id"] for each in (read or {"stages": ()})["stages"]]
        made = await self._edit(thing, **more)
        if made:
            thing.marks.append(mark)
            if thing.kind == "workflow":
                thing.uses, thing.prompts = [], []
                self._take_prompt(thing, made, prompt)

    async def delete(self, thing: Thing) -> None:
        """Delete something."""
        if await self._edit(thing, is_active=False):
            thing.deleted = True

    async def keep(self, who: str, thing: Thing) -> None:
        """Keep something in one's library."""
        await self.call(who, "add_to_library", id=thing.id)

    async def run(self, who: str, workflow: Thing) -> None:
        """Begin a run, and take a step."""
        begun = await self.call(who, "select_workflow", workflow_id=workflow.id, start_run=True)
        if begun is not None and begun["run"] is not None:
            self.runs.append(begun["run"]["runId"])
            await self.call(who, "get_next_step", run_id=begun["run"]["runId"])

    async def _edit(self, thing: Thing, **changes: Any) -> dict[str, Any] | None:
        tool, named = EDITS[thing.kind]
        await self._reread(thing)
        made = await self.call(
            thing.owner, tool, **{named: thing.id}, version=thing.version, **changes
        )
        await self._reread(thing)
        return made

    async def _reread(self, thing: Thing) -> None:
        """Its version now, which others' changes may have moved."""
        tool, named = READS[thing.kind]
        found = await self.call(thing.owner, tool, **{named: thing.id})
        if found is not None:
            thing.version = (found["folder"] if thing.kind == "folder" else found)["version"]

    # What is remembered of it.

    def _take(self, kind: str, owner: str, made: dict[str, Any], mark: str, public: bool) -> Thing:
        thing = Thing(kind, owner, made["id"], made["key"], [mark], public, made["version"])
        self.things.append(thing)
        return thing

    def _take_workflow(
        self,
        owner: str,
        made: dict[str, Any],
        marks: tuple[str, str],
        public: bool,
        uses: Sequence[Thing],
    ) -> None:
        workflow = self._take("workflow", owner, made, marks[0], public)
        workflow.uses = [each.id for each in uses]
        self._take_prompt(workflow, made, marks[1])
        for each in uses:
            if each.kind == "prompt" and each.owner == owner:
                workflow.prompts.append(each.id)
                each.holders.append(workflow)

    def _take_prompt(self, workflow: Thing, made: dict[str, Any], mark: str) -> None:
        found = next(each for each in made["stages"][0]["items"] if each["name"] == mark)
        key = mark.lower()
        prompt = Thing("prompt", workflow.owner, found["id"], key, [mark], holders=[workflow])
        workflow.prompts.append(prompt.id)
        self.things.append(prompt)

    # What is looked for.

    async def call(self, who: str, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Call a tool and look for leaks in its raw answer.

        Returns:
            What it answered, or None where it refused.
        """
        result = await self.portal.mcp(who).call(tool, arguments)
        self.look(who, f"{tool} {arguments}", result)
        return None if result.get("isError") else result["structuredContent"]

    def look(self, who: str, asked: str, answer: Any) -> None:
        """Note each mark in an answer that its reader may not see.

        Keys, tags and file names have the marks in lower case: that counts as well, unless it is
        what the reader typed.
        """
        told = str(answer)
        for thing in self.things:
            if thing.hidden_from(who):
                for mark in thing.marks:
                    typed = mark.lower() in asked.lower()
                    if mark in told or (not typed and mark.lower() in told.lower()):
                        self.leaks.append(f"{who} learned of {thing.owner}'s {thing.kind}: {asked}")


EDITS = {
    "workflow": ("edit_workflow", "workflow_id"),
    "skill": ("edit_skill", "skill_id"),
    "folder": ("edit_folder", "folder_key"),
}
READS = {
    "workflow": ("get_workflow", "workflow_id"),
    "skill": ("get_selected_skill", "skill_id"),
    "folder": ("get_by_folder", "folder_key"),
}


def texts(mark: str) -> dict[str, Any]:
    """A name and a description with a mark."""
    return {"name": mark, "description": f"{mark} description"}


def word(public: bool) -> str:
    """The visibility."""
    return "PUBLIC" if public else "PRIVATE"


def stage_of(mark: str, prompt: str, uses: Sequence[Thing]) -> dict[str, Any]:
    """A stage with a new mini-prompt, cards, and mini-prompts that are there."""
    prompts = [{**texts(prompt), "content": f"{prompt} content"}]
    prompts += [{"prompt_id": each.id} for each in uses if each.kind == "prompt"]
    return {
        **texts(mark),
        "prompts": prompts,
        "skills": [each.id for each in uses if each.kind == "skill"],
        "with_review": True,
        "item_order": [*(each.id for each in uses), prompt],
    }


def visible_marks(things: Sequence[Thing], who: str) -> Iterator[Thing]:
    """What someone should be able to read."""
    return (each for each in things if not each.deleted and not each.hidden_from(who))
