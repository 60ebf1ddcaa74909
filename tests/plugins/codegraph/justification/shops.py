"""A web shop of a few files, as a repository that is justified."""

from __future__ import annotations

from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.store.owner import Owner
from tests.plugins.codegraph.portal import World

SHOP = {
    "shop/orders/routes.py": b'''from flask import Blueprint
from shop.orders.store import place_order
from shop.textutils import slugify

bp = Blueprint("orders", __name__)


@bp.post("/orders")
def create_order():
    """Take an order of a customer. It is paid later.

    Args:
        none of interest
    """
    return place_order(slugify("A b"))


@bp.get("/orders/<id>")
def show_order(id):
    return {}
''',
    "shop/orders/store.py": b"""from shop.database import db


# Orders are written once,
# and never changed.
def place_order(name):
    db.session.add(name)
    return name
""",
    "shop/database.py": b'''from flask_sqlalchemy import SQLAlchemy

db = SQLAlchemy()


def connect(url):
    """Open the database."""
    return db.create_engine(url)
''',
    "shop/textutils.py": b'''def slugify(text):
    """Make a text fit for an address."""
    return text.lower().replace(" ", "-")


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)
''',
    "shop/auth/login.py": b"""from werkzeug.security import check_password_hash


def check_password(user, password):
    return check_password_hash(user.hash, password)
""",
    "manage.py": b"""from shop.database import connect


def main():
    connect("x")


if __name__ == "__main__":
    main()
""",
    "tests/test_orders.py": b"""from shop.orders.store import place_order


def test_an_order_is_placed():
    assert place_order("a") == "a"
""",
}


async def justified(made: World, owner: Owner) -> dict[str, int]:
    """Justify a repository; returns the counts."""
    return await Justifier(made.host.database, made.store).run(owner.org, owner.repo)
