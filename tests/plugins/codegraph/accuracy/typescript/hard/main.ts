import legacy from './legacy.js';
import type { Clock, Event } from './model';
import { User } from './model';
import * as stores from './store';
import { MemoryStore, RenameJob } from './store';

namespace Tools {
  export function sharpen(): void {
    hone();
  }

  function hone(): void {}

  export namespace Deep {
    export const cut = (): void => sharpen();
  }
}

enum Mode {
  Fast = 1,
  Slow = slow(),
}

function slow(): number {
  return 2;
}

const steps = {
  first: (user: User) => user.rename(),
  second: () => Tools.sharpen(),
} as const;

function isUser(value: unknown): value is User {
  return value instanceof User;
}

function pluck<T, K extends keyof T>(of: T, key: K): T[K] {
  return of[key];
}

function lookup(name: 'user'): User;
function lookup(name: 'clock'): Clock;
function lookup(name: string): unknown {
  return name;
}

class Holder<T extends { now(): number }> {
  constructor(readonly held: T) {}

  time(): number {
    return this.held.now();
  }
}

function handle(event: Event): void {
  event.by.rename();
  switch (event.kind) {
    case 'closed':
      event.at.now();
  }
}

function guarded(value: unknown): void {
  if (isUser(value)) value.rename();
}

function timed(holder: Holder<Clock>): void {
  holder.time();
  holder.held.now();
}

function stepped(user: User): void {
  steps.first(user);
  steps['second']();
}

async function closing(): Promise<void> {
  const handle = legacy('x');
  handle.close();
  const store = stores.MemoryStore.open();
  store.get('a').rename();
  store.notify();
  await Promise.resolve(store.get('b')).then((user) => user.rename());
}

function plucked(user: { boss: User }): void {
  pluck(user, 'boss').rename();
}

function looked(): void {
  lookup('user').rename();
}

export function main(): void {
  new RenameJob().attach(MemoryStore.open()).run(new User()).now();
  Tools.Deep.cut();
  handle({ kind: 'opened', by: new User() });
  guarded(Mode.Fast);
  stepped(new User());
  void closing();
}
