"""``hat``: wearing a hat of Hats Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from auth import hats
from auth.facts import Question
from auth.rules.parts import Accounts, Answers, Finding, Part, judged, of, short, told, unknown
from auth.rules.scalars import HatPath
from auth.rules.wallets import set_aside, wallets
from auth.verdicts import Verdict

_CHAIN = Question("hats", ("chain",))
"""On which chain hats are read: contract wallets count there alone."""


class Hat(Part):
    """Wearing a hat: a wallet for which ``isWearerOfHat`` is true."""

    hat: HatPath = Field(
        description="Wearers of this hat, by its path such as 30.3.1 or by its id; where hats are "
        "read stands in portal.yaml under roles.hats."
    )

    @property
    def group(self) -> str:
        """The group of those for whom it holds."""
        return f"hat:{self.hat}"

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """Whether each wallet wears it; and where hats are read, if that makes a difference."""
        linked = [each for each in of("wallet", accounts) if not set_aside(each)]
        if any(wallet.chain for wallet in linked):
            yield _CHAIN
        # Of every address, as which of them count is known with the answers.
        for address in dict.fromkeys(wallet.address for wallet in linked):
            yield self._question(address)

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any wallet wears it."""
        read_on = told(_CHAIN, answers)
        chain = read_on.value if type(read_on.value) is int else None
        linked = wallets(accounts, chain)
        findings = [*self._findings(linked.addresses, answers), *linked.outdated]
        if chain is None and any(each.chain and not set_aside(each) for each in accounts):
            findings.append(unknown(read_on))
        return judged(
            f"hat: {self.hat}",
            f"wear the hat {self.hat}",
            findings,
            linked.otherwise(f"no linked wallet wears the hat {self.hat}"),
            self.group,
        )

    def _findings(self, addresses: Iterable[str], answers: Answers) -> Iterator[Finding]:
        for address in addresses:
            answer = told(self._question(address), answers)
            if not isinstance(answer.value, bool):
                yield unknown(answer)
            elif answer.value:
                yield "yes", f"wears the hat {self.hat} ({short(address)})"

    def _question(self, address: str) -> Question:
        return Question("hats", ("wears", address, hats.parse(self.hat)))
