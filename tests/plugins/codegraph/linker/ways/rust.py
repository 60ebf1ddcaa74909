"""The ways of Rust."""

from __future__ import annotations

from tests.plugins.codegraph.linker.ways.way import ways_of

RUST = [
    *ways_of(
        "rust",
        "target",
        {
            "called": ("target();", "calls"),
            "passed": ("register(target);", "value"),
            "stored": ("let x = target;", "value"),
            "mapped": ("xs.iter().map(target);", "value"),
            "after a text of two lines": ('let s = "two\nlines"; register(target);', "value"),
            "by path": ("register(crate::target);", "value"),
            "by self": ("register(self::target);", "value"),
            "in a struct": ("let x = Table { run: target };", "value"),
            "in a tuple": ("let x = (target, 1);", "value"),
            "thread": ("std::thread::spawn(target);", "value"),
            "closed over": ("let x = || register(target);", "value"),
            "given to a macro": ('println!("{:?}", target);', "macro"),
            "called in a macro": ('println!("{:?}", target());', "calls"),
            "tokens of a macro": ("route!(get => target);", "macro"),
            "macro of a macro": ("a!(b!(c => target));", "macro"),
            "in a vector": ("let x = vec![1, target()];", "calls"),
            "in a format": ('format!("{target:?}");', "unresolved"),
            "in an attribute": ('#[serde(with = "target")] struct T;', "unresolved"),
            "in a quote": ("quote! { target() };", "unresolved"),
            "macro rules": ("macro_rules! m { () => { target() }; }", "unresolved"),
            "method of something": ("x.target();", "unresolved"),
        },
    ),
    *ways_of(
        "rust",
        "Kind",
        {
            "literal": ("let x = Kind { field: 1 };", "constructed"),
            "variable": ("let x: Kind;", "type"),
            "reference": ("let x: &mut Kind;", "type"),
            "argument": ("let x: Vec<Option<Kind>>;", "type"),
            "turbofish": ("register::<Kind>();", "type"),
            "cast": ("let x = y as Kind;", "type"),
            "path": ("Kind::make();", "type"),
            "matched": ("if let Kind { field } = x { }", "type"),
            "closure": ("let x = |k: Kind| 1;", "type"),
        },
    ),
    *ways_of(
        "rust",
        "Doer",
        {
            "object": ("let x: Box<dyn Doer>;", "type"),
            "object of several": ("let x: Box<dyn Doer + Send + Sync + 'static>;", "type"),
            "object with a lifetime": ("let x: Box<dyn Doer + 'static>;", "type"),
            "bound": ("fn g<T: Doer>(x: T) { }", "type"),
            "bound of a clause": ("fn g<T>(x: T) where T: Doer { }", "type"),
            "argument": ("fn g(x: impl Doer) { }", "type"),
        },
    ),
    *ways_of(
        "rust",
        "Circle",
        {
            "constructed": ("let x = Shape::Circle(1);", "constructed"),
            "matched": ("match x { Shape::Circle(_) => 1 };", "type"),
        },
    ),
    *ways_of(
        "rust",
        "LIMIT",
        {
            "read": ("let x = LIMIT + 1;", "read"),
            "length": ("let x = [0; LIMIT];", "read"),
            "in a macro": ("assert!(x > LIMIT);", "macro"),
        },
    ),
    *ways_of(
        "rust",
        "field",
        {
            "literal": ("let x = Kind { field: 1 };", "written"),
            "shorthand": ("let field = 1; let x = Kind { field };", "written"),
            "read": ("let k = Kind { field: 1 }; let x = k.field;", "read"),
            "matched": ("if let Kind { field: 1 } = x { }", "written"),
        },
    ),
]
