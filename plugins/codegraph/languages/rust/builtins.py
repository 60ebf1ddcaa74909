"""Names that Rust and its standard library predefine."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.codegraph.languages import effects
from plugins.codegraph.languages.rules import Container

MARKERS = frozenset(
    (
        "Any", "AsMut", "AsRef", "Borrow", "Clone", "Copy", "Debug", "Default", "Deserialize",
        "DeserializeOwned", "Display", "Drop", "Eq", "Error", "From", "Hash", "Into", "Ord",
        "PartialEq", "PartialOrd", "Read", "RefUnwindSafe", "Send", "Serialize", "Sized",
        "Sync", "ToString", "TryFrom", "TryInto", "Unpin", "UnwindSafe", "Write",
    )
)  # fmt: skip
"""Traits of the standard library that do not say where a call goes."""
TEXT_MACROS = frozenset(
    (
        "concat", "format", "format_args", "stringify",
    )
)  # fmt: skip
"""Macros that return text."""
KNOWN_MACROS = frozenset(
    (
        "anyhow", "assert", "assert_eq", "assert_matches", "assert_ne", "await", "bail",
        "concat", "dbg", "debug", "debug_assert", "debug_assert_eq", "debug_assert_ne",
        "ensure", "eprint", "eprintln", "error", "eyre", "format", "format_args", "info",
        "join", "log", "matches", "panic", "pin", "print", "println", "ready", "smallvec",
        "stringify", "todo", "trace", "try", "try_join", "unimplemented", "unreachable", "vec",
        "warn", "write", "writeln",
    )
)  # fmt: skip
"""Macros whose arguments are expressions."""
BUILTINS = frozenset(
    (
        "AsMut", "AsRef", "Box", "Clone", "Copy", "Debug", "Default", "DoubleEndedIterator",
        "Drop", "Eq", "Err", "ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce", "From",
        "FromIterator", "Hash", "Into", "IntoIterator", "Iterator", "None", "Ok", "Option",
        "Ord", "PartialEq", "PartialOrd", "Result", "Send", "Sized", "Some", "String", "Sync",
        "ToOwned", "ToString", "TryFrom", "TryInto", "Unpin", "Vec", "[]", "bool", "char",
        "drop", "f32", "f64", "fn", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128",
        "u16", "u32", "u64", "u8", "usize",
    )
)  # fmt: skip
"""Built-in types and names of the prelude, with slices and functions."""
_SEQUENCES = frozenset(
    (
        "Arc", "BTreeSet", "BinaryHeap", "Box", "Cell", "Cow", "DoubleEndedIterator", "Drain",
        "HashSet", "IndexSet", "IntoIterator", "Iter", "Iterator", "Lazy", "LazyLock",
        "LinkedList", "Mutex", "MutexGuard", "OnceCell", "OnceLock", "Option", "Peekable",
        "Pin", "Rc", "Receiver", "Ref", "RefCell", "RefMut", "Result", "RwLock", "Sender",
        "SmallVec", "Stream", "Vec", "VecDeque", "Weak", "[]", "list",
    )
)  # fmt: skip
"""Containers of their first type argument."""
_WRAPPERS = frozenset(
    (
        "Arc", "Box", "Cell", "Cow", "Future", "Lazy", "LazyLock", "Mutex", "MutexGuard",
        "OnceCell", "OnceLock", "Option", "Pin", "Rc", "Ref", "RefCell", "RefMut", "Result",
        "RwLock", "RwLockReadGuard", "RwLockWriteGuard", "Weak", "list",
    )
)  # fmt: skip
"""Types with the members of their first type argument."""
_MAPS = frozenset(
    (
        "AHashMap", "BTreeMap", "DashMap", "FxHashMap", "HashMap", "IndexMap",
    )
)  # fmt: skip
"""Mappings."""
UNREAD_MACROS = frozenset(
    ("concat", "env", "html", "include", "include_bytes", "include_str", "json", "matches_pattern",
     "parse_quote", "quote", "quote_spanned", "stringify", "macro_rules", "cfg", "file", "line")
)  # fmt: skip
"""Macros whose arguments are text, or code that runs elsewhere."""
CONTAINERS: Mapping[str, Container] = {
    **{name: Container() for name in _SEQUENCES | _WRAPPERS},
    **{name: Container(element=0, item=1, key=0) for name in _MAPS},
}
"""The type arguments that iterating and indexing give."""
UNWRAPS: Mapping[str, int] = dict.fromkeys(_WRAPPERS, 0)
"""The types that ``?``, ``*`` and method calls look through. ``list`` is among them since the
linker models the results of effects as a ``list``, for optionals as well as iterators."""
_GIVE = {
    effects.SAME: (
        "as_deref as_deref_mut as_mut as_mut_slice as_ref as_slice await borrow borrow_mut "
        "boxed by_ref chain clone cloned collect default context copied downgrade drain entry fuse "
        "get_or_init into_inner into_iter iter iter_mut lock map_err ok ok_or ok_or_else or "
        "or_else peekable read replace rev skip step_by take to_owned to_vec upgrade "
        "with_context write"
    ),
    effects.ELEMENT: "expect unwrap unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked",
    effects.ELEMENTS: (
        "back back_mut first first_mut front front_mut into_keys keys last last_mut max min "
        "next next_back nth peek pop pop_back pop_front recv try_recv"
    ),
    effects.ITEM: "or_default or_insert or_insert_with",
    effects.ITEMS: "get get_mut into_values remove swap_remove values values_mut",
    effects.COUNTED: "enumerate",
    effects.RESULTS: "and_then filter_map flat_map map map_while",
    effects.EACH: (
        "all any filter find for_each inspect is_some_and map_or max_by_key min_by_key "
        "partition position retain skip_while sort_by sort_by_key take_while"
    ),
    effects.PUSH: "extend insert push push_back push_front",
}
METHODS: Mapping[str, str] = {name: word for word, names in _GIVE.items() for name in names.split()}
"""The effects of methods of containers, iterators and wrappers."""
_MADE = ("Box", "std.boxed.Box", "Rc", "std.rc.Rc", "Arc", "std.sync.Arc")
FUNCTIONS: Mapping[str, str] = {
    **{f"{name}.{how}": effects.SAME for name in _MADE for how in ("new", "clone")},
    "Box.pin": effects.SAME,
    "std.mem.take": effects.SAME,
    "std.mem.replace": effects.SAME,
}
"""The effects of functions of the standard library."""
INBORN = frozenset(
    ("as_ref", "borrow", "borrow_mut", "clone", "cmp", "default", "eq", "fmt", "from", "hash",
     "into", "ne", "partial_cmp", "to_owned", "to_string", "try_from", "try_into", "type_id")
)  # fmt: skip
"""Methods that a type has through derives or blanket implementations."""
