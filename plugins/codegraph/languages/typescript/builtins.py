"""What JavaScript, its hosts and its test runners bind without an import.

Sources: ECMA-262 "The Global Object", MDN's lists of web and Node.js globals, TypeScript's utility
types, and the globals of Jest, Mocha, Vitest, Jasmine and Cypress.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from plugins.codegraph.linking import known
from plugins.codegraph.linking.rules import Container

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
        "map": known.RESULTS,
        "flatMap": known.RESULTS,
        "forEach": known.EACH,
        "filter": known.EACH,
        "some": known.EACH,
        "every": known.EACH,
        "reduce": known.RESULT,
        "reduceRight": known.RESULT,
        "findIndex": known.EACH,
        "findLastIndex": known.EACH,
        "find": known.FIRST,
        "findLast": known.FIRST,
        "sort": known.SORTED,
        "toSorted": known.SORTED,
        "slice": known.ELEMENTS,
        "splice": known.ELEMENTS,
        "concat": known.ELEMENTS,
        "reverse": known.ELEMENTS,
        "toReversed": known.ELEMENTS,
        "with": known.ELEMENTS,
        "pop": known.ELEMENT,
        "shift": known.ELEMENT,
        "at": known.ITEM,
        "get": known.ITEM,
        "values": known.ITEMS,
        "entries": known.PAIRS,
        "push": known.PUSH,
        "unshift": known.PUSH,
        "add": known.PUSH,
        "set": known.PUSH,
        "bind": known.PARTIAL,
    }
)
FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "Object.assign": known.SAME,
        "Object.freeze": known.SAME,
        "Object.seal": known.SAME,
        "Object.create": known.SAME,
        "Object.values": known.ITEMS,
        "Object.entries": known.PAIRS,
        "Array.from": known.ELEMENTS,
        "Promise.all": known.ELEMENTS,
        "Promise.race": known.ELEMENT,
        "Promise.any": known.ELEMENT,
        "Promise.resolve": known.SAME,
        "structuredClone": known.SAME,
        "function.bind": known.PARTIAL,
        "react.memo": known.SAME,
        "react.forwardRef": known.SAME,
        "react.useCallback": known.SAME,
        "react.useMemo": known.RESULT,
        "React.memo": known.SAME,
        "React.forwardRef": known.SAME,
        "React.useCallback": known.SAME,
        "React.useMemo": known.RESULT,
        "util.promisify": known.SAME,
        "mobx-react.observer": known.SAME,
        "mobx-react-lite.observer": known.SAME,
    }
)
