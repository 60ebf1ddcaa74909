"""Functions, classes and imports as most code uses them."""

import logging

from app import config, models
from app.models import Account, User
from app.services import Mailer, Notifier, notify_all
from app.utils import slug

log = logging.getLogger(__name__)


def register(name: str) -> User:
    user = User(name)
    user.account = Account(user)
    log.info("registered %s", user.label())
    mailer = Mailer(config.load())
    mailer.send(user, greeting(user))
    return user


def greeting(user: User) -> str:
    return f"Hello {user.label()}"


def report(users: list[User]) -> str:
    lines = []
    for user in users:
        lines.append(line(user))
    return "\n".join(lines)


def line(user: User) -> str:
    return f"{slug(user.name)}: {user.account.balance()}"


def main() -> None:
    users = [register("Ann"), register("Bob")]
    print(report(users))
    notifier = Notifier(users)
    notifier.run()
    notify_all(users)
    models.reset()


if __name__ == "__main__":
    main()
