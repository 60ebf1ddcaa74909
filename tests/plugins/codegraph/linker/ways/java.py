"""The ways of Java."""

from __future__ import annotations

from tests.plugins.codegraph.linker.ways.way import ways_of

JAVA = [
    *ways_of(
        "java",
        "target",
        {
            "called": ("target();", "calls"),
            "called by its class": ("Lib.target();", "calls"),
            "passed": ("register(Lib::target);", "value"),
            "stored": ("Runnable r = Lib::target;", "value"),
            "returned": ("Supplier<Runnable> r = () -> Lib::target;", "value"),
            "initializer": ("class A { { register(Lib::target); } }", "value"),
            "cast": ("Object o = (Runnable) Lib::target;", "value"),
            "found by a handle": ('lookup().findStatic(Lib.class, "target", null);', "unresolved"),
            "reflected": ('Lib.class.getMethod("target");', "unresolved"),
            "of something": ("x.target();", "unresolved"),
        },
    ),
    *ways_of(
        "java",
        "Kind",
        {
            "constructed": ("new Kind();", "constructed"),
            "constructed anonymously": ("new Kind() { };", "constructed"),
            "constructor": ("Supplier<Object> s = Kind::new;", "constructed"),
            "variable": ("Kind k;", "type"),
            "array": ("Object k = new Kind[1];", "type"),
            "argument": ("List<Kind> k;", "type"),
            "wildcard": ("List<? extends Kind> k;", "type"),
            "cast": ("Object k = (Kind) x;", "type"),
            "checked": ("boolean b = x instanceof Kind;", "type"),
            "matched": ("boolean b = x instanceof Kind k;", "type"),
            "class": ("Object k = Kind.class;", "type"),
            "permitted": ("sealed interface S permits Kind { }", "type"),
            "bounded": ("class A<T extends Kind> { }", "type"),
            "resource": ("try (Kind k = make()) { }", "type"),
            "switched": ("switch (x) { case Kind k -> { } default -> { } }", "type"),
            "local base": ("class Sub extends Kind { }", "extends"),
            "loop": ("for (Kind k : xs) { }", "type"),
            "lambda": ("register((Kind k) -> 1);", "type"),
        },
    ),
    *ways_of(
        "java",
        "Failure",
        {
            "thrown": ("throw new Failure();", "raised"),
            "caught": ("try { } catch (Failure e) { }", "raised"),
            "one of the caught": ("try { } catch (IOException | Failure e) { }", "raised"),
            "declared": ("class Sub { void g() throws Failure { } }", "raised"),
        },
    ),
    *ways_of(
        "java",
        "Mark",
        {
            "annotation": ("class Sub { @Mark void g() { } }", "decorated"),
            "annotation of a field": ("class Sub { @Mark(1) int g; }", "decorated"),
            "annotation of a local": ("@Mark int g = 1;", "decorated"),
            "annotation of a class": ("@Mark class Sub { }", "decorated"),
        },
    ),
    *ways_of(
        "java",
        "LIMIT",
        {
            "read": ("int x = LIMIT + 1;", "read"),
            "by its class": ("int x = Lib.LIMIT;", "read"),
            "written": ("LIMIT = 2;", "written"),
        },
    ),
    *ways_of(
        "java",
        "field",
        {
            "read": ("int x = new Kind().field;", "read"),
            "written": ("new Kind().field = 1;", "written"),
            "of something": ("x.field = 1;", "unresolved"),
        },
    ),
]
