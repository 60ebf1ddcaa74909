"""What a person writes by hand is understood, and what cannot be is said with file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plugins.workflows import limits
from plugins.workflows.files import nodes
from plugins.workflows.files.importer import check_paths
from plugins.workflows.files.reader import ParsedFiles, read
from plugins.workflows.model import AutoPrompt, Complexity, TargetType, Visibility
from tests.plugins.workflows.files.desk import write

BY_HAND = """
    name: Look after the garden
    description: |
      Water it,
      weed it.
    author: Ann
    complexity: m
    visibility: private
    multi_agent_chat: yes
    tags: Garden, plants
    stages:
      - name: Look
        color: "#00ff00"
        review: on
        items:
          - prompt: walk-around
            extra: {minutes: 10, version: 1.10}
          - skill: weeds
      - name: Work
        multi_agent_chat: no
        order: [memory-board, pull-weeds]
        items:
          - prompt:
              name: 1.0
              content: |
                Do it.

                Again.
              description: no
          - prompt: {id: abcdefghij}
    extra:
      since: 2026-03-01
"""


async def problems(root: Path) -> list[str]:
    """What is wrong with a playbook, without the directory in front."""
    report = await check_paths([root])
    return [str(each).replace(f"{root}/", "") for each in report.problems]


def only(root: Path, text: str) -> ParsedFiles:
    write(root, "workflows/garden.yaml", text)
    written = read([root])
    assert written.problems == []
    return written


def test_a_workflow_is_read_with_every_key_a_person_would_guess(tmp_path: Path) -> None:
    workflow = only(tmp_path, BY_HAND).workflows["garden"]
    draft = workflow.draft
    assert (draft.key, draft.name) == ("garden", "Look after the garden")
    assert draft.description == "Water it,\nweed it.\n"
    assert (draft.complexity, draft.visibility) == (Complexity.M, Visibility.PRIVATE)
    assert (draft.include_multi_agent_chat, draft.tags) == (True, ("garden", "plants"))
    assert draft.extra == {"since": "2026-03-01"}
    assert workflow.author == "Ann"
    look, work = workflow.stages
    assert (look.draft.color, look.draft.with_review) == ("#00ff00", True)
    assert look.draft.include_multi_agent_chat is None
    assert [(step.type, step.key) for step in look.steps] == [
        (TargetType.MINI_PROMPT, "walk-around"),
        (TargetType.SKILL, "weeds"),
    ]
    assert look.steps[0].extra == {"minutes": 10, "version": "1.10"}
    assert work.draft.include_multi_agent_chat is False
    assert work.order == (("memory-board", 20), ("pull-weeds", 20))
    assert work.steps[1].by_id


def test_a_prompt_within_a_workflow_has_a_key_of_the_two_names(tmp_path: Path) -> None:
    workflow = only(tmp_path, BY_HAND).workflows["garden"]
    [prompt] = workflow.prompts
    assert (prompt.draft.key, prompt.draft.name) == ("garden-1-0", "1.0")
    assert (prompt.draft.content, prompt.draft.description) == ("Do it.\n\nAgain.\n", "no")
    assert (prompt.author, prompt.visibility) == ("Ann", Visibility.PRIVATE)
    assert workflow.stages[1].steps[0].key == "garden-1-0"


def test_a_file_says_public_unless_it_says_otherwise(tmp_path: Path) -> None:
    written = only(tmp_path, "name: x\n")
    assert written.workflows["garden"].draft.visibility is Visibility.PUBLIC


def test_prompts_and_cards_are_read_with_their_files(tmp_path: Path) -> None:
    write(tmp_path, "prompts/walk-around.md", "# Walk around\n\nLook left.\n")
    write(tmp_path, "prompts/memory-board.md", "---\nautomatic: memory-board\n---\nStop.")
    write(tmp_path, "skills/weeds.md", "---\nname: Weeds\ntags: [x]\nfiles: [b.csv]\n---\nPull.")
    write(tmp_path, "skills/weeds/a.md", "A")
    write(tmp_path, "skills/weeds/b.csv", "B")
    write(tmp_path, "skills/weeds/.DS_Store", "left here")
    written = read([tmp_path])
    assert written.problems == []
    walk, board = written.prompts["walk-around"].draft, written.prompts["memory-board"].draft
    assert (walk.name, walk.content) == ("Walk around", "# Walk around\n\nLook left.")
    assert (board.name, board.automatic) == ("Memory board", AutoPrompt.MEMORY_BOARD)
    weeds = written.skills["weeds"].draft
    assert (weeds.name, weeds.tags, weeds.content) == ("Weeds", ("x",), "Pull.")
    assert [(each.name, each.mime_type, each.data) for each in weeds.attachments] == [
        ("b.csv", "text/csv", b"B"),
        ("a.md", "text/markdown", b"A"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("name: x\ntitle: y\n", 2, "there is no field 'title'; did you mean name?"),
        ("name: x\ndescripton: y\n", 2, "did you mean description?"),
        ("name: x\nitem-order: []\n", 2, "there is no field 'item-order'; known here"),
        ("name: x\nstages:\n- name: a\n  with_review: yes\n", 4, "did you mean review?"),
        ("name: x\nstages:\n- name: a\n  steps: []\n", 4, "did you mean items?"),
        ("name: x\nstages:\n- name: a\n  items:\n  - promt: a\n", 5, "did you mean prompt?"),
        ("name: x\nstages:\n- name: a\n  items:\n  - a-key\n", 5, "must be `- prompt: KEY`"),
        ("name: x\nstages:\n- name: a\n  items:\n  - {prompt: a, skill: b}\n", 5, "one prompt or"),
        ("name: x\nstages:\n- name: a\n  items:\n  - prompt: {content: y}\n", 5, "name is missing"),
        ("name: x\nstages:\n- name: a\n  items:\n  - skill: {name: y}\n", 5, "file of its own"),
        ("name: x\nstages:\n- a\n", 3, "stage 1 must begin with `- name: ...`"),
        ("name: x\nstages: a\n", 2, "stages must be a list, not 'a'"),
        ("name: [x]\n", 1, "name: must be a text, not a list"),
        ("name: {}\n", 1, "name: must be a text"),
        ("name:\n", 1, "name is missing or empty"),
        ("name: ' '\n", 1, "name is missing or empty"),
        ("description: x\n", 1, "name is missing"),
        ("name: x\ncomplexity: huge\n", 2, "must be one of XS, S, M, L, XL, not 'huge'"),
        ("name: x\nvisibility: hidden\n", 2, "must be one of PUBLIC, PRIVATE"),
        ("name: x\nmulti_agent_chat: 2\n", 2, "must be true or false, not '2'"),
        ('name: "a\\u0007b"\n', 1, "control character U+0007"),
        ('name: "a\\nb"\n', 1, "one line"),
        (f"name: {'x' * 256}\n", 1, "256 characters; at most 255"),
        (f"name: x\ndescription: {'y' * 1_048_576}\n", 2, "1,048,576 characters"),
        (f"name: x\ntags: [{', '.join(map(str, range(10_000)))}]\n", 2, "10,000 tags are more"),
        (f"name: x\nextra: {{a: {'y' * 70_000}}}\n", 2, "has 70,0"),
        ("name: x\nextra: {unresolved: []}\n", 2, "is used for steps that are not there"),
        ("name: x\nextra: 1\n", 2, "extra must be made of"),
        ('name: x\nextra: {a: "\\u0000"}\n', 2, "control character U+0000"),
        ("name: x\nstages:\n- name: a\n  color: #fff\n", 4, "a bare # begins a comment"),
        ("name: x\nname: y\n", 2, "twice"),
        ("- a\n", 1, "made of `key: value` lines"),
        ("", 1, "made of `key: value` lines"),
        ("name: !!python/name:os.system x\n", 1, "the tag"),
        ("name: &a x\ndescription: *a\n", 1, "anchors"),
    ],
)
async def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows/a.yaml").write_text(text, "utf-8")
    found = await problems(tmp_path)
    assert any(each.startswith(f"workflows/a.yaml:{line}: ") and said in each for each in found), (
        found
    )


async def test_every_problem_of_a_file_is_named_at_once(tmp_path: Path) -> None:
    write(tmp_path, "workflows/a.yaml", "nam: x\ncomplexity: Y\nstages: 1\n")
    assert [each.split(":")[1] for each in await problems(tmp_path)] == ["1", "1", "2", "3"]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("prompts/a.md", "", "there is no text"),
        ("prompts/a.md", "---\nvisiblity: PUBLIC\n---\nx", "a.md:2: there is no field 'visiblity'"),
        ("prompts/a.md", "---\nautomatic: memory-board\n---\nx", "call the file like it"),
        ("prompts/multi-agent-chat.md", "x", "`automatic: multi-agent-chat` belongs into"),
        (
            "prompts/a.md",
            "x" * (limits.MAX_CONTENT_CHARS + 1),
            "a.md:1: the text: has 100,001 characters",
        ),
        ("prompts/A b.md", "x", "rename it to a-b.md"),
        ("prompts/a.txt", "x", "a prompt or card a .md file"),
        (
            "skills/a.md",
            "---\nfiles: [x.md]\n---\nx",
            "the file 'x.md' is not in the card's",
        ),
        ("skills/a.md", "---\nfiles: [{name: x.md, mime: y}]\n---\nx", "no field 'mime'"),
        ("workflows/a.json", "{", "broken JSON"),
        ("workflows/a.yaml", b"\xff", "not UTF-8"),
    ],
)
async def test_what_is_wrong_with_other_files_is_named_too(
    tmp_path: Path, path: str, text: str | bytes, said: str
) -> None:
    write(tmp_path, path, text)
    found = await problems(tmp_path)
    assert any(said in each for each in found), found


async def test_files_of_a_card_may_not_be_too_large_or_in_folders(tmp_path: Path) -> None:
    write(tmp_path, "skills/a.md", "x")
    write(tmp_path, "skills/a/deep/x.md", "x")
    write(tmp_path, "skills/b.md", "x")
    write(tmp_path, "skills/b/x.bin", b"x" * (limits.MAX_ATTACHMENT_BYTES + 1))
    write(tmp_path, "skills/c.md", "---\nfiles: [{name: x, type: words}]\n---\nx")
    write(tmp_path, "skills/c/x", "x")
    deep, large, kind = await problems(tmp_path)
    assert "in no folders" in deep
    assert "x.bin has 1,048,577 bytes" in large
    assert "media type" in kind


async def test_folders_in_which_nobody_looks_are_named(tmp_path: Path) -> None:
    for path in ("prompts/more/a.md", "workflows/old/b.yaml", "skills/lost/c.txt"):
        write(tmp_path, path, "x")
    assert [each.split("; ")[0] for each in await problems(tmp_path)] == [
        "prompts/more:1: the files in it are not read: move them up",
        "skills/lost:1: the files in it are not read: there is no lost.md beside it",
        "workflows/old:1: the files in it are not read: move them up",
    ]


async def test_two_files_with_one_key_are_named(tmp_path: Path) -> None:
    write(tmp_path, "workflows/a.json", '{"name": "x"}')
    write(tmp_path, "workflows/a.yaml", "name: x")
    [said] = await problems(tmp_path)
    assert "workflows/a.yaml:1: " in said
    assert "has the same key, 'a'" in said


async def test_two_prompts_of_one_name_in_a_workflow_need_keys(tmp_path: Path) -> None:
    text = """
        name: x
        stages:
          - name: s
            items:
              - prompt: {name: Look, content: One}
              - prompt: {name: Look, content: One}
              - prompt: {name: Look, content: Two}
              - prompt: {name: Look, content: Two, key: look-again}
              - prompt: {name: Look, content: Two, key: memory-board}
    """
    write(tmp_path, "workflows/a.yaml", text)
    found = await problems(tmp_path)
    assert [each.split(" ")[0] for each in found] == ["workflows/a.yaml:7:", "workflows/a.yaml:9:"]


async def test_the_examples_of_the_readme_are_in_order(tmp_path: Path) -> None:
    readme = (Path(nodes.__file__).parent / "README.md").read_text("utf-8")
    blocks = re.findall(r"```(yaml|markdown)\n(.*?)```", readme, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["yaml", "markdown", "markdown"]
    for path, (_, text) in zip(
        (
            "workflows/code-review.yaml",
            "prompts/understand-the-change.md",
            "skills/code-review-checklist.md",
        ),
        blocks,
        strict=True,
    ):
        write(tmp_path, path, text.encode())
    write(tmp_path, "skills/code-review-checklist/checklist.md", "- [ ] It works")
    report = await check_paths([tmp_path])
    assert (report.problems, report.dangling) == ([], [])
    assert len(report.checked) == 4


async def test_nothing_outside_of_the_playbook_is_read(tmp_path: Path) -> None:
    secret = write(tmp_path, "secret.txt", "the password")
    book = tmp_path / "book"
    write(book, "prompts/ok.md", "Fine.")
    (book / "prompts/leak.md").symlink_to(secret)
    write(book, "skills/card.md", "x")
    (book / "skills/card").mkdir()
    (book / "skills/card/leak.txt").symlink_to(secret)
    write(
        book, "workflows/w.yaml", "name: x\nstages:\n- name: s\n  items:\n  - prompt: ../secret\n"
    )
    found = await problems(book)
    assert [each.split(":")[0] for each in found] == ["prompts/leak.md", "skills/card.md"]
    assert all("leads out of the playbook" in each for each in found)


async def test_what_is_no_playbook_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    report = await check_paths([tmp_path / "none", tmp_path / "empty"])
    assert [each.reason.split(";")[0] for each in report.problems] == [
        "there is no such file or directory",
        "this holds none of prompts, skills and workflows",
    ]


async def test_a_plan_that_is_too_long_is_named(tmp_path: Path) -> None:
    write(tmp_path, "prompts/p.md", "x")
    stage = "\n".join(["- name: s", "  items:", *["  - prompt: p"] * 200])
    write(tmp_path, "workflows/w.yaml", "name: x\nstages:\n" + "\n".join([stage] * 11))
    [said] = await problems(tmp_path)
    assert "the plan would have 2200 steps" in said
