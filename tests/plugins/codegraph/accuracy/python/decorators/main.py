"""Functions that change functions."""

from functools import cached_property, lru_cache, wraps

from registry import command, commands


def plain(func):
    def wrapper(*args):
        before()
        return func(*args)

    return wrapper


def keeping(func):
    @wraps(func)
    def kept(*args):
        before()
        return func(*args)

    return kept


def same(func):
    before()
    return func


def repeat(times):
    def decorate(func):
        def repeated(*args):
            for _ in range(times):
                func(*args)

        return repeated

    return decorate


def before():
    return None


@plain
def hello(name):
    return greet(name)


@keeping
def bye(name):
    return greet(name)


@same
def hi():
    return greet("hi")


@repeat(2)
def again():
    return greet("again")


@lru_cache
def cached(name):
    return greet(name)


def greet(name):
    return name


@command("build")
def build():
    return greet("build")


class Traced:
    def __init__(self, func):
        self.func = func

    def __call__(self, *args):
        return self.func(*args)


@Traced
def traced():
    return greet("traced")


class Service:
    @property
    def address(self):
        return self.host()

    @address.setter
    def address(self, value):
        self.value = value

    @cached_property
    def client(self):
        return Service()

    @staticmethod
    def default():
        return Service.named("x")

    @classmethod
    def named(cls, name):
        return cls()

    def host(self):
        return "host"

    @keeping
    def call(self):
        return self.address


def use():
    hello("a")
    bye("b")
    hi()
    again()
    cached("c")
    traced()


def services():
    service = Service()
    service.address
    service.client.host()
    Service.default().host()
    service.call()


use()
services()
build()
commands["build"]()
