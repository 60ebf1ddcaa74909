// What dynamic code does: mixins, aliases of this, dispatch by name, events, generators.
class Base {
  start() {
    this.setup();
    return this.constructor.build();
  }

  setup() {}

  static build() {
    return new this();
  }
}

const Loud = (Parent) =>
  class extends Parent {
    shout() {
      return this.start();
    }
  };

class Mixed extends Loud(Base) {
  run() {
    return this.shout();
  }
}

class Tree {
  constructor(left) {
    this.left = left;
    const self = this;
    this.visit = function () {
      self.walk();
    };
  }

  walk() {}

  *[Symbol.iterator]() {
    yield* this.nodes();
  }

  *nodes() {
    yield new Leaf();
  }

  ['compute' + 'd']() {
    this.walk();
  }
}

class Leaf {
  grow() {}
}

const registry = new Map();

function register(name, handler) {
  registry.set(name, handler);
}

function onSave() {}

class Emitter {
  #handlers = [];

  on(handler) {
    this.#handlers.push(handler);
    return this;
  }

  emit() {
    for (const handler of this.#handlers) handler();
  }
}

function onEvent() {}

function pipeline(...steps) {
  return (value) => steps.reduce((made, step) => step(made), value);
}

function double(n) {
  return n * 2;
}

function once(f) {
  let done = false;
  return (...args) => {
    if (!done) done = f(...args);
    return done;
  };
}

const cached = once(double);

function partial() {
  const bound = double.bind(null, 2);
  return bound();
}

function borrowed() {
  const leaf = new Leaf();
  const { grow } = leaf;
  grow.call(leaf);
  Reflect.apply(double, null, [1]);
}

function chooser(flag) {
  const table = { yes: onSave, no: onEvent };
  const pick = flag ? 'yes' : 'no';
  return table[pick]();
}

function reassigned() {
  let current = new Leaf();
  current.grow();
  current = new Tree(null);
  current.walk();
}

async function* pages() {
  yield new Leaf();
}

async function main() {
  new Mixed().run();
  const tree = new Tree(null);
  tree.visit();
  for (const leaf of tree.nodes()) leaf.grow();
  for await (const page of pages()) page.grow();
  register('save', onSave);
  registry.get('save')();
  new Emitter().on(onEvent).emit();
  pipeline(double)(3);
  cached(2);
  partial();
  borrowed();
  chooser(true);
  reassigned();
}

await main();
