"""Names that stand for other names."""


def first():
    return 1


def second():
    return 2


def third():
    return 3


class Box:
    content = first

    def __init__(self, value=None):
        self.value = value

    def open(self):
        return self.value


def chained():
    a = b = first
    a()
    b = second
    b()


def reassigned():
    step = first
    step = second
    return step()


def branches(flag):
    if flag:
        step = first
    else:
        step = third
    return step()


def unpacked():
    one, (two, three) = first, (second, third)
    one()
    two()
    three()


def starred():
    head, *tail = [second, third]
    head()
    return len(tail)


def swapped():
    left, right = first, third
    left, right = right, left
    return left()


def walrus():
    if (found := third)():
        return found


def loop_carried():
    current = first
    for _ in range(2):
        current()
        current = second


def typed_later():
    box = None
    for value in range(2):
        if box is None:
            box = Box(value)
        box.open()


def global_one():
    global chosen
    chosen = second


chosen = first
chained()
reassigned()
branches(True)
branches(False)
unpacked()
starred()
swapped()
walrus()
loop_carried()
typed_later()
global_one()
chosen()
alias = third
alias()
renamed = alias
renamed()
Box.content()
