import { core } from '@acme/core';

export function label(): string {
  return core();
}

export function Button() {
  return <button>{label()}</button>;
}
