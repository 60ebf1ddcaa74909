// Plain functions: closures, hoisting, shadowing, defaults, rest, tags, recursion.
function trim(text) {
  return String(text).trim();
}

const parse = (text) => {
  const split = (line) => trim(line).split(',');
  return split(trim(text));
};

function counter() {
  let count = 0;
  const step = () => {
    count += 1;
    return count;
  };
  function next() {
    return step();
  }
  return next;
}

function twice(f, value) {
  return f(f(value));
}

function fallback() {
  return 'none';
}

function shadow(text) {
  const trim = (value) => value;
  return trim(text);
}

function defaults(value = fallback()) {
  return value;
}

function rest(...values) {
  return values.map((value) => trim(value));
}

function tag(strings, value) {
  return strings[0] + value;
}

function even(n) {
  return n === 0 ? true : odd(n - 1);
}

function odd(n) {
  return n === 0 ? false : even(n - 1);
}

const curried = (prefix) => (value) => prefix + trim(value);

function start() {
  parse(' a,b ');
  const next = counter();
  next();
  twice(trim, ' x ');
  const pick = Math.random() > 2 ? trim : fallback;
  pick();
  shadow('s');
  defaults();
  rest('a', 'b');
  tag`hello ${1}`;
  even(3);
  curried('>')('x');
  hoisted();
}

start();

function hoisted() {}
