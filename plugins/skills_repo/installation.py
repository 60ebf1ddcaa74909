"""Puts the files of a skill, or an agent profile, where a client reads them.

What a source calls its files is other people's data: no file is written outside of the folder that
it is for, whatever its name or the links on the way say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gateway.contract import ToolFailed
from gateway.repositories import Entry, checked_path
from gateway.toolkit.atomic_file import write_atomically


class Outcome(StrEnum):
    """The outcome for one file, or the expected one where nothing is written."""

    CURRENT = "current"
    MISSING = "missing"
    DIFFERS = "differs"
    WRITTEN = "written"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that is to be there.

    Attributes:
        path: from the folder that it is for.
        content: its bytes.
        executable: whether its owner may run it.
    """

    path: str
    content: bytes
    executable: bool = False

    @classmethod
    def of(cls, entry: Entry, path: str) -> Wanted:
        """A file of a source, by its path from the folder that it is for.

        Raises:
            ToolFailed: it is larger than the portal serves.
        """
        if entry.content is None:
            message = (
                f"{entry.path} has {entry.size:,} bytes, more than max_file in portal.yaml allows. "
                "Nothing was written. The portal's admin can raise it."
            )
            raise ToolFailed("TOO_LARGE", message)
        return cls(path, entry.content, entry.executable)


@dataclass(frozen=True, slots=True)
class Step:
    """A file, where it belongs on this machine, and what it is like there."""

    file: Wanted
    target: Path
    outcome: Outcome


def planned(folder: Path, root: Path, files: Sequence[Wanted]) -> list[Step]:
    """What writing files into a folder would do. It blocks, and writes nothing.

    Args:
        folder: the folder.
        root: what the folder is in, also behind links: the project, or a person's own folder.
        files: the files.

    Raises:
        ToolFailed: a file would lie outside of the folder.
        OSError: what is there cannot be read.
    """
    # A project that was cloned must not lead a write elsewhere by a link.
    real = _inside(folder, root.resolve())
    return [
        _step(_inside(real / checked_path(each.path, "The file"), real), each) for each in files
    ]


def _inside(path: Path, root: Path) -> Path:
    real = path.resolve()
    if real.is_relative_to(root):
        return real
    message = (
        f"{path} leads out of {root} by a link. Nothing was written. Remove the link, or install "
        "it elsewhere."
    )
    raise ToolFailed("INVALID_PATH", message)


def _step(target: Path, file: Wanted) -> Step:
    try:
        there = target.read_bytes()
    except FileNotFoundError:
        return Step(file, target, Outcome.MISSING)
    same = there == file.content
    return Step(file, target, Outcome.CURRENT if same else Outcome.DIFFERS)


def written(step: Step) -> Step:
    """Write a planned file, atomically; one that is there as it should be stays. It blocks.

    Raises:
        OSError: it cannot be written; what was there before stays.
    """
    if step.outcome is Outcome.CURRENT:
        return step
    write_atomically(step.target, step.file.content, executable=step.file.executable)
    done = Outcome.REPLACED if step.outcome is Outcome.DIFFERS else Outcome.WRITTEN
    return Step(step.file, step.target, done)
