"""Which of several methods of one name is run."""

from bases import Base, Loud, Named, Plugin


class Middle(Base):
    def hook(self):
        return super().hook()


class Left(Middle):
    def step(self):
        return super().step()


class Right(Middle):
    def step(self):
        return super().step()


class Bottom(Left, Right):
    def run(self):
        self.step()
        self.hook()
        self.only_base()


class Speaker(Loud, Named):
    def speak(self):
        return self.label()


class Concrete(Plugin):
    def load(self):
        return self.name()

    def name(self):
        return "concrete"


class Overridden(Concrete):
    def name(self):
        return "overridden"


class Slotted(Named):
    __slots__ = ()

    def label(self):
        return Named.label(self)


def use():
    bottom = Bottom()
    bottom.run()
    Speaker().speak()
    Concrete().activate()
    Overridden().load()
    Slotted().label()
    bottom.step()


def checked(value):
    if isinstance(value, Bottom):
        value.run()
    elif isinstance(value, (Speaker,)):
        value.speak()


use()
checked(Bottom())
checked(Speaker())
