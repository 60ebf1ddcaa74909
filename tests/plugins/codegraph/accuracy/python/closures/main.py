"""Functions within functions."""


def counter():
    count = 0

    def up():
        nonlocal count
        count += 1
        return helper(count)

    def helper(value):
        return value

    return up


def adder(base):
    def add(value):
        return combine(base, value)

    return add


def combine(a, b):
    return a + b


def compose(f, g):
    def composed(x):
        return f(g(x))

    return composed


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


class Door:
    def opener(self):
        def open_it():
            return self.turn()

        return open_it

    def turn(self):
        return "open"


def outer():
    def middle():
        def inner():
            return leaf()

        return inner

    def leaf():
        return 1

    return middle()()


def recursive(n):
    def step(k):
        return 0 if k == 0 else step(k - 1)

    return step(n)


def late():
    calls = []
    for func in (double, triple):
        calls.append(lambda x, func=func: func(x))
    return [call(1) for call in calls]


up = counter()
up()
adder(1)(2)
compose(double, triple)(4)
Door().opener()()
outer()
recursive(2)
late()
