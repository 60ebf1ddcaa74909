export function add(a, b) {
  return a + b;
}

const subtract = (a, b) => add(a, -b);

export { subtract };
