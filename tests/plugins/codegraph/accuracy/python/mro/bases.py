from abc import ABC, abstractmethod


class Base:
    def step(self):
        return "base"

    def hook(self):
        return self.step()

    def only_base(self):
        return None


class Named:
    def label(self):
        return "named"


class Loud:
    def label(self):
        return super().label().upper()


class Plugin(ABC):
    def activate(self):
        return self.load()

    @abstractmethod
    def load(self):
        ...
