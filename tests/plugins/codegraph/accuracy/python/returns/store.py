from typing import Callable, Generic, TypeVar

C = TypeVar("C")


class Cursor:
    def fetch(self):
        return []


class Connection:
    def __init__(self, url):
        self.url = url

    def query(self) -> Cursor:
        return Cursor()


def connect(url):
    made = Connection(url)
    return made


class Pool(Generic[C]):
    def __init__(self, make: Callable[[str], C]):
        self.make = make

    def acquire(self) -> C:
        return self.make("url")
