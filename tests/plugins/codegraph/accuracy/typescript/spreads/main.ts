import * as checks from "./checks";
import * as shapes from "./shapes";

const base = { start: () => shapes.circle(1) };

const all = {
  ...shapes,
  most: checks.least,
};

const both = {
  ...base,
  ...checks,
  own() {
    return this.least(2);
  },
};

function run(): void {
  all.circle(1);
  new all.Square().area();
  all.most(3);
  all.missing();
}

function again(): void {
  both.least(2);
  both.start();
  both.own();
}

run();
again();
