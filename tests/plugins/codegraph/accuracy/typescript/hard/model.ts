import type { Store } from './store';

export type Event =
  | { kind: 'opened'; by: User }
  | { kind: 'closed'; by: User; at: Clock };

export class User {
  rename(): void {}
}

export class Clock {
  now(): number {
    return 0;
  }
}

export abstract class Job<TInput, TOutput = TInput> {
  protected abstract perform(input: TInput): TOutput;

  run(input: TInput): TOutput {
    this.before();
    return this.perform(input);
  }

  protected before(): void {}

  attach(store: Store): this {
    store.save(this);
    return this;
  }
}

export default class RenameJob extends Job<User, Clock> {
  protected perform(user: User): Clock {
    user.rename();
    return new Clock();
  }
}
