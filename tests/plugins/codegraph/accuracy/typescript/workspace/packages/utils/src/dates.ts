export function today(): Date {
  return new Date();
}
