"""Every way in which a name comes from another file."""

import pkg.deep.leaf
import pkg.tools as t
from pkg import Engine, build, tools
from pkg.deep import *
from pkg.deep.leaf import grow as make_grow
from pkg.facade import Facade, helper

try:
    from fast import speedup
except ImportError:
    from pkg.slow import speedup

if False:
    from pkg.slow import other
else:
    from pkg.tools import other


def use():
    build()
    Engine().start()
    tools.cut()
    t.saw()
    pkg.deep.leaf.fall()
    make_grow()
    speedup()
    other()
    starred()
    helper()
    Facade().run()


def late():
    from pkg.late import arrive

    return arrive()


def mod():
    import pkg.late as module

    return module.arrive()


use()
late()
mod()
