"""Names that are not ours: they must not be taken for ours."""

import json
import os.path as path
from collections import Counter, OrderedDict
from pathlib import Path

import requests_like_missing as rq  # noqa


def dumps(value):
    return "ours"


def join(*parts):
    return "ours"


def get(url):
    return "ours"


def items():
    return "ours"


class Loader:
    def read_text(self):
        return "ours"

    def get(self, key):
        return key

    def update(self):
        return self.get("x")


def use(unknown):
    json.dumps({"a": 1})
    path.join("a", "b")
    Counter("abc").update("d")
    OrderedDict().items()
    Path(__file__).read_text()
    unknown.get("x")
    unknown.update()
    "a,b".join(["x"])
    {}.get("k")
    print(len(dumps([])))
    join("a")


class Anything:
    def get(self, key):
        return key

    def update(self):
        return None


use(Anything())
Loader().update()
