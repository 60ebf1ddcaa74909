"""Which files a playbook on disk has, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gateway.contract import ContentScrub
from gateway.toolkit.frontmatter import decode
from gateway.toolkit.yaml_lines import Broken, Mapping
from plugins.workflows.files import current_format, json_text, legacy_format, markdown, yaml_text
from plugins.workflows.files.fields import SLUG
from plugins.workflows.files.nodes import Problem
from plugins.workflows.files.parsed import (
    EXPORT_RECORD,
    FOLDERS,
    ParsedPrompt,
    ParsedSkill,
    ParsedWorkflow,
    key_of,
)
from plugins.workflows.ids import slug
from plugins.workflows.limits import MAX_ATTACHMENT_BYTES
from plugins.workflows.model import TargetType

MAX_FILE_BYTES = 8 * 1024 * 1024
"""Bytes that a file may have."""
WORKFLOWS = FOLDERS[TargetType.WORKFLOW]
PROMPTS = FOLDERS[TargetType.MINI_PROMPT]
SKILLS = FOLDERS[TargetType.SKILL]

_Parsed = TypeVar("_Parsed", ParsedPrompt, ParsedSkill, ParsedWorkflow)

Progress = Callable[[int, int], None]
"""``tell(done, of)``: how many files have been read or taken in."""


@dataclass(slots=True)
class ParsedFiles:
    """What files say, by keys.

    Attributes:
        problems: what could not be read.
        taken_out: the secrets that stand in the files, and in nothing that is kept of them.
        files: the paths that were read, each once.
    """

    prompts: dict[str, ParsedPrompt] = field(default_factory=dict)
    skills: dict[str, ParsedSkill] = field(default_factory=dict)
    workflows: dict[str, ParsedWorkflow] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    taken_out: list[Problem] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)

    def has(self, type_: TargetType, key: str) -> bool:
        """Whether a mini-prompt or skill card is among them."""
        return key in (self.prompts if type_ is TargetType.MINI_PROMPT else self.skills)


def read(
    paths: Iterable[Path], tell: Progress | None = None, scrub: ContentScrub | None = None
) -> ParsedFiles:
    """Read playbooks: directories whole, files with what they refer to; blocks.

    What cannot be read becomes a problem, and the others are read all the same.

    Args:
        paths: directories and files.
        tell: hears of the progress.
        scrub: takes secrets out of every file before it is read.
    """
    found = ParsedFiles()
    scrub = scrub or ContentScrub("workflows")
    todo: list[tuple[Path, Path]] = []
    for path in paths:
        todo += _files(path, found)
    for count, (root, path) in enumerate(todo, start=1):
        _Reader(root, found, scrub).take(path)
        if tell:
            tell(count, len(todo))
    return found


def _files(path: Path, found: ParsedFiles) -> list[tuple[Path, Path]]:
    """The files below a path, each with the root of its playbook."""
    if path.is_file():
        path = path.absolute()
        return [(_root(path), path)]
    if not path.is_dir():
        found.problems.append(Problem(str(path), 1, "there is no such file or directory"))
        return []
    folders = [path / each for each in (PROMPTS, legacy_format.PROMPTS_FOLDER, SKILLS, WORKFLOWS)]
    if not any(each.exists() for each in (*folders, path / EXPORT_RECORD)):
        reason = f"this holds none of {PROMPTS}, {SKILLS} and {WORKFLOWS}; name the folder above"
        found.problems.append(Problem(str(path), 1, reason))
    found.problems += _ignored_folders(path)
    nested = path / legacy_format.PROMPTS_FOLDER
    files = [each for folder in folders for each in _files_in(folder, folder == nested)]
    return [(path, each) for each in files]


def _ignored_folders(root: Path) -> list[Problem]:
    """The folders in which nobody looks, though somebody may have put something there."""
    problems = []
    for name in (PROMPTS, SKILLS, WORKFLOWS):
        for path in sorted((root / name).glob("[!.]*")):
            if path.is_dir() and not (name == SKILLS and path.with_suffix(".md").is_file()):
                hint = f"there is no {path.name}.md beside it" if name == SKILLS else "move them up"
                problems.append(Problem(str(path), 1, f"the files in it are not read: {hint}"))
    return problems


def _files_in(folder: Path, nested: bool) -> list[Path]:
    files = folder.rglob("*") if nested else folder.glob("*")
    shown = (each for each in files if not each.name.startswith("."))
    return sorted(each for each in shown if each.is_file())


def _root(path: Path) -> Path:
    """The folder of the playbook that a file belongs to."""
    for folder in path.parents:
        if folder.name in (WORKFLOWS, PROMPTS, SKILLS, legacy_format.PROMPTS_FOLDER):
            return folder.parent
    return path.parent


class _Reader:
    """Reads the files of one playbook.

    Args:
        root: its directory; nothing outside of it is read.
        found: where to put what they say.
        scrub: takes secrets out of them.
    """

    def __init__(self, root: Path, found: ParsedFiles, scrub: ContentScrub) -> None:
        self._root = root
        self._scrub = scrub
        self._found = found

    def take(self, path: Path) -> None:
        """Read a file, once, and what it refers to."""
        if path in self._found.files:
            return
        self._found.files.add(path)
        problems: list[Problem] = []
        try:
            self._read(path, problems)
        except Broken as error:
            problems.append(Problem(str(path), error.line, error.reason))
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            problems.append(Problem(str(path), 1, reason))
        self._found.problems += sorted(problems)

    def _read(self, path: Path, problems: list[Problem]) -> None:
        if path.suffix in (".yaml", ".yml", ".json"):
            self._workflow(path, problems)
        elif path.suffix != ".md":
            raise Broken(1, "a workflow is a .yaml or .json file, a prompt or card a .md file")
        elif path.parent.name == SKILLS:
            self._skill(path, problems)
        elif self._root / legacy_format.PROMPTS_FOLDER in path.parents:
            self._older_prompt(path, problems)
        else:
            text = markdown.read(self._text(path))
            prompt = current_format.prompt(str(path), _key(path), text, problems)
            self._keep(self._found.prompts, prompt.draft.key or "", prompt, problems)

    def _text(self, path: Path) -> str:
        return decode(self._bytes(path, MAX_FILE_BYTES))

    def _bytes(self, path: Path, most: int) -> bytes:
        if not path.resolve().is_relative_to(self._root.resolve()):
            raise Broken(1, "leads out of the playbook's directory; put the file itself here")
        size = path.stat().st_size
        if size > most:
            raise Broken(1, f"{path.name} has {size:,} bytes; at most {most:,} are read")
        cleaned, found = self._scrub.file(path.read_bytes(), path=str(path))
        self._found.taken_out += [
            Problem(str(path), each.line or 1, f"{each.kind}: taken out; have it replaced")
            for each in dict.fromkeys(found)
        ]
        return cleaned

    def _workflow(self, path: Path, problems: list[Problem]) -> None:
        key = _key(path)
        text = self._text(path)
        node = json_text.read(text) if path.suffix == ".json" else yaml_text.read(text)
        if not isinstance(node, Mapping):
            raise Broken(1, "a workflow is made of `key: value` lines; begin with `name: ...`")
        form = legacy_format.workflow if legacy_format.is_legacy(node) else current_format.workflow
        workflow = form(str(path), key, node, problems)
        for prompt in () if problems else workflow.prompts:
            self._keep(self._found.prompts, prompt.draft.key or "", prompt, problems)
        self._keep(self._found.workflows, key, workflow, problems)
        for step in (step for stage in workflow.stages for step in stage.steps):
            self._beside(step.type, step.name)

    def _beside(self, type_: TargetType, name: str) -> None:
        """Read the file of a mini-prompt or card that a workflow names, if it is there."""
        if key_of(name) is None:
            return
        name = name.removesuffix(".md")
        folders = (
            (SKILLS,) if type_ is TargetType.SKILL else (PROMPTS, legacy_format.PROMPTS_FOLDER)
        )
        for folder in folders:
            path = self._root / folder / f"{name}.md"
            if path.is_file():
                self.take(path)

    def _skill(self, path: Path, problems: list[Problem]) -> None:
        key = _key(path)
        beside = []
        folder = path.with_suffix("")
        for each in sorted(folder.iterdir()) if folder.is_dir() else ():
            if each.is_dir():
                problems.append(Problem(str(each), 1, "a card's files are in no folders of theirs"))
            else:
                beside.append((each.name, self._bytes(each, MAX_ATTACHMENT_BYTES)))
        text = markdown.read(self._text(path))
        skill = current_format.skill(str(path), key, text, beside, problems)
        self._keep(self._found.skills, key, skill, problems)

    def _older_prompt(self, path: Path, problems: list[Problem]) -> None:
        inside = (
            path.relative_to(self._root / legacy_format.PROMPTS_FOLDER).with_suffix("").as_posix()
        )
        prompt = legacy_format.prompt(str(path), inside, markdown.read(self._text(path)), problems)
        if prompt is not None:
            self._keep(self._found.prompts, prompt.draft.key or "", prompt, problems)

    def _keep(
        self,
        among: dict[str, _Parsed],
        key: str,
        made: _Parsed,
        problems: list[Problem],
    ) -> None:
        if problems:
            return
        if key in among:
            reason = f"{among[key].path} has the same key, {key!r}; rename one of them"
            problems.append(Problem(made.path, 1, reason))
        else:
            among[key] = made


def _key(path: Path) -> str:
    """The key that a file's name is."""
    if not SLUG.fullmatch(path.stem):
        hint = f"{slug(path.stem)}{path.suffix}"
        raise Broken(1, f"the file's name is its key: a-z, 0-9 and hyphens; rename it to {hint}")
    return path.stem
