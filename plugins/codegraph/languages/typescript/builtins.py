"""Global names of JavaScript, its hosts and its test runners.

Sources: ECMA-262 "The Global Object", MDN's lists of web and Node.js globals, TypeScript's utility
types, and the globals of Jest, Mocha, Vitest, Jasmine and Cypress.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from plugins.codegraph.languages import effects
from plugins.codegraph.languages.rules import Container

_LANGUAGE = """
AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date
Error EvalError FinalizationRegistry Float32Array Float64Array Function Infinity Int16Array
Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError
ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError
Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet arguments decodeURI
decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat
parseInt undefined unescape
"""
_HOSTS = """
AbortController AbortSignal Blob BroadcastChannel Buffer ByteLengthQueuingStrategy
CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DOMParser Document
DocumentFragment Element Event EventSource EventTarget File FileList FileReader FormData
HTMLButtonElement HTMLCanvasElement HTMLDivElement HTMLElement HTMLFormElement HTMLImageElement
HTMLInputElement Headers History Image ImageData IntersectionObserver KeyboardEvent Location
MediaQueryList MessageChannel MessageEvent MessagePort MouseEvent MutationObserver Navigator Node
NodeList Notification Performance PerformanceObserver PointerEvent ReadableStream Request
ResizeObserver Response Storage SVGElement TextDecoder TextEncoder TouchEvent TransformStream URL
URLSearchParams WebAssembly WebSocket Window Worker WritableStream XMLHttpRequest __dirname
__filename addEventListener alert atob btoa caches cancelAnimationFrame clearImmediate
clearInterval clearTimeout confirm console crypto customElements dispatchEvent document fetch
getComputedStyle global history importScripts indexedDB localStorage location matchMedia module
navigator performance postMessage process prompt queueMicrotask removeEventListener reportError
requestAnimationFrame requestIdleCallback require screen self sessionStorage setImmediate
setInterval setTimeout structuredClone window Deno Bun JSX NodeJS React
"""
_TESTS = """
after afterAll afterEach assert before beforeAll beforeEach chai context cy Cypress describe
expect expectTypeOf fail fdescribe fit it jasmine jest pending sinon spyOn suite test vi xdescribe
xit xtest
"""
_TYPES = """
Awaited AsyncGenerator AsyncIterable AsyncIterableIterator AsyncIterator Callable Capitalize
Constructor ConstructorParameters Exclude Extract Generator Guard InstanceType Iterable
IterableIterator IteratorResult Lowercase NoInfer NonNullable Omit OmitThisParameter Parameters
Partial Pick PromiseLike PropertyKey Readonly ReadonlyArray ReadonlyMap ReadonlySet Record Required
ReturnType TemplateStringsArray ThisType Uncapitalize Uppercase any never unknown
"""

GLOBALS = frozenset(f"{_LANGUAGE} {_HOSTS} {_TESTS} {_TYPES}".split())

_LIST = Container(element=0, item=0)
_MAP = Container(element=1, item=1, key=0, pairs=True)
_PAIRED = Container(element=1, item=1, key=0)

CONTAINERS: Mapping[str, Container] = MappingProxyType(
    {
        "list": _LIST,
        "generator": _LIST,
        "Array": _LIST,
        "ReadonlyArray": _LIST,
        "Set": _LIST,
        "ReadonlySet": _LIST,
        "WeakSet": _LIST,
        "Iterable": _LIST,
        "Iterator": _LIST,
        "IterableIterator": _LIST,
        "Generator": _LIST,
        "AsyncIterable": _LIST,
        "AsyncIterator": _LIST,
        "AsyncIterableIterator": _LIST,
        "AsyncGenerator": _LIST,
        "ArrayLike": _LIST,
        "NodeListOf": _LIST,
        "Map": _MAP,
        "ReadonlyMap": _MAP,
        "WeakMap": _PAIRED,
        "Record": _PAIRED,
        "dict": _PAIRED,
    }
)
UNWRAPS: Mapping[str, int] = MappingProxyType({"Promise": 0, "PromiseLike": 0, "Awaited": 0})
_SAME_MEMBERS = """
Readonly Partial Required NonNullable Pick Omit Extract Exclude NoInfer DeepPartial DeepReadonly
InstanceType
"""
TRANSPARENT: Mapping[str, int] = MappingProxyType(dict.fromkeys(_SAME_MEMBERS.split(), 0))
METHODS: Mapping[str, str] = MappingProxyType(
    {
        "map": effects.RESULTS,
        "flatMap": effects.RESULTS,
        "forEach": effects.EACH,
        "filter": effects.EACH,
        "some": effects.EACH,
        "every": effects.EACH,
        "reduce": effects.RESULT,
        "reduceRight": effects.RESULT,
        "findIndex": effects.EACH,
        "findLastIndex": effects.EACH,
        "find": effects.FIRST,
        "findLast": effects.FIRST,
        "sort": effects.SORTED,
        "toSorted": effects.SORTED,
        "slice": effects.ELEMENTS,
        "splice": effects.ELEMENTS,
        "concat": effects.ELEMENTS,
        "reverse": effects.ELEMENTS,
        "toReversed": effects.ELEMENTS,
        "with": effects.ELEMENTS,
        "pop": effects.ELEMENT,
        "shift": effects.ELEMENT,
        "at": effects.ITEM,
        "get": effects.ITEM,
        "values": effects.ITEMS,
        "entries": effects.PAIRS,
        "push": effects.PUSH,
        "unshift": effects.PUSH,
        "add": effects.PUSH,
        "set": effects.PUSH,
        "bind": effects.PARTIAL,
    }
)
FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "Object.assign": effects.MERGED,
        "Object.freeze": effects.SAME,
        "Object.seal": effects.SAME,
        "Object.create": effects.SAME,
        "Object.values": effects.ITEMS,
        "Object.entries": effects.PAIRS,
        "Array.from": effects.ELEMENTS,
        "Promise.all": effects.ELEMENTS,
        "Promise.race": effects.ELEMENT,
        "Promise.any": effects.ELEMENT,
        "Promise.resolve": effects.SAME,
        "structuredClone": effects.SAME,
        "function.bind": effects.PARTIAL,
        "react.memo": effects.SAME,
        "react.forwardRef": effects.SAME,
        "react.useCallback": effects.SAME,
        "react.useMemo": effects.RESULT,
        "React.memo": effects.SAME,
        "React.forwardRef": effects.SAME,
        "React.useCallback": effects.SAME,
        "React.useMemo": effects.RESULT,
        "util.promisify": effects.SAME,
        "mobx-react.observer": effects.SAME,
        "mobx-react-lite.observer": effects.SAME,
    }
)
