export function env(): string {
  return 'test';
}
