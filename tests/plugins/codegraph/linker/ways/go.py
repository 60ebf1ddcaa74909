"""The ways of Go."""

from __future__ import annotations

from tests.plugins.codegraph.linker.ways.way import ways_of

GO = [
    *ways_of(
        "go",
        "target",
        {
            "called": ("target()", "calls"),
            "passed": ("register(target)", "value"),
            "stored": ("x := target; _ = x", "value"),
            "declared": ("var x func() = target; _ = x", "value"),
            "deferred": ("defer target()", "calls"),
            "handed to a deferred": ("defer register(target)", "value"),
            "goroutine": ("go target()", "calls"),
            "mapped": ('m := map[string]func(){"a": target}; _ = m', "value"),
            "listed": ("m := []func(){target}; _ = m", "value"),
            "in a literal": ("m := Table{Run: target}; _ = m", "value"),
            "returned": ("return target", "value"),
            "closed over": ("x := func() { register(target) }; x()", "value"),
            "sent": ("ch <- target", "value"),
            "handler": ('http.HandleFunc("/", target)', "value"),
            "wrapped": ('http.Handle("/", http.HandlerFunc(target))', "value"),
            "timer": ("time.AfterFunc(1, target)", "value"),
            "stored in a member": ("x.f = target", "value"),
            "case": ("switch { case target != nil: }", "value"),
            "member of something": ("x.target = 1", "unresolved"),
            "named in a string": ('reflect.ValueOf(x).MethodByName("target")', "unresolved"),
        },
    ),
    *ways_of(
        "go",
        "Kind",
        {
            "literal": ("_ = Kind{}", "constructed"),
            "pointer to a literal": ("_ = &Kind{}", "constructed"),
            "elided literal": ("_ = []Kind{{}}", "constructed"),
            "new": ("_ = new(Kind)", "constructed"),
            "variable": ("var x Kind; _ = x", "type"),
            "parameter": ("x := func(k *Kind) {}; _ = x", "type"),
            "made": ("_ = make(map[string]Kind)", "type"),
            "asserted": ("_ = x.(*Kind)", "type"),
            "switched": ("switch x.(type) { case *Kind, error: }", "type"),
            "converted": ("_ = Kind(x)", "type"),
            "argument": ("register[Kind]()", "value"),
            "nested": ("var x struct { k Kind }; _ = x", "type"),
        },
    ),
    *ways_of(
        "go",
        "Limit",
        {
            "read": ("x := Limit + 1; _ = x", "read"),
            "written": ("Limit = 2", "written"),
            "increased": ("Limit++", "read"),
            "referred to": ("x := &Limit; _ = x", "read"),
        },
    ),
    *ways_of(
        "go",
        "Field",
        {
            "literal": ("_ = Kind{Field: 1}", "written"),
            "read": ("x := func(k *Kind) int { return k.Field }; _ = x", "read"),
            "written": ("x := func(k *Kind) { k.Field = 1 }; _ = x", "written"),
            "of something": ("x.Field = 1", "unresolved"),
        },
    ),
]
