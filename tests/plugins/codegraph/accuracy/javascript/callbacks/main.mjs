// Functions that are passed on, and what they are called with.
class Job {
  run() {
    return 1;
  }

  stop() {}
}

function print(value) {
  console.log(value);
}

function each(values, visit) {
  for (const value of values) visit(value);
}

function onOpen() {}

function onClose() {}

const handlers = { open: onOpen, close: onClose };

function dispatch(kind) {
  handlers[kind]();
}

async function load() {
  return new Job();
}

function later() {
  return load().then((job) => job);
}

async function main() {
  const jobs = [new Job(), new Job()];
  jobs.forEach((job) => job.run());
  jobs.filter((job) => job.run() > 1).map((job) => job.stop());
  each(jobs, print);
  [1, 2].map(print);
  const numbers = [3, 4];
  numbers.forEach((n) => print(n));
  const job = await load();
  job.run();
  later().then((done) => done.stop());
  setTimeout(onOpen, 1);
  dispatch('open');
}

await main();
