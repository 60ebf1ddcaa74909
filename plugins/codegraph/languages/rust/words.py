"""Names that Rust and its standard library give a meaning."""

from __future__ import annotations

MARKERS = frozenset(
    (
        "Any", "AsMut", "AsRef", "Borrow", "Clone", "Copy", "Debug", "Default", "Deserialize",
        "DeserializeOwned", "Display", "Drop", "Eq", "Error", "From", "Hash", "Into", "Ord",
        "PartialEq", "PartialOrd", "Read", "RefUnwindSafe", "Send", "Serialize", "Sized",
        "Sync", "ToString", "TryFrom", "TryInto", "Unpin", "UnwindSafe", "Write",
    )
)  # fmt: skip
"""Traits of the standard library that say nothing of where a call goes."""
TEXT_MACROS = frozenset(
    (
        "concat", "format", "format_args", "stringify",
    )
)  # fmt: skip
"""Macros whose value is text."""
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
