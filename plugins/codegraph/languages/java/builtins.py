"""Names that Java and its standard library predefine."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.codegraph.languages import effects
from plugins.codegraph.languages.rules import Container

PRIMITIVES = frozenset(
    (
        "()", "[]", "boolean", "byte", "char", "double", "float", "int", "long", "short",
        "void",
    )
)  # fmt: skip
"""Built-in types, with arrays and functions."""
LANG = frozenset(
    (
        "Appendable", "ArithmeticException", "ArrayIndexOutOfBoundsException",
        "ArrayStoreException", "AssertionError", "AutoCloseable", "Boolean", "Byte",
        "CharSequence", "Character", "Class", "ClassCastException", "ClassLoader",
        "ClassNotFoundException", "CloneNotSupportedException", "Cloneable", "Comparable",
        "Deprecated", "Double", "Enum", "Error", "Exception", "ExceptionInInitializerError",
        "Float", "FunctionalInterface", "IllegalAccessException", "IllegalArgumentException",
        "IllegalStateException", "IndexOutOfBoundsException", "InheritableThreadLocal",
        "InstantiationException", "Integer", "InterruptedException", "Iterable", "LinkageError",
        "Long", "Math", "Module", "ModuleLayer", "NegativeArraySizeException",
        "NoClassDefFoundError", "NoSuchFieldException", "NoSuchMethodException",
        "NullPointerException", "Number", "NumberFormatException", "Object", "OutOfMemoryError",
        "Override", "Package", "Process", "ProcessBuilder", "Readable", "Record",
        "ReflectiveOperationException", "Runnable", "Runtime", "RuntimeException",
        "SafeVarargs", "SecurityException", "Short", "StackOverflowError", "StackTraceElement",
        "StackWalker", "StrictMath", "String", "StringBuffer", "StringBuilder",
        "StringIndexOutOfBoundsException", "SuppressWarnings", "System", "Thread",
        "ThreadGroup", "ThreadLocal", "Throwable", "UnsupportedOperationException",
        "VerifyError", "InternalError", "IllegalMonitorStateException",
        "VirtualMachineError", "Void",
    )
)  # fmt: skip
"""Names of ``java.lang``."""
_LISTS = frozenset(
    (
        "ArrayBlockingQueue", "ArrayDeque", "ArrayList", "AtomicReference", "BlockingQueue",
        "Callable", "Collection", "CompletableFuture", "ConcurrentLinkedDeque",
        "ConcurrentLinkedQueue", "ConcurrentSkipListSet", "CopyOnWriteArrayList",
        "CopyOnWriteArraySet", "Deque", "EnumSet", "Enumeration", "Flux", "Future", "HashSet",
        "Iterable", "Iterator", "Lazy", "LinkedBlockingQueue", "LinkedHashSet", "LinkedList",
        "List", "ListIterator", "Mono", "NavigableSet", "ObjectProvider", "Optional",
        "PriorityQueue", "Provider", "Queue", "Set", "SoftReference", "SortedSet", "Stack",
        "Stream", "Supplier", "ThreadLocal", "TreeSet", "Vector", "WeakReference", "[]", "list",
    )
)  # fmt: skip
"""Containers with one type argument."""
_MAPS = frozenset(
    (
        "ConcurrentHashMap", "ConcurrentMap", "ConcurrentSkipListMap", "EnumMap", "HashMap",
        "Hashtable", "IdentityHashMap", "LinkedHashMap", "Map", "NavigableMap", "SortedMap",
        "TreeMap", "WeakHashMap",
    )
)  # fmt: skip
"""Mappings."""
CONTAINERS: Mapping[str, Container] = {
    **{name: Container() for name in _LISTS},
    **{name: Container(element=0, item=1, key=0) for name in _MAPS},
    "Entry": Container(element=0, item=1, key=0),
}
"""The type arguments that iterating and getting by key give."""
_GIVE = {
    effects.ELEMENTS: (
        "boxed collect descendingIterator distinct findAny findFirst iterator keySet limit "
        "listIterator onErrorResume or parallelStream skip sorted spliterator stream subList "
        "toList values"
    ),
    effects.ELEMENT: (
        "block element first getFirst getKey getLast join last next nextElement orElse "
        "orElseGet orElseThrow peek peekFirst peekLast poll pollFirst pollLast pop previous "
        "reduce removeFirst removeLast take"
    ),
    effects.ITEM: (
        "call computeIfAbsent computeIfPresent elementAt get getAndSet getIfAvailable "
        "getObject getOrDefault getValue putIfAbsent"
    ),
    effects.PAIRS: "entrySet",
    effects.RESULTS: "map mapToObj thenApply",
    effects.RESULT: "flatMap thenCompose",
    effects.EACH: (
        "allMatch anyMatch doOnNext dropWhile filter forEach forEachOrdered ifPresent "
        "mapToDouble mapToInt mapToLong noneMatch removeIf takeWhile thenAccept"
    ),
    effects.PUSH: "add addElement addFirst addLast offer push",
}
METHODS: Mapping[str, str] = {name: word for word, names in _GIVE.items() for name in names.split()}
"""The effects of methods of containers, streams and optionals. An optional is a container of
one."""
FUNCTIONAL = frozenset(
    ("BiConsumer", "BiFunction", "BiPredicate", "BinaryOperator", "Comparator", "Consumer",
     "Function", "Predicate", "ToDoubleFunction", "ToIntFunction", "ToLongFunction",
     "UnaryOperator")
)  # fmt: skip
"""Interfaces of ``java.util.function`` whose parameters are objects."""
FINAL: Mapping[str, str] = {
    **{name: name for name in ("String", "boolean", "char", "double", "float", "int", "long")},
    "Boolean": "boolean",
    "Character": "char",
    "Double": "double",
    "Float": "float",
    "Integer": "int",
    "Long": "long",
}
"""Types without subtypes, each with its canonical type: boxes map to what they contain."""
