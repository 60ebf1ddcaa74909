class Foo { bar() {} qux() {} }
type Handler = (foo: Foo, n: number) => void;
interface Plugin { name: string; setup(build: Foo): void; done: (foo: Foo) => void; deep: { go(foo: Foo): void } }
interface Callable2 { (foo: Foo): void; }
function on(h: Handler) {}
function define(p: Plugin): Plugin { return p; }
const h: Handler = (foo) => { foo.bar(); };
const p: Plugin = { name: '', setup(build) { build.bar(); }, done: (f) => f.qux(), deep: { go(f) { f.bar(); } } };
const c: Callable2 = (f) => f.qux();
function main() {
  on((foo) => foo.bar());
  define({ name: 'x', setup(b) { b.qux(); }, done: (f) => f.bar(), deep: { go: (x) => x.qux() } });
}
class K { handler: Handler; cb: (foo: Foo) => void = (f) => f.bar(); m() { this.handler = (f) => { f.qux(); }; } }
export default { setup(b) { b.bar(); } } satisfies Plugin;
