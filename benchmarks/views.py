"""Views in Chromium: how soon a page is painted, how large it is, and a graph of 500 boxes.

The portal is ``porch serve`` over the handbook and a generated repository of 500 functions in
layers, each of which calls two of the layer below. "Painted" is the first contentful paint after
the first byte of the page has come: what the browser, the style sheets and the scripts take beside
the data. Panning scrolls the picture in every frame for two seconds.
"""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from playwright.async_api import Browser, Page

from benchmarks.portal import Portal, spawned
from benchmarks.processes import ROOT
from benchmarks.table import Bar, Row, Unmeasurable
from tests.browser.chromium import chromium, executable

SECTION = "views"
LAYERS = (1, 9, 60, 180, 250)
"""The functions in each layer: 500."""
GRAPH = "/codegraph/graph?name=layer_0_0&direction=callees&depth=5&limit=1000&repo=town"
PAGES = ("/", "/knowledge/documents", "/knowledge/search?query=tier", "/workflows/workflows",
         "/codegraph/search?query=layer&repo=town")  # fmt: skip
RUNS = 9
PAINT_MS, PAGE_KB, GRAPH_MS, FRAMES = 100, 60, 500, 60
"""The bars."""
_FIGURE = re.compile(rb"<figure.*?</figure>", re.DOTALL)
_PAINTED = """() => new Promise((done) => new PerformanceObserver((list) => {
  const [paint] = list.getEntriesByName("first-contentful-paint");
  if (paint) done(paint.startTime - performance.getEntriesByType("navigation")[0].responseStart);
}).observe({ type: "paint", buffered: true }))"""
_PANNED = """() => new Promise((done) => {
  const canvas = document.querySelector("figure.picture .canvas");
  const begun = performance.now();
  let frames = 0;
  const step = (now) => {
    canvas.scrollBy(frames % 120 < 60 ? 6 : -6, frames % 80 < 40 ? 9 : -9);
    frames += 1;
    if (now - begun < 2_000) requestAnimationFrame(step);
    else done(1_000 * frames / (now - begun));
  };
  requestAnimationFrame(step);
})"""


def measure() -> list[Row]:
    """Everything about views, as rows."""
    if executable() is None:
        raise Unmeasurable("Chromium is not installed.")
    with TemporaryDirectory() as place:
        code, data = Path(place, "town"), Path(place, "data")
        _write(code)
        with spawned(ROOT / "content", data) as portal:
            portal.await_ready()
            add = ("codegraph", "add", str(code), "--name", "town", "--data", str(data))
            subprocess.run(
                [sys.executable, "-m", "gateway.cli", *add], cwd=ROOT, check=True, stdout=sys.stderr
            )
            base = f"http://127.0.0.1:{portal.port}"
            _await(base + GRAPH)
            return [*_sent(portal, base), *asyncio.run(_seen(base))]


def _write(code: Path) -> None:
    """A repository whose functions call those of the next layer."""
    chosen = random.Random(7)
    code.mkdir()
    for layer, count in enumerate(LAYERS):
        below = LAYERS[layer + 1] if layer + 1 < len(LAYERS) else 0
        lines = [f"from layer_{layer + 1} import *  # noqa\n\n"] if below else []
        for number in range(count):
            # Each one below is called by one at least.
            every = set(range(number, below, count))
            every |= {chosen.randrange(below)} if below else set()
            calls = "".join(f"    layer_{layer + 1}_{each}()\n" for each in sorted(every))
            body = calls or "    return 1\n"
            lines.append(f"def layer_{layer}_{number}():\n{body}\n\n")
        (code / f"layer_{layer}.py").write_text("".join(lines))


def _sent(portal: Portal, base: str) -> Iterator[Row]:
    """What the server takes and sends."""
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        page = _read(base + GRAPH)
        times.append(1_000 * (time.perf_counter() - begun))
    portal.still_running()
    boxes, ways = page.count(b'<g class="node'), page.count(b'class="edge')
    note = (
        f"{boxes} boxes, {ways} arrows, {len(page) // 1_000} KB; worst of {RUNS} {max(times):.0f}"
    )
    bar = Bar("under", GRAPH_MS)
    yield Row(
        SECTION, "a graph of 500 laid out and sent, p50", median(times), "ms", bar, note, True
    )
    for path in (*PAGES, GRAPH):
        size = len(_FIGURE.sub(b"", _read(base + path))) / 1_000
        bar = Bar("under", PAGE_KB)
        yield Row(SECTION, f"size of {_named(path)} without pictures", size, "KB", bar)


def _await(address: str) -> None:
    """Wait until a page is there: the portal looks for new repositories every two seconds."""
    for _ in range(100):
        try:
            _read(address)
            return
        except HTTPError:
            time.sleep(0.1)
    raise TimeoutError(f"{address} does not come.")


def _read(address: str) -> bytes:
    with urlopen(address) as answer:
        body: bytes = answer.read()
        return body


async def _seen(base: str) -> list[Row]:
    """What the browser shows, and when."""
    async with chromium() as browser:
        rows = [await _painted(browser, base, path) for path in (*PAGES, GRAPH)]
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(base + GRAPH)
        rates = [float(await page.evaluate(_PANNED)) for _ in range(3)]
        bar = Bar("at least", FRAMES - 1)  # frames are counted over two seconds, and one is lost
        note = f"three times two seconds, {min(rates):.1f} to {max(rates):.1f}"
        rows.append(
            Row(SECTION, "panning a graph of 500", median(rates), "frames/s", bar, note, True)
        )
        return rows


async def _painted(browser: Browser, base: str, path: str) -> Row:
    times: list[float] = []
    elsewhere: list[str] = []

    async def look(page: Page) -> None:
        page.on("request", lambda asked: elsewhere.append(asked.url))
        await page.goto(base + path)
        times.append(float(await page.evaluate(_PAINTED)))

    for _ in range(RUNS):
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        await look(await context.new_page())
        await context.close()
    others = sum(not url.startswith((base, "data:")) for url in elsewhere)
    note = f"worst of {RUNS} {max(times):.0f} ms; {others} requests to other hosts"
    bar: Any = Bar("under", PAINT_MS)
    return Row(SECTION, f"first paint of {_named(path)}, p50", median(times), "ms", bar, note)


def _named(path: str) -> str:
    return path.partition("?")[0]
