"""Which of a person's wallets count for a rule: keys everywhere, contracts on their own chain.

Every condition on wallets goes through here, so that none mistakes a contract's proof on one chain
for a proof of the same address on another.
"""

from __future__ import annotations

from dataclasses import dataclass

from auth.callers import Account
from auth.rules.base import Accounts, Finding, accounts_of, short


@dataclass(frozen=True, slots=True)
class Wallets:
    """A person's wallets, from the view of a rule on one chain.

    Attributes:
        addresses: those that count, the oldest first, each once.
        elsewhere: why contracts on other chains do not, each as the end of a sentence.
        outdated: the findings on those that must sign in again to count.
    """

    addresses: tuple[str, ...]
    elsewhere: tuple[str, ...]
    outdated: tuple[Finding, ...]

    def otherwise(self, none: str) -> str:
        """Why a condition does not hold; ``none`` is the reason for the wallets that count."""
        said = (none,) if self.addresses else ()
        return "; ".join((*said, *self.elsewhere)) or "no wallet is linked"


def wallets(accounts: Accounts, chain: int | None) -> Wallets:
    """A person's wallets for a rule on a chain.

    Args:
        accounts: everything that the person has proved to be theirs.
        chain: the chain that the rule reads; None where it reads none, and only keys count.
    """
    linked = accounts_of("wallet", accounts)
    proved = [each for each in linked if not stale_proof(each)]
    addresses = dict.fromkeys(each.address for each in proved if each.chain in {None, chain})
    elsewhere = (_elsewhere(each, chain) for each in proved if each.chain not in {None, chain})
    outdated: list[Finding] = [("outdated", why) for each in linked if (why := stale_proof(each))]
    return Wallets(tuple(addresses), tuple(elsewhere), tuple(outdated))


def stale_proof(account: Account) -> str | None:
    """Why a wallet counts for no rule until it signs in again; None if it counts."""
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
