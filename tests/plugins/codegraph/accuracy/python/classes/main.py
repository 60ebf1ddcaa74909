"""Objects, their fields and their methods."""

from dataclasses import dataclass, field
from enum import Enum

from shop import Basket, Item, Shop


@dataclass
class Order:
    basket: Basket
    notes: list = field(default_factory=list)

    def total(self):
        return self.basket.total()

    def describe(self) -> str:
        return f"{self.total()} {self.first.label()}"

    @property
    def first(self) -> Item:
        return self.basket.items[0]


class Color(Enum):
    RED = 1
    BLUE = 2

    def hex(self):
        return self.code()

    def code(self):
        return "#%d" % self.value

    @classmethod
    def parse(cls, text):
        for each in cls:
            if each.matches(text):
                return each
        return cls.RED

    def matches(self, text):
        return self.name == text


class Counter:
    made = 0

    def __new__(cls, *args):
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, start):
        self.count = start

    def __call__(self, by):
        self.count += by
        return self

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.close()

    def close(self):
        self.count = 0

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self._item(index)

    def _item(self, index):
        return index

    @staticmethod
    def zero():
        return Counter(0)

    @classmethod
    def one(cls):
        return cls(1)

    def chain(self):
        return self


def use():
    shop = Shop("corner")
    shop.basket.add(Item("tea", 2))
    order = Order(shop.basket)
    order.describe()
    shop.owner.greet()
    return order


def colors():
    Color.RED.hex()
    Color.parse("BLUE").code()


def counters():
    counter = Counter.zero()
    counter(2)(3).chain().close()
    with Counter.one() as inside:
        inside.chain()
    return counter[1]


class Lazy:
    def __getattr__(self, name):
        return self.load(name)

    def load(self, name):
        return name


class Registry:
    handlers = {}

    def register(self, name, handler):
        self.handlers[name] = handler

    def dispatch(self, name):
        return self.handlers[name]()


def on_start():
    return "start"


registry = Registry()
registry.register("start", on_start)
registry.dispatch("start")
use()
colors()
counters()
