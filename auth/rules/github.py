"""``github``, ``github_org``, ``github_team`` and ``github_age``: accounts on GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, ClassVar

from pydantic import Field

from auth.callers import Account
from auth.facts import Question
from auth.rules.base import (
    Accounts,
    Answers,
    Finding,
    Part,
    accounts_of,
    answer_to,
    unknown,
    verdict_of,
)
from auth.rules.scalars import Age, Word
from auth.rules.verdict import Verdict

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
_NONE = "no GitHub account is linked"

Login = Annotated[Word, Field(pattern=f"^{_NAME}$")]
Organization = Annotated[Word, Field(pattern=f"^{_NAME}$")]
Team = Annotated[str, Field(pattern=f"^{_NAME}/[A-Za-z0-9_.-]{{1,100}}$")]


class Github(Part):
    """Being one account. A login can change hands when it is given up; a numeric id never does."""

    github: Login = Field(description="One account, by its login or, safer, its numeric id.")

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether a linked account is the one."""
        linked = accounts_of("github", accounts)
        return verdict_of(
            f"github: {self.github}",
            "have a GitHub account that an admin has listed",
            [("yes", f"is {_name(each)} on GitHub") for each in linked if self._is(each)],
            "no linked GitHub account is the listed one" if linked else _NONE,
        )

    def _is(self, account: Account) -> bool:
        # Digits are an id alone: a login of the same digits would be somebody else.
        if self.github.isdecimal():
            return account.id == self.github
        return (account.name or "").lower() == self.github.lower()


class _Membership(Part):
    """Belonging to something on GitHub, of which GitHub is asked for each account.

    Attributes:
        kind: what GitHub's source is asked for; the condition's key is ``github_`` and this.
        noun: the same, for people.
    """

    kind: ClassVar[str]
    noun: ClassVar[str]

    @property
    def group(self) -> str:
        """The group of those for whom it holds."""
        return f"github_{self.kind}:{self._name}"

    @property
    def _name(self) -> str:
        return str(getattr(self, f"github_{self.kind}"))

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """Whether each account belongs to it."""
        return [self._question(each) for each in accounts_of("github", accounts)]

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any account belongs to it."""
        where = f"the GitHub {self.noun} {self._name}"
        linked = accounts_of("github", accounts)
        return verdict_of(
            f"github_{self.kind}: {self._name}",
            f"be a member of {where}",
            self._findings(where, linked, answers),
            f"no linked account is a known member of {where}" if linked else _NONE,
            self.group,
        )

    def _findings(
        self, where: str, linked: Iterable[Account], answers: Answers
    ) -> Iterator[Finding]:
        for account in linked:
            answer = answer_to(self._question(account), answers)
            if not isinstance(answer.value, bool):
                yield unknown(answer)
            elif answer.value:
                yield "yes", f"{_name(account)} is a member of {where}"

    def _question(self, account: Account) -> Question:
        return Question("github", (self.kind, *self._name.split("/"), account.id))


class GithubOrg(_Membership):
    """Belonging to an organization."""

    kind = "org"
    noun = "organization"
    github_org: Organization = Field(
        description="Members of a GitHub organization; without sign_in.github.token in portal.yaml "
        "only those whose membership is public."
    )


class GithubTeam(_Membership):
    """Belonging to a team of an organization."""

    kind = "team"
    noun = "team"
    github_team: Team = Field(
        description="Members of a GitHub team, as ORGANIZATION/TEAM; needs sign_in.github.token in "
        "portal.yaml."
    )


class GithubAge(Part):
    """Having an account that is not new: makes many accounts costly for one person."""

    github_age: Age = Field(description="Owners of a GitHub account of at least this age: 90d.")

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any account is old enough now."""
        linked = accounts_of("github", accounts)
        return verdict_of(
            f"github_age: {self._written}",
            f"have a GitHub account that is at least {self._written} old",
            self._findings(linked),
            f"no linked GitHub account is {self._written} old" if linked else _NONE,
        )

    def _findings(self, linked: Iterable[Account]) -> Iterator[Finding]:
        for account in linked:
            made = _made(account)
            if made is None:
                yield "unknown", f"GitHub did not say when {_name(account)} was made"
            elif datetime.now(UTC) - made >= self.github_age:
                yield "yes", f"{_name(account)} is on GitHub since {made:%Y-%m-%d}"

    @property
    def _written(self) -> str:
        days, rest = divmod(self.github_age.total_seconds(), 86400)
        return f"{self.github_age.total_seconds() / 3600:.0f}h" if rest else f"{days:.0f}d"


def _name(account: Account) -> str:
    return account.name or account.id


def _made(account: Account) -> datetime | None:
    try:
        made = datetime.fromisoformat(account.claims["created_at"])
    except (KeyError, TypeError, ValueError):
        return None
    return made if made.tzinfo else made.replace(tzinfo=UTC)
