export class Shape {
  static all = [];

  static registry() {
    return Shape.all;
  }

  static create() {
    return new this();
  }

  constructor() {
    this.tags = [];
  }

  get name() {
    return this.constructor.name;
  }

  area() {
    return 0;
  }

  describe() {
    return `${this.name} ${this.area()}`;
  }
}

export class Circle extends Shape {
  constructor(radius) {
    super();
    this.radius = radius;
  }

  #square(value) {
    return value * value;
  }

  get diameter() {
    return this.radius * 2;
  }

  area() {
    return this.#square(this.radius) * 3;
  }

  describe() {
    return super.describe() + '!';
  }

  grow() {
    this.radius += 1;
    this.area();
    return this;
  }
}

export class Square extends Shape {
  constructor(side) {
    super();
    this.side = side;
  }

  area() {
    return this.side * this.side;
  }
}

Shape.registry();
