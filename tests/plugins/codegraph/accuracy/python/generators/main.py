"""Functions that yield, synchronous and not."""

import asyncio


class Record:
    def __init__(self, number):
        self.number = number

    def save(self):
        return check(self)


def check(record):
    return record.number


def records(count):
    for number in range(count):
        yield Record(number)


def doubled(source):
    for record in source:
        record.save()
        yield record


def delegating():
    yield from records(2)
    yield from ours()


def ours():
    yield Record(9)


class Walk:
    def __init__(self, depth):
        self.depth = depth

    def __iter__(self):
        return self

    def __next__(self):
        if not self.depth:
            raise StopIteration
        self.depth -= 1
        return Record(self.depth)


class Tree:
    def __init__(self):
        self.leaves = [Record(1)]

    def __iter__(self):
        for leaf in self.leaves:
            yield leaf


def consume():
    for record in doubled(records(2)):
        record.save()
    for record in delegating():
        record.save()


def walk():
    for record in Walk(1):
        record.save()
    for leaf in Tree():
        leaf.save()


def functions():
    yield check
    yield validate


def validate(record):
    return True


def run_all():
    for function in functions():
        function(Record(1))


async def fetch(number):
    await pause()
    return Record(number)


async def pause():
    return None


async def stream():
    yield await fetch(2)


async def main():
    record = await fetch(1)
    record.save()
    async for each in stream():
        each.save()
    done = await asyncio.gather(fetch(3))
    done[0].save()


consume()
walk()
run_all()
asyncio.run(main())
list(records(1))
