from collections.abc import Iterable

from .config import Config
from .models import User


class Mailer:
    def __init__(self, config: Config) -> None:
        self.config = config

    def send(self, user: User, text: str) -> str:
        self._connect()
        return user.label() + text

    def _connect(self) -> None:
        self.config.url()


class Base:
    def __init__(self, users: Iterable[User]) -> None:
        self.users = users

    def run(self) -> None:
        for user in self.users:
            self.tell(user)

    def tell(self, user: User) -> None:
        user.touch()


class Notifier(Base):
    def tell(self, user: User) -> None:
        super().tell(user)
        user.account.deposit(1)


def notify_all(users: Iterable[User]) -> None:
    for user in users:
        notify(user)


def notify(user: User) -> None:
    user.touch()
