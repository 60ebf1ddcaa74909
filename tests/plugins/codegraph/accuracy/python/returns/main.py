"""What functions give back is used again."""

from __future__ import annotations

from typing import Generic, Optional, TypeVar

from store import Connection, Pool, connect

T = TypeVar("T")


def one():
    return 1


def two():
    return 2


def pick(flag):
    if flag:
        return one
    return two


def both():
    return one, two


def table():
    return {"one": one}


def identity(value):
    return value


def first(values: list[T]) -> T:
    return values[0]


class Holder(Generic[T]):
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


class Fluent:
    def __init__(self):
        self.parts = []

    def add(self, part) -> Fluent:
        self.parts.append(part)
        return self

    def done(self):
        return Result(self)


class Special(Fluent):
    def extra(self):
        return self


class Result:
    def __init__(self, source):
        self.source = source

    def show(self):
        return self.source.parts


def maybe(flag) -> Optional[Result]:
    return Result(Fluent()) if flag else None


def use():
    pick(True)()
    pick(False)()
    a, b = both()
    a()
    b()
    table()["one"]()
    identity(two)()
    first([Fluent()]).add(1).done().show()
    Holder(Result(Fluent())).get().show()
    found = maybe(True)
    if found:
        found.show()


def stored():
    connection = connect("x")
    connection.query().fetch()
    pool: Pool[Connection] = Pool(connect)
    pool.acquire().query()
    Special().extra().add(2)


def deep():
    return identity(identity(Fluent())).done()


use()
stored()
deep().show()
