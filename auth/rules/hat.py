"""``hat``: wearing a hat of Hats Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from auth import hat_ids as hats
from auth.facts import Question
from auth.rules.base import (
    Accounts,
    Answers,
    Finding,
    Part,
    accounts_of,
    answer_to,
    short,
    unknown,
    verdict_of,
)
from auth.rules.scalars import HatPath
from auth.rules.verdict import Verdict
from auth.rules.wallets import stale_proof, wallets

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
        """Whether each wallet wears it; and the chain that hats are read on, if that matters."""
        linked = [each for each in accounts_of("wallet", accounts) if not stale_proof(each)]
        if any(wallet.chain for wallet in linked):
            yield _CHAIN
        # For every address, as only the answers tell which of them count.
        for address in dict.fromkeys(wallet.address for wallet in linked):
            yield self._question(address)

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any wallet wears it."""
        read_on = answer_to(_CHAIN, answers)
        chain = read_on.value if type(read_on.value) is int else None
        linked = wallets(accounts, chain)
        findings = [*self._findings(linked.addresses, answers), *linked.outdated]
        if chain is None and any(each.chain and not stale_proof(each) for each in accounts):
            findings.append(unknown(read_on))
        return verdict_of(
            f"hat: {self.hat}",
            f"wear the hat {self.hat}",
            findings,
            linked.otherwise(f"no linked wallet wears the hat {self.hat}"),
            self.group,
        )

    def _findings(self, addresses: Iterable[str], answers: Answers) -> Iterator[Finding]:
        for address in addresses:
            answer = answer_to(self._question(address), answers)
            if not isinstance(answer.value, bool):
                yield unknown(answer)
            elif answer.value:
                yield "yes", f"wears the hat {self.hat} ({short(address)})"

    def _question(self, address: str) -> Question:
        return Question("hats", ("wears", address, hats.parse(self.hat)))
