"""``hat``: wearing a hat of Hats Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from auth import hats
from auth.facts import Question
from auth.rules.parts import Accounts, Answers, Finding, Part, judged, of, short, told, unknown
from auth.rules.scalars import HatPath
from auth.verdicts import Verdict


class Hat(Part):
    """Wearing a hat: a wallet for which ``isWearerOfHat`` is true."""

    hat: HatPath = Field(
        description="Wearers of this hat, by its path such as 30.3.1 or by its id; where hats are "
        "read stands in portal.yaml under roles.hats."
    )

    def questions(self, accounts: Accounts) -> Iterable[Question]:
        """Whether each wallet wears it."""
        return [self._question(wallet.id) for wallet in of("wallet", accounts)]

    def verdict(self, accounts: Accounts, answers: Answers) -> Verdict:
        """Whether any wallet wears it."""
        wallets = of("wallet", accounts)
        return judged(
            f"hat: {self.hat}",
            f"wear the hat {self.hat}",
            self._findings([wallet.id for wallet in wallets], answers),
            f"no linked wallet wears the hat {self.hat}" if wallets else "no wallet is linked",
            f"hat:{self.hat}",
        )

    def _findings(self, addresses: list[str], answers: Answers) -> Iterator[Finding]:
        for address in addresses:
            answer = told(self._question(address), answers)
            if not isinstance(answer.value, bool):
                yield unknown(answer)
            elif answer.value:
                yield "yes", f"wears the hat {self.hat} ({short(address)})"

    def _question(self, address: str) -> Question:
        return Question("hats", ("wears", address, hats.parse(self.hat)))
