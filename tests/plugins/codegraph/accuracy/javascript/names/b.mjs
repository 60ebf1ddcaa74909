import { take } from './a.mjs';

class Cat {
  purr() {}
}

class Dog {
  bark() {}
  purr() {}
}

class Counter {
  take() {
    take();
  }
}

export function use(thing) {
  take();
  thing.take();
  missing();
}

export function narrow(pet) {
  if (pet instanceof Cat) pet.purr();
  [].take();
  'text'.take();
}

export function blocks(flag) {
  if (flag) {
    const pet = new Cat();
    pet.purr();
  } else {
    const pet = new Dog();
    pet.bark();
  }
}

export function member() {
  new Counter().take();
}
