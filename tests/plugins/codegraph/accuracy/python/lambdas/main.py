"""Functions without a name: what they call belongs to the function around."""


def inc(x):
    return x + 1


def dec(x):
    return x - 1


def call(func, *args):
    return func(*args)


class Button:
    def __init__(self, on_click):
        self.on_click = on_click

    def click(self):
        return self.on_click()


def use():
    first = lambda x: inc(x)
    first(1)
    call(lambda: dec(2))
    return (lambda y: inc(y))(3)


def ordered(values):
    return sorted(values, key=lambda value: dec(value))


def mapped(values):
    return list(map(inc, values)), list(filter(lambda v: dec(v), values))


def returned():
    return lambda: inc(1)


def buttons():
    button = Button(lambda: dec(1))
    return button.click()


class Shape:
    area = lambda self: self.side()

    def side(self):
        return 1


def on_items(items):
    best = max(items, key=lambda item: item.side())
    return best.side()


use()
ordered([1])
mapped([1])
returned()()
buttons()
Shape().area()
on_items([Shape()])
