"""The ways of TypeScript."""

from __future__ import annotations

from tests.plugins.codegraph.linker.ways.way import ways_of

SCRIPT = [
    *ways_of(
        "typescript",
        "target",
        {
            "called": ("target();", "calls"),
            "passed": ("register(target);", "value"),
            "stored": ("const t = target;", "value"),
            "in a table": ("const t = { x: target };", "value"),
            "shorthand": ("const t = { target };", "value"),
            "in an array": ("const t = [target, 1];", "value"),
            "element written": ("table['x'] = target;", "value"),
            "assigned": ("Object.assign(x, { y: target });", "value"),
            "spread": ("const t = { ...target };", "value"),
            "returned": ("return target;", "value"),
            "default": ("function g(x = target) {}", "value"),
            "arrow": ("const t = () => target;", "value"),
            "template": ("const s = `don't ${target}`;", "value"),
            "tagged": ("target`x`;", "calls"),
            "after a quote": ('const s = "it\'s", u = target;', "value"),
            "conditional": ("const t = x ? target : null;", "value"),
            "either": ("const t = x ?? target;", "value"),
            "awaited": ("const t = run(await target);", "value"),
            "type of": ("let t: typeof target;", "type"),
            "called with a this": ("target.call(null);", "calls"),
            "applied": ("target.apply(null, []);", "calls"),
            "reflected": ("Reflect.apply(target, null, []);", "value"),
            "bound": ("const t = target.bind(x);", "value"),
            "handler of a router": ("router.get('/', target);", "value"),
            "handler of an event": ("emitter.on('x', target);", "value"),
            "timer": ("setTimeout(target, 1);", "value"),
            "property of JSX": ("const t = <Row onClick={target} />;", "value"),
            "string": ("x['target'];", "unresolved"),
            "member of something": ("x.target;", "unresolved"),
            "call of something": ("x.target();", "unresolved"),
        },
    ),
    *ways_of(
        "typescript",
        "Kind",
        {
            "constructed": ("new Kind();", "constructed"),
            "annotated": ("let t: Kind;", "type"),
            "parameter": ("function g(x: Kind) {}", "type"),
            "result": ("function g(): Kind | null { return null; }", "type"),
            "argument of a type": ("let t: Map<string, Kind[]>;", "type"),
            "argument of a call": ("register<Kind>();", "type"),
            "cast": ("const t = x as Kind;", "type"),
            "asserted": ("const t = x satisfies Kind;", "type"),
            "checked": ("if (x instanceof Kind) {}", "type"),
            "conditional type": ("type T = X extends Kind ? 1 : 2;", "type"),
            "base": ("class Sub extends Kind {}", "extends"),
            "thrown": ("throw new Kind();", "raised"),
            "passed": ("register(Kind);", "value"),
            "component": ("const t = <Kind />;", "constructed"),
        },
    ),
    *ways_of(
        "typescript",
        "LIMIT",
        {
            "read": ("const t = LIMIT + 1;", "read"),
            "compared": ("if (x > LIMIT) {}", "read"),
        },
    ),
    *ways_of(
        "typescript",
        "field",
        {
            "read": ("function g(x: Kind) { return x.field; }", "read"),
            "written": ("function g(x: Kind) { x.field = 1; }", "written"),
            "of something": ("x.field;", "unresolved"),
        },
    ),
    *ways_of(
        "typescript",
        "visitIt",
        {
            "composed": ("x[`visit${kind}`]();", "unresolved"),
            "concatenated": ("x['visit' + kind]();", "unresolved"),
            "by its end": ("x[`${kind}It`]();", "unresolved"),
            "eval": ("eval('1 + visitIt');", "unresolved"),
        },
    ),
]
