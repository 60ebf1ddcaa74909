export function least(n: number): boolean {
  return n > 0;
}

export const circle = (n: number): number => n;
