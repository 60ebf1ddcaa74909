from __future__ import annotations

from app.utils import slug


class Account:
    def __init__(self, owner: User) -> None:
        self.owner = owner
        self.entries: list[int] = []

    def balance(self) -> int:
        return sum(self.entries)

    def deposit(self, amount: int) -> None:
        self.entries.append(amount)
        self.owner.touch()


class User:
    account: Account

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen = 0

    def label(self) -> str:
        return slug(self.name)

    def touch(self) -> None:
        self.seen += 1


def reset() -> None:
    user = User("reset")
    account = Account(user)
    account.deposit(1)
