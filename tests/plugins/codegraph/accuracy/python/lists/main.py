"""Lists and tuples of functions and of objects."""


def red():
    return 1


def green():
    return 2


def blue():
    return 3


class Task:
    def run(self):
        return red()

    def stop(self):
        return None


class Urgent(Task):
    def run(self):
        return green()


class Queue:
    def __init__(self):
        self.tasks = []

    def push(self, task: Task):
        self.tasks.append(task)

    def drain(self):
        while self.tasks:
            task = self.tasks.pop()
            task.stop()

    def each(self):
        for index, task in enumerate(self.tasks):
            task.stop()


def fixed():
    colors = [red, green]
    colors[0]()
    return colors[1]()


def looped():
    for color in (green, blue):
        color()


def appended():
    later = []
    later.append(blue)
    for color in later:
        color()


def paired():
    for name, color in [("r", red), ("b", blue)]:
        color()


def zipped():
    for task, color in zip([Task(), Urgent()], [red, green]):
        task.stop()
        color()


def sliced():
    return [red, green, blue][1:][0]()


def concatenated():
    for color in [red] + [blue]:
        color()


def reversed_tasks(tasks: list[Task]):
    for task in reversed(tasks):
        task.stop()
    return sorted(tasks, key=id)[0].stop()


def tuples():
    pair = (Task(), red)
    task, color = pair
    task.stop()
    return color()


fixed()
looped()
appended()
paired()
zipped()
sliced()
concatenated()
reversed_tasks([Task()])
tuples()
queue = Queue()
queue.push(Task())
queue.each()
queue.drain()
