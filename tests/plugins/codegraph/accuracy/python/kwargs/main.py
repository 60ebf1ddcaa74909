"""Arguments by keyword."""

from functools import partial


def square(x):
    return x * x


def cube(x):
    return x * x * x


def apply(x, *, func):
    return func(x)


def choose(x, func=square):
    return func(x)


def forward(**options):
    return apply(1, **options)


class Client:
    def __init__(self, *, transport, retry=None):
        self.transport = transport
        self.retry = retry

    def send(self):
        if self.retry:
            self.retry(1)
        return self.transport.send()


class Transport:
    def send(self):
        return "sent"


def make(kind=Transport, **extra):
    return kind(**extra)


def on_all(values, func=None):
    handler = func or cube
    return [handler(value) for value in values]


apply(2, func=square)
choose(3, func=cube)
choose(3)
forward(func=cube)
Client(transport=Transport(), retry=square).send()
make().send()
on_all([1])
partial(apply, func=square)(2)
twice = partial(choose, 2)
twice()
