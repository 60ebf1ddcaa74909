export function circle(r: number): number {
  return r * r * 3;
}

export class Square {
  area(): number {
    return 4;
  }
}
