import { Circle, Shape, Square } from './shapes.js';

class Box {
  locked = true;

  handle = () => this.open();

  open() {
    this.unlock();
  }

  unlock() {
    this.locked = false;
  }
}

function run() {
  const circle = new Circle(2);
  circle.grow().grow();
  console.log(circle.diameter);
  const square = new Square(3);
  square.describe();
  square.area();
  Shape.create();
  const box = new Box();
  box.open();
  box.handle();
}

run();
