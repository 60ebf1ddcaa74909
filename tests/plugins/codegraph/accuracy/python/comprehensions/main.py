"""Calls and values in comprehensions."""


class Node:
    def __init__(self, name, children=()):
        self.name = name
        self.children = [Node(child) for child in children]

    def visit(self):
        return [child.show() for child in self.children]

    def show(self):
        return clean(self.name)

    def ready(self):
        return bool(self.name)


def clean(text):
    return text.strip()


def key_of(text):
    return text[0]


def names(nodes: list[Node]):
    return {node.show() for node in nodes if node.ready()}


def table(words):
    return {key_of(word): clean(word) for word in words}


def nested(rows):
    return [clean(cell) for row in rows for cell in row if key_of(cell)]


def lazily(words):
    made = (Node(word) for word in words)
    return sum(len(node.show()) for node in made)


def picked(words):
    nodes = {word: Node(word) for word in words}
    for node in nodes.values():
        node.ready()
    return nodes["a"].show()


def first(words):
    return next(node for node in [Node(word) for word in words] if node.ready()).visit()


def functions(words):
    steps = [clean, key_of]
    return [step(word) for step in steps for word in words]


names([Node("a", "bc")])
table(["x"])
nested([["y"]])
lazily(["z"])
picked(["a"])
first(["q"])
functions(["w"])
Node("n", "m").visit()
