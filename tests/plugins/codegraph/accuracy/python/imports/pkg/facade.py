from .deep import leaf
from .engine import Engine

helper = leaf.grow


class Facade:
    engine = Engine()

    def run(self):
        self.engine.start(self)

    def started(self):
        return leaf.fall()
