class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price

    def label(self):
        return self.name


class Basket:
    def __init__(self):
        self.items: list[Item] = []

    def add(self, item):
        self.items.append(item)
        self.check()

    def check(self):
        for item in self.items:
            item.label()

    def total(self):
        return sum(cost(item) for item in self.items)


def cost(item: Item):
    return item.price


class Owner:
    def greet(self):
        return "hello"


class Shop:
    def __init__(self, name):
        self.name = name
        self.basket = Basket()
        self.owner = self.find_owner()

    def find_owner(self):
        return Owner()
