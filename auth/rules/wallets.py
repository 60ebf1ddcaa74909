"""Which of someone's wallets count for a rule: keys everywhere, contracts on their own chain.

Every condition on wallets asks here, so that none can take a contract's word on one chain for
what the same address does on another.
"""

from __future__ import annotations

from dataclasses import dataclass

from auth.callers import Account
from auth.rules.parts import Accounts, Finding, of, short


@dataclass(frozen=True, slots=True)
class Wallets:
    """Someone's wallets, as a rule on one chain sees them.

    Attributes:
        addresses: those that count, the oldest first, each once.
        elsewhere: why contracts on other chains do not, each as the end of a sentence.
        outdated: the findings on those that would have to sign in again to count.
    """

    addresses: tuple[str, ...]
    elsewhere: tuple[str, ...]
    outdated: tuple[Finding, ...]

    def otherwise(self, none: str) -> str:
        """Why a condition does not hold; ``none`` says it of the wallets that count."""
        said = (none,) if self.addresses else ()
        return "; ".join((*said, *self.elsewhere)) or "no wallet is linked"


def wallets(accounts: Accounts, chain: int | None) -> Wallets:
    """Someone's wallets for a rule on a chain.

    Args:
        accounts: everything that the person has proved to be theirs.
        chain: the chain that the rule reads; None where it reads none, and only keys count.
    """
    linked = of("wallet", accounts)
    proved = [each for each in linked if not set_aside(each)]
    addresses = dict.fromkeys(each.address for each in proved if each.chain in {None, chain})
    elsewhere = (_elsewhere(each, chain) for each in proved if each.chain not in {None, chain})
    outdated: list[Finding] = [("outdated", why) for each in linked if (why := set_aside(each))]
    return Wallets(tuple(addresses), tuple(elsewhere), tuple(outdated))


def set_aside(account: Account) -> str | None:
    """Why an account counts for no rule on wallets until it signs again; None where it does."""
    if account.provider != "wallet":
        return None
    if account.signer is None:
        return (
            f"the wallet {short(account.address)} was linked before it was kept whether its key "
            "or a contract signed, and has to sign in once more"
        )
    if account.lapsed:
        return (
            f"the contract wallet {short(account.address)} on chain {account.chain} signed too "
            "long ago, as its owners may change, and has to sign in again"
        )
    return None


def _elsewhere(account: Account, chain: int | None) -> str:
    here = "keys alone" if chain is None else f"keys and contracts on chain {chain}"
    wallet = f"the contract wallet {short(account.address)} on chain {account.chain}"
    return f"{wallet} does not count, for {here} do"
