"""Reads repositories, and writes to them: a directory, a branch of a Git checkout, or GitHub.

Every plugin may import this package's own names, beside :mod:`gateway.contract`; what lies in its
modules is nobody else's. The settings (:class:`Github`, :data:`RepositoryName`, :data:`BranchName`,
:data:`FolderPath`) are shared too, so that two plugins are written alike in ``portal.yaml``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.repositories.branches import Branches, Signature
from gateway.repositories.dates import Checkout
from gateway.repositories.deliveries import (
    Deliveries,
    Installation,
    Push,
    PushedCommit,
    installed,
    pushed,
)
from gateway.repositories.errors import Advice, Place, SourceFailed, TooLarge
from gateway.repositories.file_history import FileHistory, FileVersion, local_history
from gateway.repositories.git import GitFailed
from gateway.repositories.github_access import OpenGithub, ReadSecret, open_github
from gateway.repositories.local import LocalRepository
from gateway.repositories.local_writes import remove_file, write_file
from gateway.repositories.paths import checked as checked_path
from gateway.repositories.paths import is_below
from gateway.repositories.paths import joined as joined_path
from gateway.repositories.protocol import (
    A_LINK,
    Changed,
    Comparison,
    Entry,
    File,
    Known,
    LeftOut,
    NotModified,
    Repository,
    Snapshot,
    Tree,
    TreeFile,
)
from gateway.repositories.pull_requests import (
    PullRequest,
    PullRequests,
    Remark,
    wants_changes,
)
from gateway.repositories.retry import Retry
from gateway.repositories.scrubbed import ScrubbedRepository
from gateway.repositories.settings import (
    BranchName,
    FolderPath,
    Github,
    GithubApp,
    RepositoryName,
)
from gateway.repositories.tokens import is_plain
from gateway.repositories.working_tree import Outside, real_path
from gateway.repositories.working_tree import read as read_file
from gateway.repositories.wrapper import RepositoryAround

if TYPE_CHECKING:
    from gateway.repositories.github import GithubRepository

__all__ = [
    "A_LINK",
    "Advice",
    "BranchName",
    "Branches",
    "Changed",
    "Checkout",
    "Comparison",
    "Deliveries",
    "Entry",
    "File",
    "FileHistory",
    "FileVersion",
    "FolderPath",
    "GitFailed",
    "Github",
    "GithubApp",
    "GithubRepository",
    "Installation",
    "Known",
    "LeftOut",
    "LocalRepository",
    "NotModified",
    "OpenGithub",
    "Outside",
    "Place",
    "PullRequest",
    "PullRequests",
    "Push",
    "PushedCommit",
    "ReadSecret",
    "Remark",
    "Repository",
    "RepositoryAround",
    "RepositoryName",
    "Retry",
    "ScrubbedRepository",
    "Signature",
    "Snapshot",
    "SourceFailed",
    "TooLarge",
    "Tree",
    "TreeFile",
    "checked_path",
    "installed",
    "is_below",
    "is_plain",
    "joined_path",
    "local_history",
    "open_github",
    "pushed",
    "read_file",
    "real_path",
    "remove_file",
    "wants_changes",
    "write_file",
]


def __getattr__(name: str) -> Any:
    """What takes longer to import, once it is asked for."""
    if name != "GithubRepository":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gateway.repositories.github import GithubRepository

    return GithubRepository
