// Objects with methods, spreads, factories, destructuring, optional calls.
function wrap(value) {
  return { value };
}

function compute() {
  return 1;
}

const api = {
  base: '/',
  get(path) {
    return this.request(path);
  },
  post: function (path) {
    return this.request(path);
  },
  request(path) {
    return this.base + path;
  },
  users: {
    list: () => wrap([]),
  },
};

const extended = {
  ...api,
  get() {
    return null;
  },
  more: () => wrap(1),
};

const actions = { run: compute };

class Parser {
  parse(text) {
    return text;
  }
}

function build() {
  return { parser: new Parser(), size: 3 };
}

function makeStack() {
  const stack = {
    items: [],
    push(item) {
      this.items.push(item);
    },
    peek() {
      return this.items[0];
    },
  };
  return stack;
}

function main() {
  api.get('a');
  api.users.list();
  const stack = makeStack();
  stack.push(1);
  stack.peek?.();
  extended.get();
  extended.more();
  extended.post('x');
  actions.run();
  const { parser } = build();
  parser.parse('x');
  const { value } = wrap(new Parser());
  value.parse('y');
}

main();
