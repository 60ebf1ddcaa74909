// Members of values whose types are stated, narrowed, applied or follow from what made them.
export interface Shape {
  area(): number;
}

interface Named extends Shape {
  name: string;
}

class Circle implements Shape {
  constructor(private r: number) {}

  area(): number {
    return this.r;
  }

  radius(): number {
    return this.r;
  }
}

class Square implements Named {
  name = 'square';

  area(): number {
    return 4;
  }

  side(): number {
    return 2;
  }
}

class Box<T> {
  constructor(private value: T) {}

  get(): T {
    return this.value;
  }
}

type Side = Square;
type Either = Circle | Square;
type Options = { onDone: (shape: Shape) => void; shape: Circle; nested: { circle: Circle } };

export function total(shapes: Shape[]): number {
  return shapes.reduce((sum, shape) => sum + 1, 0) + shapes[0].area();
}

export function describe(circle: Circle, ...squares: Square[]): void {
  circle.radius();
  for (const square of squares) square.side();
}

export function either(shape: Either): number {
  return shape.area();
}

export function narrowed(value: unknown): number {
  if (value instanceof Circle && value !== null) {
    return value.radius();
  }
  return 0;
}

export function boxed(): number {
  const box = new Box(new Circle(1));
  const other: Box<Circle> = box;
  return other.get().area();
}

export function stored(circles: Map<string, Circle>): void {
  circles.get('a')?.area();
  circles.forEach((circle, key) => circle.radius());
  for (const [, circle] of circles) circle.area();
}

export function keyed(squares: Record<string, Square>, set: Set<Square>): void {
  squares['a'].area();
  set.forEach((square) => square.area());
  Object.values(squares).forEach((square) => square.area());
}

export function tuple([circle, square]: [Circle, Square]): void {
  circle.radius();
  square.side();
}

export function aliased(side: Side): void {
  side.side();
}

export function cast(value: unknown): void {
  (value as Circle).radius();
}

export function optional(circle?: Circle | null): void {
  circle?.radius();
  circle!.radius();
}

function first<T>(values: readonly T[]): T {
  return values[0];
}

export function generic(circles: Circle[]): void {
  first(circles).area();
}

export function constrained<S extends Shape>(shape: S): number {
  return shape.area();
}

export function partial(square: Readonly<Square>, mystery: any): void {
  square.area();
  mystery.mystery();
}

export function config({ onDone, shape }: Options, options: Options): void {
  onDone(shape);
  shape.area();
  options.nested.circle.area();
}

export function inline(value: { circle: Circle }): void {
  value.circle.radius();
}

function make() {
  return new Circle(3);
}

export function made(): void {
  make().area();
}

export function returned(value: ReturnType<typeof make>): void {
  value.radius();
  make();
}

async function load(): Promise<Square> {
  return new Square();
}

export async function awaited(): Promise<void> {
  const square = await load();
  square.side();
}

export async function everything(): Promise<void> {
  const squares = await Promise.all([load(), load()]);
  for (const square of squares) square.area();
}

class Builder {
  protected parts: string[] = [];

  add(part: string): this {
    this.parts.push(part);
    return this;
  }

  named(name: string): Builder {
    return this;
  }

  build(): Circle {
    return new Circle(this.parts.length);
  }
}

class SubBuilder extends Builder {
  extra(): this {
    return this.add('extra');
  }
}

export function chained(): void {
  new Builder().add('a').named('b').build().area();
}

export function sub(builder: SubBuilder): void {
  builder.add('x').extra();
}

export function constructed(type: typeof Square, Maker: new () => Square): void {
  new type().side();
  new Maker();
}
